#!/usr/bin/python3
"""A result file opens with h5py, xarray (h5netcdf and netcdf4) and netCDF4: no argument, no warning. Exit status 77 = skipped.

Usage: open.py PROGRAM   (PROGRAM writes a sample file to its argument; schema-3.h5 is what it wrote when results had schema 3)"""
import os
import subprocess
import sys
import tempfile
import warnings

try:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # importing is not our business
        import h5netcdf
        import h5py
        import netCDF4
        import numpy as np
        import xarray
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)
warnings.simplefilter("error")

older = os.path.join(os.path.dirname(os.path.realpath(__file__)), "schema-3.h5")
with tempfile.TemporaryDirectory() as folder:
    path = folder + "/sample.h5"
    subprocess.run([sys.argv[1], path], check=True, capture_output=True)
    shown = subprocess.run(["ls", "-l", path], capture_output=True, text=True).stdout.split()[4]
    print("file of", shown, "bytes")

    for engine in ("h5netcdf", "netcdf4"):
        with xarray.open_dataset(path, engine=engine) as root:
            root.load()
            assert dict(root.sizes if hasattr(root, "sizes") else root.dims) == {"run": 48}, root
            assert root["run"].dtype == np.int32 and list(root["run"].values[:3]) == [0, 1, 2]
            assert root["votes"].dtype == np.int32 and root["seed"].dtype == np.int32
            assert root["estimator"].values[0] == "maxrl" and root["learn_schedule"].values[0] == "cosine"
            assert root["learn_steps"].dtype == np.int64 and root["learn_lr"].dtype == np.float64
            assert root["step_time_median"].dtype == np.float64 and root["step_time_median"].attrs["units"] == "s"
            assert root.attrs["Conventions"] and root.attrs["status"] == "failed runs" and root.attrs["runs_failed"] == 1
            assert np.isnan(root["final_quality"].values[4]) and root["status"].values[4] == "failed"
            assert list(root.variables)[:3] == ["run", "id", "env"], list(root.variables)
        for env, steps in (("bandit", 6), ("bandit-small", 3)):
            with xarray.open_dataset(path, group="curves/" + env, engine=engine) as curves:
                curves.load()
                assert curves["quality"].dims == ("run", "step") and curves["quality"].shape == (24, steps)
                assert curves["step"].values[1] == 10
                assert curves["quality"].sel(run=curves["run"].values[0], step=10).values > 5
                frame = curves.to_dataframe()  # one row per run and step: nothing stands there twice
                assert len(frame) == 24 * steps and "seconds" not in frame, frame
            with xarray.open_dataset(path, group="seconds/" + env, engine=engine) as seconds:
                seconds.load()
                assert seconds["seconds"].dims == ("run", "step", "stage") and seconds["seconds"].dtype == np.float32
                assert list(seconds["stage"].values)[0] == "prompts" and seconds["step"].equals(curves["step"])
                assert seconds["run"].equals(curves["run"]) and seconds["seconds"].attrs["units"] == "s"
            with xarray.open_dataset(older, group="curves/" + env, engine=engine) as old:  # of schema 3, as docs/results.md says
                assert old.drop_dims("stage", errors="ignore").to_dataframe().equals(frame)
                assert old["seconds"].load().equals(seconds["seconds"])
        with xarray.open_dataset(path, group="evaluated/bandit", engine=engine) as evaluated:
            evaluated.load()
            assert evaluated["quality"].dims == ("run", "prompt") and evaluated["quality"].shape == (24, 5)
            assert list(evaluated["prompt"].values) == [0, 1, 2, 3, 4] and evaluated["length"].dtype == np.float64
            assert np.isnan(evaluated["quality"].values[6, 3]) and not np.isnan(evaluated["quality"].values[0, 4])
        with xarray.open_dataset(path, group="provenance", engine=engine) as provenance:
            assert "±" in str(provenance["suite"].values)
        print(engine, "ok")

    kept = folder + "/rollouts.h5"
    subprocess.run([sys.argv[1], kept, "rollouts"], check=True, capture_output=True)
    for engine in ("h5netcdf", "netcdf4"):
        with xarray.open_dataset(kept, engine=engine) as root, xarray.open_dataset(kept, group="rollouts/bandit", engine=engine) as rollouts:
            rollouts.load()
            assert root.attrs["schema_version"] == 5 and list(rollouts.data_vars) == "step prompt response reward advantage length quality".split()
            assert rollouts["reward"].dims == ("run", "rollout") and rollouts["reward"].shape == (24, 8) and rollouts["reward"].dtype == np.float64
            assert list(rollouts["step"].values[0, :6]) == [0, 0, 0, 10, 10, 10] and np.isnan(rollouts["step"].values[0, 6:]).all()
            assert list(rollouts["prompt"].values[6]) == [7] * 4 + [3] * 4 and np.isnan(rollouts["length"].values[6]).all()
            assert np.isnan(rollouts["reward"].values[0]).sum() == 3 and list(rollouts["rollout"].values) == list(range(8))
    print("rollouts ok")

    with netCDF4.Dataset(path) as f:
        assert f.variables["final_quality"].dimensions == ("run",)
    with h5netcdf.File(path, "r") as f:
        assert f.variables["final_quality"].dimensions == ("run",)
    with h5py.File(path) as f:
        quality = f["curves/bandit/quality"]
        assert quality.dims[0][0].name == "/curves/bandit/run" and quality.dims[1].keys() == ["step"]
        assert quality.fletcher32 and quality.shuffle and quality.compression == "gzip" and quality.chunks
        assert h5py.h5ds.is_scale(f["run"].id) and not h5py.h5ds.is_scale(f["votes"].id)
    print("h5py ok")
    for tool in (["ncdump", "-h", path], ["h5dump", "-H", path], ["h5stat", path]):
        try:
            done = subprocess.run(tool, capture_output=True, text=True)
        except FileNotFoundError:
            continue
        assert done.returncode == 0, done.stderr
        print(tool[0], "ok")
