"""Reads result files: runs as a frame, curves as arrays, tables as the program computes them (docs/results.md has the layout)."""

import contextlib
import functools
import html
import json
import os
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Union

import h5py
import numpy as np
import pandas

from . import program

if TYPE_CHECKING:
    import xarray

ABSENT = "-"  # what a table writes for an axis that a run does not have
_SINGLE = ("run", "id", "env", "rater", "policy", "estimator", "votes", "seed")  # columns of every file before its axes
_ROLLOUT = ("step", "prompt", "response", "reward", "advantage", "length", "quality")
Names = Union[str, Sequence[str], None]


def load(path: Union[str, os.PathLike]) -> "Results":
    """Reads a result file. OSError if it cannot be opened, ValueError if it is no result file."""
    return Results(path)


class Results:
    """A result file. In a notebook it shows its table.

    path        the file
    name        the suite's name
    digest      SHA-256 of all results: equal digest = same science
    suite       the suite file's text
    provenance  texts that say how the file was made, by their names in /provenance
    runs        a frame with a row for each run
    """

    def __init__(self, path: Union[str, os.PathLike]):
        self.path = os.path.abspath(os.fspath(path))
        if os.path.isfile(self.path) and os.access(self.path, os.R_OK) and not h5py.is_hdf5(self.path):
            raise ValueError(f"{self.path} is no result file of odrpo-bench")
        with h5py.File(self.path, "r") as file:
            if "result_digest" not in file.attrs or "provenance" not in file:
                raise ValueError(f"{self.path} is no result file of odrpo-bench")
            self.digest = _text(file.attrs["result_digest"])
            self.name = _text(file.attrs["suite"])
            self.provenance = {name: _text(text[()]) for name, text in file["provenance"].items()}
            self._columns = _root_columns(file)
            self.curve_names = sorted({name for group in file.get("curves", {}).values() for name, data in group.items() if data.ndim == 2})
        self.suite = self.provenance["suite"]

    @functools.cached_property
    def runs(self) -> pandas.DataFrame:
        """One row per run: id, words of the grid, votes, seed, one column per axis (by its full name, such as lr), final values, status, error, key.

        `chosen`: False for runs whose learning rate (or other axis of `best`) the suite's table did not choose for their cell; True for all where
        it chooses nothing, False for all where no run has ended well. `tuning`: True for seeds that choose, which the table's numbers leave out.
        """
        frame = pandas.DataFrame({name: column for name, column, _ in self._columns}).set_index("run")
        chosen, tuning = self._choices(frame)
        frame["chosen"], frame["tuning"] = chosen, tuning
        return frame

    def curves(self, name: str) -> "xarray.DataArray":
        """A recorded curve of every run: array [run, step], NaN where a run has no value, with each run's words, axes, seed, `chosen` and `tuning`.

        Nothing is averaged: `curves(name).sel(run=runs.index[runs.chosen & …])` picks runs, `table(curve=name)` has means and intervals.
        KeyError if the file has no such curve.
        """
        import xarray  # takes a second

        if name not in self.curve_names:
            raise KeyError(f"{self.path} has no curve {name!r}; it has {', '.join(self.curve_names) or 'none'}")
        with h5py.File(self.path, "r") as file:
            self._refuse_change(file)
            parts = [{key: group[key][()] for key in ("run", "step", name)} for group in file["curves"].values() if name in group]
            units = next(
                (_text(group[name].attrs["units"]) for group in file["curves"].values() if name in group and "units" in group[name].attrs),
                None,
            )
        runs = np.concatenate([part["run"] for part in parts])
        steps = np.unique(np.concatenate([part["step"] for part in parts]))
        values = np.full((len(runs), len(steps)), np.nan)
        row = 0
        for part in parts:
            values[row : row + len(part["run"]), np.searchsorted(steps, part["step"])] = part[name]
            row += len(part["run"])
        order = np.argsort(runs)
        frame = self.runs.loc[runs[order]]
        labels = {column: ("run", frame[column].to_numpy()) for column in [*self._labels(), "chosen", "tuning"]}
        return xarray.DataArray(
            values[order],
            dims=("run", "step"),
            coords={"run": runs[order], "step": steps, **labels},
            name=name,
            attrs={} if units is None else {"units": units},
        )

    @functools.cached_property
    def rollouts(self) -> pandas.DataFrame:
        """Rollouts that `[record] rollouts` kept, a row each in the order of runs and steps: run, step, prompt, response, reward, advantage, length, quality.

        NaN is a missing reward, or a length in a world without lengths. KeyError if the file keeps none.
        """
        with h5py.File(self.path, "r") as file:
            self._refuse_change(file)
            parts = []
            for group in file.get("rollouts", {}).values():
                rows, places = np.nonzero(~np.isnan(group["step"][()]))
                columns = {name: group[name][()][rows, places] if name in group else np.nan for name in _ROLLOUT}
                parts.append(pandas.DataFrame({"run": group["run"][()][rows], **columns}))
        if not parts:
            raise KeyError(f"{self.path} keeps no rollouts: `[record] rollouts = k` in the suite keeps those of every k-th step")
        frame = pandas.concat(parts).sort_values("run", kind="stable", ignore_index=True)
        return frame.astype({name: "int64" for name in _ROLLOUT[:3]})

    def table(
        self,
        *,
        rows: Optional[str] = None,
        columns: Optional[str] = None,
        value: Names = None,
        baseline: Union[Names, Mapping[str, Names]] = None,
        compare: Optional[str] = None,
        correction: Optional[str] = None,
        where: Optional[Mapping[str, Any]] = None,
        best: Names = None,
        tune_seeds: Optional[int] = None,
        curve: Optional[str] = None,
        power: Optional[str] = None,
    ) -> pandas.DataFrame:
        """The numbers of `odrpo-bench table`: a row for each cell, indexed by what differs between blocks, the row and the column of the table.

        Arguments are the flags of `table` (docs/tables.md); those left out are the suite's own. Columns: n, failed, undefined (numbers of seeds);
        mean, sd, lo, hi (95 % interval), or of times median, q1, q3; each axis that the cell chose, and AXIS_at_edge; pairs, difference,
        difference_sd, difference_lo, difference_hi, p, p_holm (after Holm's correction), star; among_best. A cell that is not compared has NaN
        there. `attrs` has what is said once: unit, meaning, baseline, notes, formulas, raters, and in `everywhere` what all cells share.
        InputError for flags that do not fit the file.
        """
        return _table_frame(
            self._table_json(
                rows=rows,
                columns=columns,
                value=_joined(value),
                baseline=_baselines(baseline),
                compare=compare,
                correction=correction,
                where=where,
                best=[best] if isinstance(best, str) else best,
                tune_seeds=tune_seeds,
                curve=curve,
                power=power,
            ),
            self._number_columns(),
        )

    def table_text(self, **flags: Any) -> str:
        """The table as the program prints it, with its legend; `format="latex"` and other flags of `table` are passed on."""
        self._refuse_change()
        return program.call("table", self.path, *program.flags(flags))

    def __repr__(self) -> str:
        try:
            return self.table_text()
        except RuntimeError as why:  # all runs failed, for example
            return f"<odrpo_bench.Results {self.path}, suite {self.name}, {len(self._columns[0][1])} runs: {why}>"

    def _repr_html_(self) -> str:
        return f"<pre style='line-height: 1.2; overflow-x: auto'>{html.escape(repr(self))}</pre>"

    def _labels(self) -> List[str]:
        """Names of the columns that say what a run is: those of every file, and axes."""
        return [name for name, _, axis in self._columns if axis or name in _SINGLE[1:]]

    def _number_columns(self) -> Dict[str, bool]:
        """Whether a dimension of tables holds integers, for those that hold numbers."""
        return {"step": True, **{name: column.dtype.kind == "i" for name, column, _ in self._columns if column.dtype.kind in "if"}}

    def _refuse_change(self, file: Optional[h5py.File] = None) -> None:
        """RuntimeError if the file, which may be open, is another one's by now."""
        with contextlib.nullcontext(file) if file else h5py.File(self.path, "r") as now:
            if _text(now.attrs.get("result_digest", "")) != self.digest:
                raise RuntimeError(f"{self.path} has changed since it was loaded")

    def _table_json(self, **options: Any) -> Dict[str, Any]:
        self._refuse_change()
        return json.loads(program.call("table", self.path, "--format", "json", *program.flags(options)))

    def _choices(self, frame: pandas.DataFrame):
        """The columns `chosen` and `tuning` of `runs`."""
        spec = dict(line.split(" = ", 1) for line in self.provenance["table"].splitlines() if " = " in line)
        everything = np.ones(len(frame), bool)
        if not spec.get("best"):
            return everything, ~everything
        if not (frame["status"] == "ok").any():  # there is no table
            return ~everything, frame["seed"].to_numpy() < int(spec.get("tune_seeds", 0))
        table = self._table_json()
        rows, columns, axes = table["rows"]["dimension"], table["columns"]["dimension"], table["best"]
        names = [name for name in (*table["blocks"][0]["fixed"], rows, columns) if name != "value"]
        chosen_at = {}  # by the entries of a cell in `names`
        for block in table["blocks"]:
            for cell in block["cells"]:
                place = {**block["fixed"], rows: cell["row"], columns: cell["column"]}
                chosen_at[tuple(place[name] for name in names)] = [cell["chosen"].get(axis) for axis in axes]
        entries = frame[[*names, *axes]].apply(lambda column: column.map(_entry)).to_numpy().tolist()
        chosen = [chosen_at.get(tuple(run[: len(names)])) == run[len(names) :] for run in entries]
        return np.array(chosen, bool), frame["seed"].to_numpy() < table["tune_seeds"]


