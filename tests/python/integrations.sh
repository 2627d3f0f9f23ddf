#!/usr/bin/env bash
# The adapters for verl and TRL with the real ones, in two virtual environments of the user's cache (6 GB, made by the first call; the second finds torch in the
# first). Not a test of CI. Usage: tests/python/integrations.sh [FOLDER], which has the package: build/release/python unless given.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
package=$(realpath "${1:-$root/build/release/python}")
cache=${XDG_CACHE_HOME:-$HOME/.cache}/odrpo-bench
ls "$package"/odrpo_bench/_numerics.* >/dev/null || { echo "$package has no compiled module: ./bootstrap.sh builds it" >&2; exit 1; }
program=$(command -v odrpo-bench || echo "$root/build/release/odrpo-bench")

# environment NAME REQUIREMENT...: makes it, or brings it to these versions
environment() {
  local place=$cache/$1
  [[ -d $place ]] || /usr/bin/python3 -m venv "$place"
  if [[ $1 == verl ]]; then "$cache/trl/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))' >"$(echo "$place"/lib/python3*/site-packages)/torch_of_trl.pth"; fi
  "$place/bin/pip" install -q --disable-pip-version-check "${@:2}"
}
environment trl 'trl==1.16.*'
environment verl 'verl==0.9.1' cachetools fastapi uvicorn TransferQueue  # the last four: of its extra verl-core, which needs more

links=$(mktemp -d)
trap 'rm -r "$links"' EXIT
ln -s "$program" "$links/odrpo-bench"
export PATH=$links:$PATH PYTHONPATH=$package HF_HUB_OFFLINE=1 CUDA_VISIBLE_DEVICES= OMP_NUM_THREADS=1  # more threads are slower for models as small
cd "$links"
"$cache/verl/bin/python" "$here/verl_real.py"
"$cache/trl/bin/python" "$here/trl_real.py"
ACCELERATE_USE_CPU=true "$cache/trl/bin/python" -m torch.distributed.run --nproc_per_node 2 "$here/trl_real.py"
"$cache/trl/bin/python" "$root/examples/trainers/train_with_trl.py"
