#!/usr/bin/env bash
# Plants one violation of each rule of the architecture in a small copy of the tree and expects .ci/architecture to find it, and nothing in the clean copy.
set -euo pipefail
check=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/.ci/architecture
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
failed=0

plain() {  # a tree without violations
  rm -rf "${tree:?}"/*
  mkdir -p "$tree"/{kernels,estimators,envs,policies,results/stats,gate,config,train,app,tests/perf,docs}
  printf '// The clock of the house, for examples.\n#pragma once\nnamespace odrpo {}\n' >"$tree/kernels/clock.hpp"
  printf '// Uses exp( and std::log( and virtual in words only.\n#include "kernels/shared/clock.hpp"\n// std::exp(1)\nconst char* s = "std::exp(1) virtual #define";\ndouble f(double x) { return math::exp(x); }\n' >"$tree/envs/good.cpp"
  printf '// Statistics with distributions from Boost.\n#include <boost/math/distributions.hpp>\n#include "kernels/shared/clock.hpp"\n' >"$tree/results/stats/statistics.cpp"
}

expect() {  # expect NAME WORDS: the check must fail and say WORDS
  local out
  if out=$("$check" --root "$tree" 2>&1); then
    echo "FAILED: $1 was not found"; failed=1
  elif ! grep -qF -- "$2" <<<"$out"; then
    echo "FAILED: $1: expected \"$2\" in:"; echo "$out"; failed=1
  fi
  plain
}

plant() {  # plant FILE LINE WORDS [FIRST LINE]
  mkdir -p "$tree/$(dirname "$1")"
  if [[ $1 == *.hpp ]]; then printf '// A planted file that breaks a rule.\n#pragma once\n%b\n' "$2" >"$tree/$1"
  else printf '// A planted file that breaks a rule.\n%b\n' "$2" >"$tree/$1"; fi
  expect "$1 [$2]" "$1:${4:-2}: $3"
}

plain
"$check" --root "$tree" >/dev/null || { echo "FAILED: the clean tree was refused"; "$check" --root "$tree"; failed=1; }

# includes
plant kernels/a.cpp '#include "estimators/x.hpp"' includes
plant envs/a.cpp '#include "estimators/x.hpp"' includes
plant estimators/a.cpp '#include "policies/x.hpp"' includes
plant app/a.cpp '#include "python/module/x.hpp"' includes
plant python/module/a.cpp '#include "train/x.hpp"' includes
plant python/module/a.cpp '#include "app/table/x.hpp"' includes
plant app/a.cpp '#include <nanobind/nanobind.h>' 'one place'
plant policies/a.cpp '#include "envs/x.hpp"' includes
plant results/a.cpp '#include "train/x.hpp"' includes
plant results/b.cpp '#include "envs/x.hpp"' includes
plant train/a.cpp '#include "app/x.hpp"' includes
plant config/a.cpp '#include "train/x.hpp"' includes
plant envs/rater/a.cpp '#include "envs/bandit/x.hpp"' includes
plant policies/softmax/device/a.hpp '#include "policies/transformer/x.hpp"' includes 3
plant envs/b.cpp '#include "neighbour.hpp"' includes
# cycles: of two parts, and of three
printf '// One half of a planted cycle.\n#pragma once\n#include "config/b.hpp"\n' >"$tree/config/a.hpp"
printf '// The other half of a planted cycle.\n#include "config/a.hpp"\n' >"$tree/config/b.cpp"; expect 'a cycle of two' 'config/b.cpp:2: cycles: config/a -> config/b -> config/a'
printf '// A third of a planted cycle.\n#pragma once\n#include "train/b.hpp"\n' >"$tree/train/a.hpp"
printf '// A third of a planted cycle.\n#pragma once\n#include "train/c.hpp"\n' >"$tree/train/b.hpp"
printf '// A third of a planted cycle.\n#include "train/a.hpp"\n' >"$tree/train/c.cpp"; expect 'a cycle of three' 'train/c.cpp:2: cycles: train/a -> train/b -> train/c -> train/a'
# folders of too many files, and headers of one name
for i in {10..35}; do printf '// One of many planted files.\n' >"$tree/train/many_$i.cpp"; done; expect 'a full folder' 'train:1: folders: 26 source files'
printf '// A planted header of a name that another module has.\n#pragma once\n' >"$tree/results/clock.hpp"; expect 'one name twice' 'results/clock.hpp:1: header names: clock.hpp is also kernels/clock.hpp'
# headers of the standard library that the precompiled header hides
plant app/f.cpp '#include "kernels/shared/clock.hpp"\nint f(int x) { return std::max(x, 0); }' 'standard headers: std::max without #include <algorithm>' 3
# one place per dependency
plant config/spec.cpp '#include <toml++/toml.h>' 'one place: toml++'
plant results/table/table.cpp '#include <hdf5.h>' 'one place: HDF5'
plant config/b.cpp '#include <openssl/evp.h>' 'one place: OpenSSL'
plant envs/c.cpp '#include <boost/math/x.hpp>' 'one place: Boost'
plant train/c.cpp '#include <nlohmann/json.hpp>' 'one place: nlohmann'
plant app/run/run.cpp '#include <CLI/CLI.hpp>' 'one place: CLI11'
plant envs/d.cpp '#include <Random123/philox.h>' 'one place: Random123'
plant envs/e.cpp '#include <immintrin.h>' 'one place: intrinsics'
plant train/d.cpp '#include <thrust/sort.h>' 'one place: CUDA'
plant policies/b.cpp '#include <cblas.h>' 'one place: BLAS'
plant tests/perf_test.cpp '#include <benchmark/benchmark.h>' 'one place: Google Benchmark'
plant kernels/b.cpp '#include <catch2/catch.hpp>' 'one place: Catch2'
plant app/plot/plot.cpp 'const char* tool = "gnuplot -";' 'one place: gnuplot'
# same bits
plant envs/f.cpp 'double f(double x) { return std::exp(x); }' 'same bits'
plant kernels/c.cpp 'double f(double x) { return pow(x, 2); }' 'same bits'
plant train/e.cpp 'float f(float x) { return cosf(x); }' 'same bits'
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

((failed == 0)) && echo "architecture_test: every planted violation was found"
exit "$failed"
