#!/usr/bin/env bash
# Plants one violation of each house law in a small copy of the tree and expects .ci/laws to find it, and nothing in the clean copy.
set -euo pipefail
laws=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/.ci/laws
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
failed=0

plain() {  # a tree that obeys
  rm -rf "${tree:?}"/*
  mkdir -p "$tree"/{kernels,estimators,envs,policies,results,suites,app,tests/perf,docs}
  printf '// The clock of the house, for examples.\n#pragma once\nnamespace odrpo {}\n' >"$tree/kernels/clock.hpp"
  printf '// Uses exp( and std::log( and virtual in words only.\n#include "kernels/clock.hpp"\n// std::exp(1)\nconst char* s = "std::exp(1) virtual #define";\ndouble f(double x) { return math::exp(x); }\n' >"$tree/envs/good.cpp"
  printf '// Statistics with distributions from Boost.\n#include <boost/math/distributions.hpp>\n#include "kernels/clock.hpp"\n' >"$tree/results/statistics.cpp"
}

expect() {  # expect NAME WORDS: laws must fail and say WORDS
  local out
  if out=$("$laws" --root "$tree" 2>&1); then
    echo "FAILED: $1 was not found"; failed=1
  elif ! grep -qF -- "$2" <<<"$out"; then
    echo "FAILED: $1: expected \"$2\" in:"; echo "$out"; failed=1
  fi
  plain
}

plant() {  # plant FILE LINE WORDS [FIRST LINE]
  mkdir -p "$tree/$(dirname "$1")"
  if [[ $1 == *.hpp ]]; then printf '// A planted file that breaks a law.\n#pragma once\n%b\n' "$2" >"$tree/$1"
  else printf '// A planted file that breaks a law.\n%b\n' "$2" >"$tree/$1"; fi
  expect "$1 [$2]" "$1:${4:-2}: $3"
}

plain
"$laws" --root "$tree" >/dev/null || { echo "FAILED: the clean tree was condemned"; "$laws" --root "$tree"; failed=1; }

# arrows
plant kernels/a.cpp '#include "estimators/x.hpp"' arrows
plant envs/a.cpp '#include "estimators/x.hpp"' arrows
plant estimators/a.cpp '#include "policies/x.hpp"' arrows
plant policies/a.cpp '#include "envs/x.hpp"' arrows
plant results/a.cpp '#include "suites/x.hpp"' arrows
plant results/b.cpp '#include "envs/x.hpp"' arrows
plant suites/a.cpp '#include "app/x.hpp"' arrows
plant envs/b.cpp '#include "neighbour.hpp"' arrows
# doors
plant suites/spec.cpp '#include <toml++/toml.h>' 'one door: toml++'
plant results/table.cpp '#include <hdf5.h>' 'one door: HDF5'
plant suites/b.cpp '#include <openssl/evp.h>' 'one door: OpenSSL'
plant envs/c.cpp '#include <boost/math/x.hpp>' 'one door: Boost'
plant suites/c.cpp '#include <nlohmann/json.hpp>' 'one door: nlohmann'
plant app/run.cpp '#include <CLI/CLI.hpp>' 'one door: CLI11'
plant envs/d.cpp '#include <Random123/philox.h>' 'one door: Random123'
plant envs/e.cpp '#include <immintrin.h>' 'one door: intrinsics'
plant suites/d.cpp '#include <thrust/sort.h>' 'one door: CUDA'
plant policies/b.cpp '#include <cblas.h>' 'one door: BLAS'
plant tests/perf_test.cpp '#include <benchmark/benchmark.h>' 'one door: Google Benchmark'
plant kernels/b.cpp '#include <catch2/catch.hpp>' 'one door: Catch2'
plant app/plot.cpp 'const char* tool = "gnuplot -";' 'one door: gnuplot'
# same bits
plant envs/f.cpp 'double f(double x) { return std::exp(x); }' 'same bits'
plant kernels/c.cpp 'double f(double x) { return pow(x, 2); }' 'same bits'
plant suites/e.cpp 'float f(float x) { return cosf(x); }' 'same bits'
plant policies/c.cpp 'double f(double x) { return 1 + __builtin_log1p(x); }' 'same bits'
# macros, inheritance, first lines, paths
plant kernels/d.hpp '#define ODRPO_MAX(a, b) a' macros 3
plant results/c.hpp '#ifndef X\n#define X\n#endif' macros 4
plant app/e.hpp 'struct A { virtual void f(); };' 'plain structs' 3
plant tests/a_test.cpp 'TEST_CASE("--flag is kept") {}' 'test names'
plant tests/b_test.cpp 'TEST_CASE("one; two") {}' 'test names'
printf '#pragma once\n' >"$tree/kernels/e.hpp"; expect 'no first line' 'kernels/e.hpp:1: first line'
printf '// A header without its pragma, planted.\n' >"$tree/kernels/f.hpp"; expect 'no pragma' 'kernels/f.hpp:1: macros'
printf 'see /home/someone/notes\n' >"$tree/docs/x.md"; expect 'machine path' 'docs/x.md:1: no machine paths'

((failed == 0)) && echo "laws_test: every planted violation was found"
exit "$failed"
