// Multiplies matrices by cuBLASLt, whose functions it finds at run time. Keeps cuBLASLt's choice of an algorithm for each shape.
#include "kernels/device/product.hpp"

#include <cublasLt.h>
#include <dlfcn.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <map>

#include "kernels/device/launch.cuh"
#include "kernels/shared/failure.hpp"

namespace odrpo {
namespace {

// The functions of cuBLASLt that this file calls, and why it cannot be loaded.
struct Functions {
  decltype(&cublasLtCreate) create;
  decltype(&cublasLtDestroy) destroy;
  decltype(&cublasLtGetVersion) version;
  decltype(&cublasLtGetStatusString) text;
  decltype(&cublasLtMatmul) multiply;
  decltype(&cublasLtMatmulAlgoGetHeuristic) choose;
  decltype(&cublasLtMatmulDescCreate) make_operation;
  decltype(&cublasLtMatmulDescDestroy) drop_operation;
  decltype(&cublasLtMatmulDescSetAttribute) set_operation;
  decltype(&cublasLtMatrixLayoutCreate) make_layout;
  decltype(&cublasLtMatrixLayoutDestroy) drop_layout;
  decltype(&cublasLtMatmulPreferenceCreate) make_preference;
  decltype(&cublasLtMatmulPreferenceDestroy) drop_preference;
  decltype(&cublasLtMatmulPreferenceSetAttribute) set_preference;
  std::string missing;  // why the library cannot be used; empty = it can
};

Functions load() {
  Functions f{};
  const char* named = std::getenv("ODRPO_CUBLASLT");
  const std::string file = named && *named ? named : "libcublasLt.so." + std::to_string(CUBLAS_VER_MAJOR);
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    f.missing = "cuBLASLt cannot be loaded: " + std::string(dlerror()) +
                " (it comes with the CUDA toolkit; the environment variable ODRPO_CUBLASLT may name its file)";
    return f;
  }
  const auto find = [&](auto& function, const char* name) {
    void* const found = dlsym(library, name);
    function = reinterpret_cast<std::decay_t<decltype(function)>>(found);
    if (found == nullptr && f.missing.empty()) f.missing = file + " has no " + name;
  };
  find(f.create, "cublasLtCreate");
  find(f.destroy, "cublasLtDestroy");
  find(f.version, "cublasLtGetVersion");
  find(f.text, "cublasLtGetStatusString");
  find(f.multiply, "cublasLtMatmul");
  find(f.choose, "cublasLtMatmulAlgoGetHeuristic");
  find(f.make_operation, "cublasLtMatmulDescCreate");
  find(f.drop_operation, "cublasLtMatmulDescDestroy");
  find(f.set_operation, "cublasLtMatmulDescSetAttribute");
  find(f.make_layout, "cublasLtMatrixLayoutCreate");
  find(f.drop_layout, "cublasLtMatrixLayoutDestroy");
  find(f.make_preference, "cublasLtMatmulPreferenceCreate");
  find(f.drop_preference, "cublasLtMatmulPreferenceDestroy");
  find(f.set_preference, "cublasLtMatmulPreferenceSetAttribute");
  return f;
}
const Functions& functions() {
  static const Functions once = load();
  return once;
}

void check(cublasStatus_t status, const char* doing, Asked from) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw Failure(Exit::device,
                std::string("cuBLASLt cannot ") + doing + ": " + functions().text(status) + " [cuBLASLt at " + line_of(from) + "]");
}

// The key under which a Choice is kept: a product's shape, and by how many bytes its matrices are aligned. cuBLASLt's choice depends on these.
using Key = std::array<std::int64_t, 11>;
std::int64_t alignment(const void* p) {
  const auto at = reinterpret_cast<std::uintptr_t>(p) | 256;
  return static_cast<std::int64_t>(at & (~at + 1));
}
Key key_of(const Product& p) {
  const void* plus = p.plus ? p.plus : p.c;
  return {static_cast<std::int64_t>(p.way),
          p.m,
          p.n,
          p.k,
          p.lda,
          p.ldb,
          p.ldc,
          alignment(p.a),
          alignment(p.b),
          alignment(plus),
          alignment(p.c)};
}

// cuBLASLt's description of a product of one shape, and the algorithm that it chose.
struct Choice {
  cublasLtMatmulDesc_t operation = nullptr;
  cublasLtMatrixLayout_t a = nullptr, b = nullptr, c = nullptr;
  cublasLtMatmulAlgo_t how{};
};

}  // namespace

struct DeviceProducts::Choices {
  ProductPrecision precision;
  std::shared_ptr<ProductLibrary> library;
  DeviceBuffer<std::byte> scratch;
  std::map<Key, Choice> known;

