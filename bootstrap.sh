#!/usr/bin/env bash
# Installs what is missing, builds Release, and starts odrpo-bench with the arguments given; `./bootstrap.sh test` runs every test.
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
build=$root/build/release
program=$build/odrpo-bench
sources=(app suites spec train results policies envs estimators kernels cmake CMakeLists.txt CMakePresets.json bootstrap.sh .git/HEAD .git/logs/HEAD)

# what Debian calls the things we need
need_run=(g++ cmake ninja-build git libtomlplusplus-dev libhdf5-dev libcli11-dev librandom123-dev libfmt-dev
  nlohmann-json3-dev libboost-dev libssl-dev libminizip-dev zlib1g-dev gnuplot-nox)
need_bench=(libbenchmark-dev)
need_test=(ccache catch2 clang libclang-rt-dev hdf5-tools python3-h5py python3-numpy python3-xarray python3-h5netcdf python3-netcdf4 python3-jsonschema valgrind
  openmpi-bin libopenmpi-dev procps)
# CI alone, as root: a test starts a Slurm of its own; elsewhere these would start services
need_ci=(munge slurm-client slurmctld slurmd)

say() { printf 'bootstrap: %s\n' "$*" >&2; }
die() { say "$@"; exit 1; }

# goal: run, bench or test; each has its own stamp
case ${1:-} in
  test) goal="test"; sources+=(tests .ci) ;;
  bench) goal=bench; sources+=(tests) ;;
  *) goal=run ;;
esac
stamp=$build/.bootstrap-$goal

# nothing newer than the last good build: start at once
fresh() {
  [[ -f $stamp && -x $program ]] || return 1
  local newer
  newer=$(cd "$root" && find "${sources[@]}" -newer "$stamp" -print -quit 2>/dev/null) || true
  [[ -z $newer ]]
}

as_root() {
  if [[ $(id -u) == 0 ]]; then "$@"; else sudo -n "$@"; fi
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
    die "these packages are missing and neither root nor a sudo without password is at hand; ask your administrator for:
  apt-get install --no-install-recommends ${missing[*]}"
  fi
  say "installing ${missing[*]}"
  local log apt=(env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300)
  log=$(mktemp)
  # the lists may be absent or old: fetch them only when the first attempt fails
  if ! as_root "${apt[@]}" install --no-install-recommends "${missing[@]}" </dev/null >"$log" 2>&1; then
    as_root "${apt[@]}" update </dev/null >>"$log" 2>&1 || true
    if ! as_root "${apt[@]}" install --no-install-recommends "${missing[@]}" </dev/null >>"$log" 2>&1; then
      tail -n 5 "$log" >&2
      rm -f "$log"
      die "could not install the packages above (is this machine offline?); install by hand: ${missing[*]}"
    fi
  fi
  rm -f "$log"
}

compile() {
  mkdir -p "$build"
  exec 9>"$build/.bootstrap.lock"
  if command -v flock >/dev/null; then flock 9; fi
  if fresh; then return; fi  # another call was faster
  local started packages=("${need_run[@]}") options=() targets=(odrpo-bench)
  case $goal in
    run) [[ -f $build/build.ninja ]] || options=(-DODRPO_TESTS=OFF -DODRPO_BENCH=OFF) ;;
    bench) packages+=("${need_bench[@]}"); options=(-DODRPO_BENCH=ON); targets+=(odrpo-bench-perf)
      [[ -f $build/build.ninja ]] || options+=(-DODRPO_TESTS=OFF) ;;
    test) packages+=("${need_bench[@]}" "${need_test[@]}")
      if [[ ${CI:-} == true && $(id -u) == 0 ]]; then packages+=("${need_ci[@]}"); fi
      options=(-DODRPO_TESTS=ON -DODRPO_BENCH=ON); targets=(all) ;;
  esac
  install_missing "${packages[@]}"
  started=$(mktemp "$build/.bootstrap.XXXXXX")  # as old as the sources that this build sees

  # a tree that was moved or copied here brings a cache that names its old place
  if [[ -f $build/CMakeCache.txt ]] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$build/CMakeCache.txt"; then options+=(--fresh); fi
  if [[ ! -f $build/build.ninja || ${#options[@]} -gt 0 ]]; then
    say "configuring $build"
    if ! (cd "$root" && cmake --preset release "${options[@]}") </dev/null >"$build/configure.log" 2>&1; then
      tail -n 30 "$build/configure.log" >&2
      rm -f "$started"
      die "configuring failed; the whole log: $build/configure.log"
    fi
  fi
  say "building ${targets[*]}"
  if ! cmake --build "$build" --target "${targets[@]}" </dev/null >&2; then
    rm -f "$started"
    die "the build failed"
  fi
  mv -f "$started" "$stamp"
}

if ! fresh; then (compile); fi

if [[ $goal == test ]]; then
  shift
  exec ctest --test-dir "$build" --no-tests=error --output-on-failure -j "$(nproc)" "$@"
fi
exec "$program" "$@"
