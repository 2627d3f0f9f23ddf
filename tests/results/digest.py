#!/usr/bin/python3
"""Recomputes result_digest and the checksums of a result file, independently of the C++ code, as docs/results.md defines them.

Usage: digest.py FILE...   (or: digest.py --sample PROGRAM, which writes a sample file and prints its digest)
Exit status 77 = skipped, because h5py is missing."""
import hashlib
import subprocess
import sys
import tempfile

try:
    import h5py
    import numpy as np
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

FIXED = {"run", "step_time_median", "modelled_seconds", "status", "error"}  # columns that are not results
WORDS = {"id", "env", "rater", "policy", "estimator", "votes", "seed", "key"}


def text(value):
    data = value.encode() if isinstance(value, str) else bytes(value)
    return ("utf8", str(len(data)), data)


def run_variables(f, i):
    """name -> (dtype, shape, bytes) of run i, without its curves and evaluations."""
    out = {}
    failed = f["status"][i].decode() == "failed"
    for name, column in f.items():
        if isinstance(column, h5py.Group) or name in FIXED:
            continue
        value = column[i]
        axis = column.attrs.get("axis")
        if axis is None and name not in WORDS and failed:
            continue
        key = name if axis is None else "axes/" + axis
        if column.dtype == object:
            if axis is None or len(value) > 0:
                out[key] = text(value)
        elif name in ("votes", "seed"):
            out[key] = ("<i4", "", np.int32(value).astype("<i4").tobytes())
        elif not np.isnan(float(value)):
            out[key] = ("<f8", "", np.float64(value).astype("<f8").tobytes())
    return out


def digest(path):
    with h5py.File(path, "r") as f:
        runs = [run_variables(f, i) for i in range(len(f["run"]))]
        failed = [s.decode() == "failed" for s in f["status"][:]]
        worlds = [("curves", "step", world) for world in f["curves"].values()]
        worlds += [("evaluated", "prompt", world) for world in f.get("evaluated", {}).values()]
        for group, scale, world in worlds:
            place = world[scale][:].astype("<f8")
            for name, table in world.items():
                if name in ("run", scale, "stage", "seconds"):
                    continue
                for row, values in zip(world["run"][:], table[:]):
                    points = np.column_stack([place, values])[~np.isnan(values)].astype("<f8")
                    if len(points) and not failed[row]:
                        runs[row][group + "/" + name] = ("<f8", f"{len(points)},2", points.tobytes())
        sha = hashlib.sha256()
        for run in sorted(runs, key=lambda r: r["id"][2]):
            sha.update(b"run\0")
            for name in sorted(run, key=str.encode):
                dtype, shape, data = run[name]
                sha.update(name.encode() + b"\0" + dtype.encode() + b"\0" + shape.encode() + b"\0" + data)
        return sha.hexdigest(), f.attrs["result_digest"]


CHECKED_TEXTS = ("Conventions", "suite", "status", "result_digest", "fingerprint")
CHECKED_INTEGERS = ("runs", "runs_failed", "runs_ok", "schema_version")
TYPES = {"float64": "<f8", "float32": "<f4", "int64": "<i8", "int32": "<i4"}


def content_sum(dataset):
    """The checksum of one data set: type, shape, elements in row-major order; a text ends with NUL."""
    word = "utf8" if dataset.dtype == object else TYPES[dataset.dtype.name]
    sha = hashlib.sha256(word.encode() + b"\0" + ",".join(map(str, dataset.shape)).encode() + b"\0")
    values = dataset[()]
    if word == "utf8":
        texts = [values] if dataset.shape == () else list(values)
        for value in texts:
            sha.update((value.encode() if isinstance(value, str) else bytes(value)) + b"\0")
    else:
        sha.update(np.ascontiguousarray(values, dtype=word).tobytes())
    return sha.hexdigest()


def datasets(f):
    found = {}
    f.visititems(lambda name, item: found.update({name: item}) if isinstance(item, h5py.Dataset) else None)
    return found


def root_sum(f):
    """The checksum of attributes, columns and the checksums of all data sets."""
    sha = hashlib.sha256()
    for name in CHECKED_TEXTS + CHECKED_INTEGERS:
        sha.update(name.encode() + b"\0" + str(f.attrs[name]).encode() + b"\0")
    names = []
    f.id.links.iterate(lambda name: names.append(name.decode()), idx_type=h5py.h5.INDEX_CRT_ORDER)
    for name in names:
        if isinstance(f[name], h5py.Dataset):
            sha.update(name.encode() + b"\0")
    for name, item in sorted(datasets(f).items(), key=lambda pair: pair[0].encode()):
        sums = (name, item.attrs["sha256"], item.attrs.get("axis", ""))
        sha.update(b"".join(part.encode() + b"\0" for part in sums))
    return sha.hexdigest()


def checksums_differ(path):
    """Paths of data sets without their checksum; "/" when the root checksum differs."""
    with h5py.File(path, "r") as f:
        if f.attrs["schema_version"] < 2:
            return []
        bad = [name for name, item in datasets(f).items() if content_sum(item) != item.attrs["sha256"]]
        return bad + ["/"] * (root_sum(f) != f.attrs["contents_sha256"])


def reseal(path):
    """Gives a file that was changed the checksums and the digest of its content, as a forger would."""
    with h5py.File(path, "r+") as f:
        for item in datasets(f).values():
            item.attrs["sha256"] = content_sum(item)
    claimed = digest(path)[0]
    with h5py.File(path, "r+") as f:
        f.attrs["result_digest"] = claimed
        f.attrs["contents_sha256"] = root_sum(f)


def main(arguments):
    good = True
    with tempfile.TemporaryDirectory() as folder:
        said = None
        if arguments[0] == "--sample":
            path = folder + "/sample.h5"
            said = subprocess.run([arguments[1], path], check=True, capture_output=True, text=True).stdout.strip()
            arguments = [path]
        for path in arguments:
            computed, stored = digest(path)
            same = computed == stored and said in (None, computed)
            bad = checksums_differ(path)
            good &= same and not bad
            print(f"{path}: {'OK' if same else 'DIFFERS'} {computed}" + "".join(f"; '{name}' does not have its checksum" for name in bad))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