def _root_columns(file: h5py.File) -> list:
    """(name, values, whether it is an axis) of the columns of the root table, in the file's order."""
    names: List[str] = []
    try:
        file.id.links.iterate(lambda name: names.append(name.decode()), idx_type=h5py.h5.INDEX_CRT_ORDER)
    except (RuntimeError, ValueError):  # a file that does not keep the order
        names = list(file)
    names = [name for name in names if isinstance(file[name], h5py.Dataset)]
    columns = []
    for name in sorted(names, key=lambda name: _SINGLE.index(name) if name in _SINGLE else len(_SINGLE)):
        data = file[name]
        values = data.asstr()[()] if h5py.check_string_dtype(data.dtype) else data[()]
        columns.append((_text(data.attrs["axis"]) if "axis" in data.attrs else name, values, "axis" in data.attrs))
    return columns


def _table_frame(table: Dict[str, Any], numbers: Mapping[str, bool]) -> pandas.DataFrame:
    """The frame of a table's JSON."""
    fixed = [block["fixed"] for block in table["blocks"]]
    differing = [name for name in (fixed[0] if fixed else {}) if len({block[name] for block in fixed}) > 1]
    names = [*differing, table["rows"]["dimension"], table["columns"]["dimension"]]
    places, cells = [], []
    for block in table["blocks"]:
        for cell in block["cells"]:
            places.append((*(block["fixed"][name] for name in differing), cell["row"], cell["column"]))
            cells.append(_cell_columns(cell))
    levels = [_level(name, [place[i] for place in places], numbers) for i, name in enumerate(names)]
    frame = pandas.DataFrame(cells, index=pandas.MultiIndex.from_arrays(levels, names=names))
    everywhere = {name: entry for name, entry in (fixed[0] if fixed else {}).items() if name not in differing}
    frame.attrs = {**{key: part for key, part in table.items() if key != "blocks"}, "everywhere": everywhere}
    return frame