  const Choice& choice_for(const Product& p, Asked from) {
    const auto [entry, fresh] = known.try_emplace(key_of(p));
    Choice& to = entry->second;
    if (!fresh) return to;
    const Functions& f = functions();
    const ColumnMajorProduct as = column_major(p);
    const auto type = precision == ProductPrecision::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
    const auto turn = [&](cublasLtMatmulDescAttributes_t which, bool turned) {
      const cublasOperation_t how = turned ? CUBLAS_OP_T : CUBLAS_OP_N;
      check(f.set_operation(to.operation, which, &how, sizeof how), "describe a product", from);
    };
    const auto lay = [&](cublasLtMatrixLayout_t& layout, int rows, int columns, int stride) {
      check(f.make_layout(&layout, CUDA_R_32F, static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(columns), stride),
            "describe a matrix", from);
    };
    try {
      check(f.make_operation(&to.operation, type, CUDA_R_32F), "describe a product", from);
      turn(CUBLASLT_MATMUL_DESC_TRANSA, as.first.turned);
      turn(CUBLASLT_MATMUL_DESC_TRANSB, as.second.turned);
      lay(to.a, as.first.rows, as.first.columns, as.first.stride);
      lay(to.b, as.second.rows, as.second.columns, as.second.stride);
      lay(to.c, as.rows, as.columns, as.stride);
      ask(p, to, from);
    } catch (...) {
      drop(to);
      known.erase(entry);
      throw;
    }
    return to;
  }

  // Asks cuBLASLt for the algorithm that it expects to be the fastest for a shape.
  void ask(const Product& p, Choice& to, Asked from) {
    const Functions& f = functions();
    cublasLtMatmulPreference_t wish = nullptr;
    check(f.make_preference(&wish), "make a preference", from);
    const std::unique_ptr<std::remove_pointer_t<cublasLtMatmulPreference_t>, cublasStatus_t (*)(cublasLtMatmulPreference_t)> owner(
        wish, f.drop_preference);
    const auto set = [&](cublasLtMatmulPreferenceAttributes_t what, auto value) {
      check(f.set_preference(wish, what, &value, sizeof value), "set a preference", from);
    };
    const auto bytes = [](const void* at) { return static_cast<std::uint32_t>(alignment(at)); };
    set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, static_cast<std::uint64_t>(product_scratch_bytes));
    // an algorithm that splits the inner sum must add its parts in scratch memory in a fixed order, for the same bits each time
    set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, static_cast<std::uint32_t>(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
    // cuBLASLt's first factor (A) is B of `p`, since column-major products are transposed
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, bytes(p.b));
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, bytes(p.a));
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, bytes(p.plus ? p.plus : p.c));
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, bytes(p.c));
    cublasLtMatmulHeuristicResult_t best{};
    int found = 0;
    check(f.choose(static_cast<cublasLtHandle_t>(library->handle()), to.operation, to.a, to.b, to.c, to.c, wish, 1, &best, &found), "choose how to multiply", from);
    if (found < 1) check(CUBLAS_STATUS_NOT_SUPPORTED, "choose how to multiply", from);
    check(best.state, "choose how to multiply", from);
    to.how = best.algo;
  }

  static void drop(Choice& c) {
    const Functions& f = functions();
    if (c.a) f.drop_layout(c.a);
    if (c.b) f.drop_layout(c.b);
    if (c.c) f.drop_layout(c.c);
    if (c.operation) f.drop_operation(c.operation);
  }
};

std::string why_no_products() { return functions().missing; }

ProductLibrary::ProductLibrary(Asked from) {
  if (const std::string why = why_no_products(); !why.empty()) throw Failure(Exit::device, why + " [cuBLASLt at " + line_of(from) + "]");
  cublasLtHandle_t handle = nullptr;
  check(functions().create(&handle), "begin", from);
  handle_ = handle;
}

ProductLibrary::~ProductLibrary() { functions().destroy(static_cast<cublasLtHandle_t>(handle_)); }

DeviceProducts::DeviceProducts(ProductPrecision precision, std::shared_ptr<ProductLibrary> library, Asked from)
    : choices_(new Choices{precision, std::move(library), DeviceBuffer<std::byte>(product_scratch_bytes, from), {}}) {}

DeviceProducts::~DeviceProducts() {
  for (auto& [key, choice] : choices_->known) Choices::drop(choice);
}

void DeviceProducts::operator()(const Product& p, const Stream& stream, Asked from) {
  if (p.m == 0 || p.n == 0) return;
  const Choice& how = choices_->choice_for(p, from);
  const float keep = p.plus ? 1.0f : 0.0f;
  const float* plus = p.plus ? p.plus : p.c;
  check(functions().multiply(static_cast<cublasLtHandle_t>(choices_->library->handle()), how.operation, &p.scale, p.b, how.a, p.a, how.b, &keep, plus, how.c, p.c, how.c, &how.how,
                             choices_->scratch.data(), product_scratch_bytes, stream.handle()),
        "multiply", from);
}

std::string products_name(ProductPrecision precision) {
  const std::size_t v = functions().version();
  return "cuBLASLt " + std::to_string(v / 10000) + "." + std::to_string(v / 100 % 100) + "." + std::to_string(v % 100) +
         (precision == ProductPrecision::tf32 ? ", tf32" : ", fp32");
}

}  // namespace odrpo
