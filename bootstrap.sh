#!/usr/bin/env bash
# Installs what is missing, builds Release, and starts odrpo-bench: `./bootstrap.sh [--cuda] [--mpi] COMMAND …`. `./bootstrap.sh test` tests it, and
# `./bootstrap.sh packages python` installs what `pip install .` compiles with, `./bootstrap.sh docs` makes HTML pages (docs/building.md).
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
build=$root/build/release
program=$build/odrpo-bench
sources=(app suites config train gate results policies envs estimators kernels cmake CMakeLists.txt CMakePresets.json bootstrap.sh .git/HEAD .git/logs/HEAD)
modules=(kernels estimators envs policies results gate config train compute app)  # each has a test program

# what Debian calls the things we need
need_run=(g++ cmake ninja-build git libtomlplusplus-dev libhdf5-dev libcli11-dev librandom123-dev libfmt-dev
  nlohmann-json3-dev libboost-dev libssl-dev libarchive-dev libre2-dev)
need_figures=(gnuplot-nox)
need_mpi=(openmpi-bin libopenmpi-dev)
need_bench=(libbenchmark-dev)
need_python=(python3-dev python3-venv)
need_docs=(mkdocs)
need_test=(ccache catch2 python3-h5py python3-numpy python3-pandas python3-xarray "${need_python[@]}")
need_all=("${need_figures[@]}" "${need_bench[@]}" "${need_mpi[@]}" clang libclang-rt-dev hdf5-tools python3-h5netcdf
  python3-netcdf4 python3-jsonschema python3-matplotlib valgrind procps python3-yaml zsh fish)
# CI alone, as root: a test starts a Slurm of its own; elsewhere these would start services. Packages are tried in minimal systems
need_ci=(munge slurm-client slurmctld slurmd debootstrap lintian)

# objects and clones in other folders share what ccache keeps
export CCACHE_BASEDIR=${CCACHE_BASEDIR-$root} CCACHE_NOHASHDIR=${CCACHE_NOHASHDIR-1}
export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS-pch_defines,time_macros,include_file_mtime,include_file_ctime}

say() { printf 'bootstrap: %s\n' "$*" >&2; }
die() { local code=$1; shift; say "$@"; exit "$code"; }

# what the build has besides: kept until the opposite is asked for
cuda='' mpi=''
while [[ ${1:-} =~ ^--(no-)?(cuda|mpi)$ ]]; do
  [[ ${BASH_REMATCH[1]} ]] && choice=OFF || choice=ON
  if [[ ${BASH_REMATCH[2]} == cuda ]]; then cuda=$choice; else mpi=$choice; fi
  shift
done
kept() { [[ -f $build/CMakeCache.txt ]] && sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }
options=()
[[ -z $cuda || $cuda == "$(kept ODRPO_CUDA)" ]] || options+=("-DODRPO_CUDA=$cuda")
[[ -z $mpi || $mpi == "$(kept ODRPO_MPI)" ]] || options+=("-DODRPO_MPI=$mpi")
mpi=${mpi:-$(kept ODRPO_MPI || true)}

# goal: which programs are built, and what is started then
goal=run module='' left_out=''
case ${1:-} in
  bench) goal=bench ;;
  packages) goal=packages
    [[ ${2:-} == python && $# == 2 ]] || die 2 "packages: 'python' is needed: './bootstrap.sh packages python' installs what 'pip install .' compiles with" ;;
  docs) goal=docs; shift ;;
  test)
    shift
    case ${1:-} in
      '') goal="test" ;;
      --all) goal="test-all"; shift ;;
      -*) goal="test-all" ;;
      *) goal="test-module" module=$1; shift
        [[ " ${modules[*]} " == *" $module "* ]] || die 2 "test $module: no such module; there are ${modules[*]}" ;;
    esac ;;
esac
stamp=$build/.bootstrap-$goal