_STATISTICS = ("n", "failed", "undefined", "mean", "sd", "lo", "hi", "median", "q1", "q3")


def _cell_columns(cell: Mapping[str, Any]) -> Dict[str, Any]:
    """One cell's columns. Undefined numbers are NaN."""
    out = {name: _nan(cell[name]) for name in _STATISTICS if name in cell}
    for axis, entry in {**cell.get("followed", {}), **cell.get("chosen", {})}.items():
        name = f"{axis}_axis" if axis in _STATISTICS else axis
        out[name] = _number(entry)
        for what in ("at_edge", "too_coarse"):
            if axis in cell.get(what, {}):
                out[f"{name}_{what}"] = cell[what][axis]
    compared = cell.get("difference", cell.get("percent"))
    if compared:
        out["pairs"] = compared["pairs"]
        out.update(
            {f"difference{suffix}": _nan(compared[name]) for name, suffix in (("mean", ""), ("sd", "_sd"), ("lo", "_lo"), ("hi", "_hi"))}
        )
        out.update(p=_nan(compared["p"]), p_holm=_nan(compared["p_holm"]), star=compared["star"])
        out.update(
            {f"seeds_needed_{name}": _nan(number) for name, number in compared.get("seeds_needed", {}).items() if name != "difference"}
        )
    out["among_best"] = cell["among_best"]
    return out


def _level(name: str, entries: List[str], numbers: Mapping[str, bool]) -> list:
    """Entries of a dimension: numbers where the file has numbers."""
    if name not in numbers:
        return entries
    return [np.nan if entry == ABSENT else int(entry) if numbers[name] else float(entry) for entry in entries]


def _number(entry: str) -> Any:
    try:
        return float(entry)
    except ValueError:
        return entry


def _entry(value: Any) -> str:
    """A value of a column as tables write it: numbers as briefly as reads back."""
    if isinstance(value, (float, np.floating)):
        return ABSENT if value != value else repr(float(value))[:-2] if repr(float(value)).endswith(".0") else repr(float(value))
    return str(value) or ABSENT


def _nan(value: Any) -> Any:
    return np.nan if value is None else value


def _joined(value: Names) -> Optional[str]:
    return value if value is None or isinstance(value, str) else ",".join(value)


def _baselines(baseline: Any) -> Any:
    """A baseline as --baseline takes it: a row, or rows with those that are compared with them."""
    return {row: _joined(rows) for row, rows in baseline.items()} if isinstance(baseline, Mapping) else baseline


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
