#!/usr/bin/env bash
# Builds the wheel from the objects that ccache has, installs it in a fresh environment away from the tree, and runs the tests of the numerics and a suite with
# what was installed. Usage: wheel_test.sh SOURCES BUILD [PIP ARGUMENT…]; exit 77 where the tools that build wheels are not.
set -euo pipefail
sources=$1 build=$2
shift 2
tools=$sources/build/python-tools/bin/python3
"$tools" -c 'import scikit_build_core, nanobind' 2>/dev/null ||
  { echo "skipped: no scikit-build-core and nanobind in build/python-tools (./bootstrap.sh test fetches them where there is a network)"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# what is published as sources has all that is compiled
(cd "$sources" && "$tools" -c 'import sys, scikit_build_core.build as b; b.build_sdist(sys.argv[1])' "$work" >/dev/null)
missing=$(comm -23 <(cd "$sources" && git ls-files -- app cmake config docs envs estimators examples gate kernels policies python results suites train ':!docs/figures' ':!docs/lab' | sort) \
  <(tar -tzf "$work"/odrpo_bench-*.tar.gz | cut -d / -f 2- | sort))
[[ -z $missing ]] || { echo "FAILED: the sdist lacks"; echo "$missing" | head; exit 1; }
began=$SECONDS
joined=$(sed -n 's/^ODRPO_JOINED:BOOL=//p' "$build/CMakeCache.txt")  # as ccache has them
"$tools" -m pip -q --disable-pip-version-check wheel --no-build-isolation --no-deps -w "$work" --config-settings "cmake.define.ODRPO_JOINED=${joined:-OFF}" "$@" "$sources"
wheel=("$work"/odrpo_bench-*.whl)
echo "wheel: $((SECONDS - began)) s, $(du -k "${wheel[0]}" | cut -f 1) KiB; unpacked:"
/usr/bin/python3 -m zipfile -l "${wheel[0]}" | awk '/_numerics.*so|bin.odrpo-bench/ { print "  " $1, $NF }'
# what Python's own packages have is taken from this machine: nothing is downloaded
/usr/bin/python3 -m venv --system-site-packages "$work/venv"
"$work/venv/bin/pip" -q --disable-pip-version-check install --no-deps --no-index "${wheel[0]}"
cd "$work"
unset PYTHONPATH
installed=$("$work/venv/bin/python" -c 'import odrpo_bench, os; print(os.path.dirname(os.path.dirname(odrpo_bench.__file__)))')
[[ $installed == "$work"/venv/* ]] || { echo "FAILED: imported from $installed"; exit 1; }
PYTHONPATH=$sources/tests/app "$work/venv/bin/python" "$sources/tests/python/numerics_test.py" "$installed/odrpo_bench/bin/odrpo-bench" "$installed" \
  "$sources/tests/golden/golden_public.json"
"$work/venv/bin/odrpo-bench" check quickstart >check.txt  # a shipped suite by its name
"$work/venv/bin/odrpo-bench" run "$sources/tests/tiny.toml" -q -o tiny.h5 >table.txt
"$work/venv/bin/odrpo-bench" verify tiny.h5