# nothing newer than the last good build: start at once
fresh() {
  [[ $goal == run || $goal == bench ]] && ((${#options[@]} == 0)) && [[ -f $stamp && -x $program ]] || return 1
  local newer below=("${sources[@]}")
  [[ $goal == run ]] || below+=(tests)
  newer=$(cd "$root" && find "${below[@]}" -newer "$stamp" -print -quit 2>/dev/null) || true
  [[ -z $newer ]]
}

as_root() {
  if [[ $(id -u) == 0 ]]; then "$@"; else sudo -n "$@"; fi
}

# shows how far something is: one line rewritten on a terminal, else a line every 15 seconds
shown_at=-100
show() {
  if [[ -t 2 && ${TERM:-dumb} != dumb && -z ${CI:-} ]]; then
    ((SECONDS == shown_at)) || printf '\r\033[Kbootstrap: %s' "$*" >&2
    shown_at=$SECONDS
  elif ((SECONDS >= shown_at + 15)); then
    say "$@"
    shown_at=$SECONDS
  fi
}
shown() {
  if [[ -t 2 && ${TERM:-dumb} != dumb && -z ${CI:-} ]]; then printf '\r\033[K' >&2; fi
  shown_at=-100
}
duration() { (($1 < 90)) && echo "$1 s" || echo "$((($1 + 30) / 60)) min"; }

# install LOG PACKAGE…: shows what apt is doing
install() {
  local log=$1 downloaded=0 unpacked=0 ready=0 line
  shift
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 install --no-install-recommends "$@" </dev/null 2>&1 |
    while IFS= read -r line; do
      printf '%s\n' "$line" >>"$log"
      case $line in
        Get:*) downloaded=$((downloaded + 1)); show "$downloaded packages downloaded" ;;
        Unpacking\ *) unpacked=$((unpacked + 1)); show "$unpacked packages unpacked" ;;
        Setting\ up\ *) ready=$((ready + 1)); show "$ready packages set up" ;;
      esac
    done
}

install_missing() {
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    say "no apt here: make sure these are installed: $*"
    return
  fi
  local have missing=() package
  have=$'\n'$(dpkg-query -W -f='${db:Status-Abbrev} ${Package}\n' "$@" 2>/dev/null | sed -n 's/^.i  *//p' || true)$'\n'
  for package; do
    [[ $have == *$'\n'"$package"$'\n'* ]] || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  if [[ $(id -u) != 0 ]] && ! sudo -n true 2>/dev/null; then
    die 1 "these packages are missing and neither root nor a sudo without password is at hand; ask your administrator for:
  apt-get install --no-install-recommends ${missing[*]}"
  fi
  local log plan
  log=$(mktemp)
  # the lists may be absent or old: they are fetched when the packages are not in them, or are there no more
  plan=$(LC_ALL=C apt-get -q --assume-no install --no-install-recommends "${missing[@]}" 2>&1 </dev/null) || true
  if [[ $plan != *'newly installed'* ]]; then
    say "fetching the lists of packages"
    as_root apt-get -q update </dev/null >>"$log" 2>&1 || true
    plan=$(LC_ALL=C apt-get -q --assume-no install --no-install-recommends "${missing[@]}" 2>&1 </dev/null) || true
  fi
  say "installing ${missing[*]}"
  say "$(sed -nE 's/^.* ([0-9]+) newly installed.*/\1 packages/p; s/^Need to get (.*) of archives\./\1 to download/p; s/^After this operation, (.*) of additional.*/\1 on disk/p' <<<"$plan" | paste -sd ',' | sed 's/,/, /g')"
  if ! install "$log" "${missing[@]}"; then
    as_root apt-get -q update </dev/null >>"$log" 2>&1 || true
    if ! install "$log" "${missing[@]}"; then
      shown
      tail -n 5 "$log" >&2
      rm -f "$log"
      die 1 "could not install the packages above (is this machine offline?); install by hand: ${missing[*]}"
    fi
  fi
  shown
  rm -f "$log"
}

# what builds the Python package, by pip: fetched once, and not where there is no network. False where it was there
fetch_python_tools() {
  local tools=$root/build/python-tools requires
  "$tools/bin/python3" -c 'import nanobind, scikit_build_core' 2>/dev/null && return 1
  mapfile -t requires < <(cd "$root" && /usr/bin/python3 -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], sep="\n")')
  /usr/bin/python3 -m venv "$tools" && "$tools/bin/pip" -q --disable-pip-version-check install --timeout 10 --retries 1 "${requires[@]}" 2>/dev/null && return 0
  say "no network for pip: the Python package is not built"
  return 1
}

# follows the lines of ninja, which go into LOG: percent, and the time left if the rest is as fast
follow() {
  local log=$1 began=$SECONDS line done all spent
  while IFS= read -r line; do
    printf '%s\n' "$line"
    [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]] || continue
    done=${BASH_REMATCH[1]} all=${BASH_REMATCH[2]} spent=$((SECONDS - began))
    ((all > 3)) || continue
    if ((20 * done < all)); then show "$((100 * done / all)) % compiled"  # too early to tell
    else show "$((100 * done / all)) % compiled, about $(duration $((spent * (all - done) / done))) left"; fi
  done >"$log"
  shown
}

# seconds of one core that a first build takes: of the program and of everything as measured (docs/lab/toolchains.md), the others between them
first_build_seconds() {
  case $goal in
    run) echo 450 ;;
    bench) echo 480 ;;
    test-all) echo 1540 ;;
    *) echo 1100 ;;
  esac
}

