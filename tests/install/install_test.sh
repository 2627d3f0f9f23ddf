#!/usr/bin/env bash
# Installs a build and uses the installed package alone: the example, every header, components, the program; then moves the prefix and does
# it again. Then the source tree inside another project.
# Usage: install_test.sh SOURCE BUILD CMAKE [alone]. With `alone`, BUILD is made here from the numerics only.
set -uo pipefail
source=$(readlink -f "$1") build=$2 cmake=$3 alone=${4:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
fail() { echo "FAILED: $*"; failed=1; }
# runs a command; tells all it said when it fails
quiet() { "$@" >"$work/log" 2>&1 || { cat "$work/log"; fail "$*"; return 1; }; }

if [[ -n $alone ]]; then
  build=$work/numerics
  quiet "$cmake" -S "$source" -B "$build" -G Ninja -DODRPO_NUMERICS_ONLY=ON -DCMAKE_BUILD_TYPE=Debug || exit 1
  grep -qE '^CMAKE_CUDA_(COMPILER|FLAGS):' "$build/CMakeCache.txt" && fail "the numerics alone look for CUDA"
  quiet "$cmake" --build "$build" || exit 1
fi
build=$(readlink -f "$build")

# what docs/library.md says that the example prints
sed -n '/^```console$/,/^```$/p' "$source/docs/library.md" | sed '1d;$d' | grep -v '^\$' >"$work/expected"
[[ -s $work/expected ]] || fail "docs/library.md shows no output"

# components PREFIX WORDS…: what find_package says to COMPONENTS
components() {
  local prefix=$1 out=$work/components
  shift
  rm -rf "$out"
  mkdir "$out"
  printf 'cmake_minimum_required(VERSION 3.25)\nproject(parts LANGUAGES CXX)\nfind_package(odrpo REQUIRED COMPONENTS %s)\nget_property(there TARGET odrpo::estimators PROPERTY TYPE)\n' \
    "$*" >"$out/CMakeLists.txt"
  "$cmake" -S "$out" -B "$out/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF >"$work/log" 2>&1
}

use() {  # PREFIX TARGET…: configure, build and run consumers outside of the source tree; the targets of tests/install/every_header
  local prefix=$1 out=$work/use program
  shift
  rm -rf "$out"
  cp -r "$prefix/share/odrpo-bench/examples/core" "$out-example"
  cp -r "$source/tests/install/every_header" "$out-every"
  for what in example every; do
    quiet "$cmake" -S "$out-$what" -B "$out/$what" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$prefix" \
      -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF || return
    grep -q "^odrpo_DIR:PATH=$prefix/" "$out/$what/CMakeCache.txt" || fail "$what found another package than that of $prefix"
  done
  quiet "$cmake" --build "$out/example" || return
  quiet "$cmake" --build "$out/every" --target "$@" || return
  components "$prefix" estimators || { cat "$work/log"; fail "component estimators is not found"; }
  components "$prefix" core kernels envs policies OPTIONAL_COMPONENTS roof || { cat "$work/log"; fail "components are not found"; }
  components "$prefix" estimators roof && fail "component roof is found"
  grep -q 'has no component "roof"' "$work/log" || { cat "$work/log"; fail "nobody says which component is missing"; }
  "$out/example/advantages" | diff "$work/expected" - || fail "the example prints something else than docs/library.md"
  program=$("$out/every/modules") || fail "modules: exit $?"
  # three votes of ten equal levels: 0.028 for two or three of the lowest, 0.216 for three different ones with the lowest among them
  [[ $program == "law 0.2440 entropy 2.3" ]] || fail "modules printed '$program'"
  if [[ -z $alone ]]; then
    (cd / && env -i PATH=/usr/bin:/bin "$prefix/bin/odrpo-bench" list >"$work/list") || fail "the installed program does not run list"
    grep -q 'odrpo-gini-median' "$work/list" || fail "list of the installed program lacks the estimators"
    for suite in smoke paper/results-toy-lm; do
      "$prefix/bin/odrpo-bench" check "$prefix/share/odrpo-bench/suites/$suite.toml" >"$work/log" 2>&1 || fail "check of the installed suite $suite"
      (cd / && "$prefix/bin/odrpo-bench" check "$suite") 2>&1 | diff "$work/log" - || fail "the installed suite $suite is another one by its name"
    done
    for shell in "bash bash-completion/completions/odrpo-bench" "zsh zsh/site-functions/_odrpo-bench" "fish fish/vendor_completions.d/odrpo-bench.fish"; do
      "$prefix/bin/odrpo-bench" completion "${shell%% *}" | diff "$prefix/share/${shell#* }" - || fail "completion of ${shell%% *} is another one"
    done
    for page in odrpo-bench odrpo-bench-run odrpo-bench-judge-fit; do
      [[ -s $prefix/share/man/man1/$page.1 ]] || fail "there is no man page $page.1"
    done
    [[ $(cd / && "$prefix/bin/odrpo-bench" check smokee 2>&1) == *'did you mean "smoke"?' ]] || fail "a wrong name is not answered by the nearest"
  fi
  rm -rf "$out" "$out-example" "$out-every"
}

quiet "$cmake" --install "$build" --prefix "$work/first place" || exit 1
first="$work/first place" second=$work/second

# nothing of the build machine, nothing that a consumer lacks
grep -rlF -e "$source" -e "$build" -e "$work" "$first" --include='*.cmake' && fail "a cmake file names a path of the build machine"
grep -rnE '[";]/[a-z]' "$first" --include='*.cmake' && fail "a cmake file names an absolute path"
grep -rnE '#include <[^>]*[/.]' "$first/include" | grep -v '<immintrin.h>' && fail "a header needs something else than the standard library"
while IFS=: read -r file name; do
  [[ -f $first/include/odrpo/$name ]] || fail "${file#"$first"/} includes $name, which is not installed"
done < <(grep -roP '#include "\K[^"]+' "$first/include")
[[ $(find "$first" -name '*.hpp' | wc -l) -ge 20 ]] || fail "hardly any header was installed"
if [[ -n $alone ]]; then
  [[ ! -e "$first/bin" ]] || fail "the numerics alone installed a program"
else
  [[ -f $first/share/odrpo-bench/README.md && -f $first/share/odrpo-bench/docs/library.md ]] || fail "the pages are not installed"
fi

targets=(modules)
[[ -n $alone ]] || targets+=(headers)  # the numerics alone install some of them; above is looked whether what these include is there
use "$first" "${targets[@]}"
mv "$first" "$second"
use "$second" modules

# the source tree inside another project: the numerics alone, as they are, and nothing else of it
if [[ -z $alone ]]; then
  inside=$work/inside
  cp -r "$source/tests/install/inside" "$inside-source"
  quiet "$cmake" -S "$inside-source" -B "$inside" -G Ninja -DODRPO_SOURCE="$source" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON || exit 1
  grep -qE '^CMAKE_CUDA_(COMPILER|FLAGS):' "$inside/CMakeCache.txt" && fail "inside another project it looks for CUDA"
  grep '"command"' "$inside/compile_commands.json" | grep 'examples/core/main.cpp' | grep -E -- '-Wall|-Werror|-fno-math-errno' >/dev/null &&
    fail "another project's program is compiled with our warnings"
  grep '"command"' "$inside/compile_commands.json" | grep 'examples/core/main.cpp' | grep -- '-ffp-contract=off' >/dev/null ||
    fail "another project's program lacks -ffp-contract=off"
  quiet "$cmake" --build "$inside" --target advantages
  "$inside/advantages" | diff "$work/expected" - || fail "inside another project the example prints something else than docs/library.md"
  quiet "$cmake" --install "$inside" --prefix "$work/nothing"
  [[ ! -e $work/nothing ]] || fail "inside another project it installs something: $(find "$work/nothing" | head -3)"
fi
[[ $failed == 0 ]] && echo "install: ok"
exit "$failed"
