// Every engine of matrix products against sums in double, at shapes that meet every edge of the blocks.
#include "kernels/matmul.hpp"

#include <cmath>
#include <random>
#include <vector>

#include "tests/catch.hpp"

using namespace odrpo;

namespace {

constexpr ProductEngine engines[] = {ProductEngine::portable, ProductEngine::avx2, ProductEngine::avx512, ProductEngine::blas};

struct Shape {
  int m, n, k, spare;  // rows are `spare` floats further apart than they are long
};
constexpr Shape shapes[] = {{1, 1, 1, 0},      {1, 64, 64, 0},   {3, 5, 7, 2},      {13, 33, 17, 1},  {12, 32, 256, 0}, {25, 47, 300, 3},
                            {64, 256, 600, 0}, {97, 100, 65, 4}, {200, 192, 64, 0}, {17, 8, 1031, 5}, {6, 16, 513, 0},  {4, 4, 16, 0}};

}  // namespace

TEST_CASE("every engine multiplies as double does, plain and transposed, fresh and added", "[matmul]") {
  std::mt19937 g(7);
  std::uniform_real_distribution<float> u(-1, 1);
  for (const ProductEngine engine : engines) {
    if (!has_engine(engine)) continue;
    const Products& by = products(engine);
    for (const Shape& s : shapes)
      for (const bool transposed : {false, true})
        for (const bool add : {false, true}) {
          const int a_rows = transposed ? s.k : s.m, lda = (transposed ? s.m : s.k) + s.spare, ldb = s.n + s.spare, ldc = s.n + 2 * s.spare;
          std::vector<float> a(static_cast<std::size_t>(a_rows) * lda), b(static_cast<std::size_t>(s.k) * ldb),
              c(static_cast<std::size_t>(s.m) * ldc);
          for (auto* v : {&a, &b, &c})
            for (float& x : *v) x = u(g);
          const std::vector<float> before = c;
          (transposed ? by.transposed : by.plain)(s.m, s.n, s.k, a.data(), lda, b.data(), ldb, c.data(), ldc, add);
          double worst = 0;
          int touched = 0;
          for (int i = 0; i < s.m; ++i)
            for (int j = 0; j < ldc; ++j) {
              if (j >= s.n) {
                touched += c[i * ldc + j] != before[i * ldc + j];
                continue;
              }
              double sum = add ? before[i * ldc + j] : 0.0, size = std::fabs(sum);
              for (int l = 0; l < s.k; ++l) {
                const double term = static_cast<double>(transposed ? a[l * lda + i] : a[i * lda + l]) * b[l * ldb + j];
                sum += term;
                size += std::fabs(term);
              }
              worst = std::fmax(worst, std::fabs(c[i * ldc + j] - sum) / size);
            }
          INFO(engine_name(engine) << " " << s.m << "x" << s.n << "x" << s.k << " transposed " << transposed << " add " << add);
          // k roundings of 2^-24 each, relative to the sum of sizes: the textbook bound of any order of summation
          CHECK(worst <= (s.k + 1) * 0x1p-24);
          CHECK(touched == 0);
        }
  }
}

TEST_CASE("a product repeats its bits, and a row's do not depend on the rows around it in its tile", "[matmul]") {
  std::mt19937 g(8);
  std::uniform_real_distribution<float> u(-1, 1);
  const int m = 24, n = 64, k = 300;
  std::vector<float> a(m * k), b(k * n), c(m * n), again(m * n);
  for (auto* v : {&a, &b})
    for (float& x : *v) x = u(g);
  for (const ProductEngine engine : engines) {
    if (!has_engine(engine)) continue;
    INFO(engine_name(engine));
    const Products& by = products(engine);
    by.plain(m, n, k, a.data(), k, b.data(), n, c.data(), n, false);
    by.plain(m, n, k, a.data(), k, b.data(), n, again.data(), n, false);
    CHECK(c == again);
    if (engine == ProductEngine::blas) continue;  // its bits may depend on a row's place
    for (int i = 0; i < m; ++i) by.plain(1, n, k, a.data() + i * k, k, b.data(), n, again.data() + i * n, n, false);
    CHECK(c == again);
  }
}

TEST_CASE("transposing a matrix turns rows into columns", "[matmul]") {
  const int rows = 37, columns = 21;
  std::vector<float> from(rows * columns), to(rows * columns);
  for (int i = 0; i < rows * columns; ++i) from[i] = static_cast<float>(i);
  transpose_matrix(from.data(), rows, columns, to.data());
  int wrong = 0;
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) wrong += to[j * rows + i] != from[i * columns + j];
  CHECK(wrong == 0);
}

TEST_CASE("the best engine is one that this machine has", "[matmul]") {
  for (const Isa isa : {Isa::portable, Isa::avx2}) CHECK(has_engine(best_engine(isa)));
  if (!has_engine(ProductEngine::blas)) CHECK(best_engine(Isa::portable) == ProductEngine::portable);
}