compile() {
  mkdir -p "$build"
  exec 9>"$build/.bootstrap.lock"
  if command -v flock >/dev/null; then flock 9; fi
  if fresh; then return; fi  # another call was faster
  local started packages=("${need_run[@]}") targets=(odrpo-bench)
  local unity=(-DCMAKE_UNITY_BUILD=ON)  # from nothing: three fifths of the time (docs/building.md)
  [[ $mpi != ON ]] || packages+=("${need_mpi[@]}")
  case $goal in
    run) [[ -f $build/build.ninja ]] || options+=(-DODRPO_TESTS=OFF -DODRPO_BENCH=OFF "${unity[@]}") ;;
    bench) packages+=("${need_bench[@]}"); targets+=(odrpo-bench-perf)
      [[ $(kept ODRPO_BENCH) == ON ]] || options+=(-DODRPO_BENCH=ON)
      [[ -f $build/build.ninja ]] || options+=(-DODRPO_TESTS=OFF "${unity[@]}") ;;
    test*) packages+=("${need_test[@]}")
      [[ $(kept ODRPO_TESTS) == ON ]] || options+=(-DODRPO_TESTS=ON)
      # who tests also edits: each source alone; CI sets ODRPO_JOINED=ON
      [[ $(kept CMAKE_UNITY_BUILD) != ON ]] || options+=(-DCMAKE_UNITY_BUILD=OFF)
      [[ ${ODRPO_JOINED:-OFF} == "$(kept ODRPO_JOINED)" ]] || options+=("-DODRPO_JOINED=${ODRPO_JOINED:-OFF}")
      targets=(odrpo_tests)
      [[ $goal != test-module ]] || targets=("test_$module")
      if [[ $goal == test-all ]]; then
        packages+=("${need_all[@]}") targets=(all)
        if [[ ${CI:-} == true && $(id -u) == 0 ]]; then packages+=("${need_ci[@]}"); fi
        [[ $(kept ODRPO_BENCH) == ON ]] || options+=(-DODRPO_BENCH=ON)
      fi ;;
  esac
  install_missing "${packages[@]}"
  [[ $goal != test* ]] || ! fetch_python_tools || options+=(-DODRPO_PYTHON_PACKAGE=AUTO)  # looks for them again
  started=$(mktemp "$build/.bootstrap.XXXXXX")  # as old as the sources that this build sees

  # a tree that was moved or copied here brings a cache that names its old place
  if [[ -f $build/CMakeCache.txt ]] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$build/CMakeCache.txt"; then options+=(--fresh); fi
  if [[ ! -f $build/build.ninja || ${#options[@]} -gt 0 ]]; then
    [[ -f $build/build.ninja ]] || say "building $build; the first time takes about $(duration $(($(first_build_seconds) / $(nproc)))) on $(nproc) cores"
    if ! (cd "$root" && cmake --preset release "${options[@]}") </dev/null >"$build/configure.log" 2>&1; then
      tail -n 30 "$build/configure.log" >&2
      rm -f "$started"
      die 1 "configuring failed; the whole log: $build/configure.log"
    fi
  fi
  if ! NINJA_STATUS='[%f/%t] ' cmake --build "$build" --target "${targets[@]}" </dev/null 2>&1 | follow "$build/build.log"; then
    grep -n -m 1 -A 200 '^FAILED:' "$build/build.log" >&2 || tail -n 60 "$build/build.log" >&2
    rm -f "$started"
    die 1 "the build failed; the whole log: $build/build.log"
  fi
  mv -f "$started" "$stamp"
}

if [[ $goal == packages ]]; then
  install_missing "${need_run[@]}" "${need_python[@]}"
  exit
fi
if [[ $goal == docs ]]; then
  install_missing "${need_docs[@]}"
  exec /usr/bin/python3 "$root/docs/site/build.py" "$@"
fi
if ! fresh; then (compile); fi

# figures are drawn by gnuplot, which nothing else needs
case " $* " in
  *' plot '* | *' report '* | *' --figure'*) command -v gnuplot >/dev/null || (install_missing "${need_figures[@]}") || true ;;
esac

tests=(ctest --test-dir "$build" --no-tests=error --output-on-failure -j "$(nproc)")
case $goal in
  test)
    code=0
    "${tests[@]}" -LE '^(slow|full|planted|gpu|install)$' || code=$?
    say "left out: slow tests and those with many draws, builds with planted faults, stand-ins for a GPU, the installation, microbenchmarks; './bootstrap.sh test --all' has them"
    exit "$code" ;;
  test-all) exec "${tests[@]}" "$@" ;;
  test-module) exec "$build/tests/$([[ $module == compute ]] && echo app || echo "$module")/test_$module" "$@" ;;
  *) exec "$program" "$@" ;;
esac
