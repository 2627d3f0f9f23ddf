#!/usr/bin/env bash
# Builds what people install and tries it in minimal Debian 12 and 13: as a person who is not root, without a network, with no package added.
#   tests/packages/packages.sh [--build DIR] [--carry DIR] [PART...]     parts: deb tarball container carry; default: the first three
# As root, with debootstrap. Roots are made from the host's own mirror of Debian, or $ODRPO_DEBIAN_MIRROR; with $ODRPO_ROOTS (a folder) they are
# kept for the next call. --build is where the packages are built (default build/portable), --carry where the folder for a GPU is (default
# build/gpu-carry). Prints sizes and seconds. Ubuntu is not tried: that its libraries have the symbols is (symbol_versions.py).
set -uo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
root=$(cd -- "$here/../.." && pwd -P)
build=$root/build/portable carry=$root/build/gpu-carry
while [[ ${1:-} == --* ]]; do
  case $1 in
    --build) build=$(realpath -m "$2") ;;
    --carry) carry=$(realpath -m "$2") ;;
    *) sed -n '2,7s/^# \?//p' "${BASH_SOURCE[0]}"; exit 2 ;;
  esac
  shift 2
done
parts=("$@")
(($#)) || parts=(deb tarball container)
for part in "${parts[@]}"; do [[ $part =~ ^(deb|tarball|container|carry)$ ]] || { echo "no part $part" >&2; exit 2; }; done
wanted() { [[ " ${parts[*]} " == *" $1 "* ]]; }
for tool in debootstrap unshare; do
  if ! command -v $tool >/dev/null || [[ $(id -u) != 0 ]]; then echo "skipped: this takes root and $tool"; exit 77; fi
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
failed=0 table=()
fail() { echo "FAILED: $*"; failed=1; }
row() { local line; printf -v line '%-44s %s' "$1" "$2"; table+=("$line"); echo "$line"; }
mib() { awk -v b="$(du -sb "$1" | cut -f 1)" 'BEGIN { printf "%.1f MiB", b / 1048576 }'; }
now() { date +%s.%N; }
since() { awk -v a="$1" -v b="$(now)" 'BEGIN { printf "%.2f s", b - a }'; }
# quiet COMMAND…: runs a command; prints all that it says when it fails
quiet() { "$@" >"$work/log" 2>&1 || { tail -n 60 "$work/log"; fail "$*"; return 1; }; }

mirror=${ODRPO_DEBIAN_MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Origin: Debian' 2>/dev/null | head -n 1)}
roots=${ODRPO_ROOTS:-$work/roots}
mkdir -p "$roots"
# minimal RELEASE NAME: $work/NAME becomes a minimal Debian with a person in it
minimal() {
  local began
  if [[ ! -d $roots/$1 ]]; then
    began=$(now)
    rm -rf "$roots/$1.new"
    quiet debootstrap --variant=minbase "$1" "$roots/$1.new" "$mirror" || return
    chroot "$roots/$1.new" useradd --create-home --home-dir /person --uid 1000 person || return
    mv "$roots/$1.new" "$roots/$1"
    row "debootstrap of $1" "$(since "$began"), $(mib "$roots/$1")"
  fi
  rm -rf "${work:?}/$2"
  cp -a "$roots/$1" "$work/$2"
}
# within WHO ROOT SCRIPT: bash runs a script in a root, as root or as the person, without a network
within() {
  local user=1000:1000 home=/person
  [[ $1 == person ]] || user=0:0 home=/root
  unshare --net --mount --pid --fork --mount-proc="$2/proc" chroot --userspec="$user" "$2" \
    /usr/bin/env -i HOME="$home" PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 bash -euc "cd; $3"
}
name_of() { case $1 in bookworm) echo "Debian 12" ;; trixie) echo "Debian 13" ;; esac; }

# Digest of the quickstart suite, which README shows
digest=$(sed -n 's/^suite quickstart, digest \([0-9a-f]*\):.*/\1/p' "$root/README.md")
[[ -n $digest ]] || fail "README shows no digest of quickstart"

# what a person does with the program, which must be in PATH
try='
odrpo-bench run quickstart >table.txt 2>said.txt || { cat said.txt; exit 1; }
printf "%s\n" "$(date +%s.%N)" >first-table
grep -q "^odrpo-gini-median(maxrl)" table.txt
head -n 1 table.txt
odrpo-bench gate --science quickstart.h5 quickstart.h5 >science.txt
odrpo-bench gate --kind process --baseline "odrpo-bench list" --candidate "odrpo-bench list" --only-counts --json >gate.json || [ $? = 11 ]
grep -q "allocations" gate.json
odrpo-bench table quickstart.h5 --format latex >table.tex
odrpo-bench check paper/results >check.txt
printf "prompt_id,response_id,sample_id,score\n1,1,1,2\n1,1,2,3\n1,2,1,1\n1,2,2,1\n2,1,1,5\n2,1,2,4\n2,2,1,3\n2,2,2,3\n" >scores.csv
odrpo-bench judge analyze scores.csv >judge.txt
gzip -k scores.csv
code=0; odrpo-bench judge analyze scores.csv.gz >packed.txt 2>&1 || code=$?
[ $code = 5 ] && grep -q "libarchive13" packed.txt || { echo "a packed file: exit $code"; cat packed.txt; exit 1; }
'
tried() {  # WHAT ROOT BEGAN: looks at what `try` left
  local shown
  [[ -s $2/person/first-table ]] || { fail "$1: no table"; return; }
  shown=$(head -n 1 "$2/person/table.txt")
  [[ $shown == *"digest $digest"* ]] || fail "$1: $shown, and README shows $digest"
  row "$1: to the first table" "$(awk -v a="$3" -v b="$(cat "$2/person/first-table")" 'BEGIN { printf "%.2f s", b - a }')"
}

if wanted deb || wanted tarball; then
  began=$(now)
  rm -rf "$build/packages"
  quiet "$root/.ci/variant" "$build" package -- --preset portable -DODRPO_JOINED="${ODRPO_JOINED:-OFF}" || { sed 20q "$build/variant.log"; exit 1; }
  row "built (ccache may have had it)" "$(since "$began")"
fi

if wanted tarball; then
  tarball=$(ls "$build"/packages/*.tar.gz)
  folder=$(basename "$tarball" .tar.gz)
  mkdir "$work/tarball"
  tar -xzf "$tarball" -C "$work/tarball"
  [[ $(ls "$work/tarball") == "$folder" ]] || fail "the tarball has more than one folder: $(ls "$work/tarball")"
  row "$(basename "$tarball")" "$(mib "$tarball"), unpacked $(mib "$work/tarball")"
  mapfile -t programs < <(find "$work/tarball" -type f -exec sh -c 'head -c 4 "$1" | grep -q "^.ELF"' _ {} \; -print)
  ((${#programs[@]} == 2)) || fail "the tarball has other programs than one and its library: ${programs[*]}"
  symbols=$(python3 "$here/symbol_versions.py" "${programs[@]}") || fail "the tarball does not start on older systems"
  row "tarball, $(sed '$!d' <<<"$symbols" | cut -d : -f 1)" "$(sed '$!d; s/.*: //' <<<"$symbols")"
  [[ $(wc -l <<<"$symbols") == 1 ]] || echo "$symbols"
  for release in bookworm trixie; do
    minimal "$release" there || continue
    cp "$tarball" "$work/there/person"
    began=$(now)
    within person "$work/there" "tar -xzf $(basename "$tarball"); PATH=\$PATH:~/$folder/bin; $try" || fail "tarball on $(name_of "$release")"
    tried "tarball on $(name_of "$release")" "$work/there" "$began"
    # elsewhere, by a link in PATH
    within person "$work/there" "mkdir -p bin other; mv $folder other/place; ln -s ../other/place/bin/odrpo-bench bin/; PATH=\$PATH:~/bin; cd other; odrpo-bench check quickstart >check.txt" ||
      fail "tarball, moved and linked, on $(name_of "$release")"
  done
fi

if wanted deb; then
  debs=("$build"/packages/odrpo-bench_*.deb "$build"/packages/libodrpo-dev_*.deb)
  for deb in "${debs[@]}"; do
    row "$(basename "$deb")" "$(mib "$deb"), installed $(($(dpkg-deb -f "$deb" Installed-Size) / 1024)) MiB; needs $(dpkg-deb -f "$deb" Depends | sed 's/^$/nothing/')"
  done
  if command -v lintian >/dev/null; then
    lintian --allow-root --fail-on error --no-tag-display-limit "${debs[@]}" >"$build/lintian.log" 2>&1 || { grep ^E: "$build/lintian.log"; fail "lintian"; }
    row "lintian" "$(grep -c ^E: "$build/lintian.log") errors, $(grep -c ^W: "$build/lintian.log") warnings"
  else
    row "lintian" "skipped: it is not installed"
  fi
  for release in bookworm trixie; do
    minimal "$release" there || continue
    cp "${debs[@]}" "$work/there/root"
    began=$(now)
    # apt has no lists and no network: all that the package needs is there
    within root "$work/there" "apt-get install -q -y --no-install-recommends ./$(basename "${debs[0]}") >apt.log 2>&1 || { cat apt.log; exit 1; }" || fail "apt on $(name_of "$release")"
    within person "$work/there" "$try" || fail "package on $(name_of "$release")"
    tried "package on $(name_of "$release")" "$work/there" "$began"
    within person "$work/there" 'zcat /usr/share/man/man1/odrpo-bench.1.gz | grep -q "^\.TH odrpo" && zcat /usr/share/doc/odrpo-bench/changelog.gz | grep -q "^odrpo-bench (" &&
      . /usr/share/bash-completion/completions/odrpo-bench && complete -p odrpo-bench >/dev/null &&
      [ -s /usr/share/zsh/vendor-completions/_odrpo-bench ] && [ -s /usr/share/fish/vendor_completions.d/odrpo-bench.fish ] && [ -s /usr/share/odrpo-bench/suites/odrpo-bench.schema.json ]' ||
      fail "pages, completion or schema of the package on $(name_of "$release")"
    within root "$work/there" "dpkg -i $(basename "${debs[1]}") >dpkg.log 2>&1 && dpkg --purge odrpo-bench libodrpo-dev >>dpkg.log 2>&1 && [ ! -e /usr/share/odrpo-bench ] && [ ! -e /usr/include/odrpo ]" ||
      fail "libodrpo-dev, or taking both away, on $(name_of "$release")"
  done
  # a program of other people's by the library package, from where it would be installed
  dpkg-deb -x "${debs[1]}" "$work/library"
  quiet cmake -S "$root/examples/core" -B "$work/core" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF -DCMAKE_PREFIX_PATH="$work/library/usr" &&
    quiet cmake --build "$work/core" && diff <(sed -n '/^```console$/,/^```$/p' "$root/docs/library.md" | sed '1d;$d' | grep -v '^\$') <("$work/core/advantages") ||
    fail "a program that uses libodrpo-dev"
fi

if wanted container; then
  minimal bookworm debian && {
    began=$(now)
    python3 "$here/container.py" "$root/Containerfile" "$root" "$work/debian" "$work/container" "$digest" || fail "Containerfile"
    row "Containerfile, its steps by chroot" "$(since "$began")"
  }
fi

if wanted carry; then
  began=$(now)
  quiet "$root/.ci/variant" "$carry" gpu_carry -- --preset gpu-carry -DODRPO_JOINED="${ODRPO_JOINED:-OFF}" || exit 1
  row "carried folder, built (ccache may have had it)" "$(since "$began")"
  row "carried folder" "$(mib "$carry/gpu-carry")"
  # a driver without a device: whatever the runtime asks for, there is none
  cat >"$work/cuda.c" <<'C'
#include <string.h>
int cuInit(unsigned flags) { return 100; } /* CUDA_ERROR_NO_DEVICE */
int cuDriverGetVersion(int* version) { return *version = 13000, 0; }
static int none(void) { return 100; }
int cuGetProcAddress_v2(const char* name, void** function, int version, unsigned long long flags, int* how) {
  *function = !strcmp(name, "cuInit") ? (void*)cuInit : !strcmp(name, "cuDriverGetVersion") ? (void*)cuDriverGetVersion : !strncmp(name, "cuGetProcAddress", 16) ? (void*)cuGetProcAddress_v2 : (void*)none;
  if (how) *how = 0;
  return 0;
}
int cuGetProcAddress(const char* name, void** function, int version, unsigned long long flags) { return cuGetProcAddress_v2(name, function, version, flags, 0); }
C
  quiet gcc -shared -fPIC -Wl,-soname,libcuda.so.1 -o "$work/libcuda.so.1" "$work/cuda.c" || exit 1
  for release in bookworm trixie; do
    minimal "$release" there || continue
    cp -r "$carry/gpu-carry" "$work/there/person"
    cp "$work/libcuda.so.1" "$work/there/usr/lib/"
    within person "$work/there" '
      began=$(date +%s.%N); since() { local b; b=$(date +%s.%N); printf "%s ms" $(((${b/./} - ${began/./}) / 1000000)); }
      mkdir programs; tar -xzf gpu-carry/programs.tar.gz -C programs
      echo "unpacked: $(since), $(du -sm programs | cut -f 1) MiB"
      export LD_LIBRARY_PATH=$PWD/programs/lib
      # starts EXIT PROGRAM WORDS…
      starts() {
        local wanted=$1 code=0; shift; began=$(date +%s.%N)
        "$@" >said.txt 2>&1 || code=$?
        echo "${*##*/}: exit $code after $(since)"
        [ $code = $wanted ] || { head -n 20 said.txt; exit 1; }
      }
      starts 0 programs/odrpo-bench version
      grep -q "CUDA yes" said.txt
      starts 0 programs/odrpo-bench run programs/suites/quickstart.toml --device cpu
      grep -h digest said.txt | head -n 1
      starts 6 programs/odrpo-bench run programs/suites/quickstart.toml --device cuda --force
      cat said.txt
      starts 0 programs/test_gpu
      grep "no GPU: skipped" said.txt | head -n 1
      starts 0 programs/test_gpu_batched
      starts 0 programs/odrpo-bench-gpu --benchmark_list_tests
      head -n 1 said.txt
      unset LD_LIBRARY_PATH
      starts 6 gpu-carry/check.sh
      grep "no GPU here" said.txt
      printf "score\n1\n" | gzip >scores.csv.gz
      starts 5 programs/odrpo-bench judge analyze scores.csv.gz
      grep libarchive13 said.txt
      ls programs' >"$work/carry.log" 2>&1 || fail "carried folder on $(name_of "$release")"
    sed "s/^/    /" "$work/carry.log"
    row "carried folder on $(name_of "$release")" "$(grep -cE ': exit [0-9]+ after' "$work/carry.log") programs started"
  done
fi

echo
printf '%s\n' "${table[@]}"
[[ $failed == 0 ]] && echo "packages: ok"
exit "$failed"
