"""Draws the figures of `odrpo-bench plot` with matplotlib: the program computes numbers, labels and looks, and a person may change the axes."""

import io
import json
import math
import os
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Union

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from . import program
from .results import Results, _baselines, _joined

DASHES: Dict[str, Any] = {
    "solid": "solid",
    "dashed": (0, (5, 2)),
    "dotted": (0, (1.5, 1.5)),
    "dash-dotted": (0, (7, 2, 1.5, 2)),
    "finely dotted": (0, (1, 2)),
}
SYMBOLS = {"circle": "o", "square": "s", "triangle": "^", "diamond": "D", "triangle-down": "v", "pentagon": "p", "star": "*"}
HATCHES = {"solid": "", "dashed": "///", "dotted": "...", "dash-dotted": "xxx", "finely dotted": "\\\\\\"}
COLUMN, PAGE = 3.25, 5.5  # inches: a column of most conferences, and a page where there are several panels
TEXT = 7.5  # points
MARKED_POINTS = 12  # a line with more points has symbols at some of them only


def plot(
    results: Union[Results, str, os.PathLike, None], kind: str, *, axes: Union[Axes, Sequence[Any], None] = None, **flags: Any
) -> Figure:
    """Draws what `odrpo-bench plot KIND` draws, and returns the figure; `figure.axes` begins with its panels, in the program's order.

    results   a result file, loaded or by its path; None for `weights`
    kind      curves, votes, levels, bars, forest, heatmap, histogram, profile or weights (docs/figures.md)
    axes      axes to draw into, one for each panel, nested or not, instead of a new figure
    flags     those of `plot`: rows, columns, value, baseline, compare, correction, where, best, tune_seeds, curve; of weights rewards, estimator, levels

    `figure.caption` is a text for the caption: what numbers and intervals are, n, suite and digest. InputError for an unknown kind, or flags that do
    not fit; ValueError for another number of axes than panels.
    """
    drawn = figure_data(results, kind, **flags)
    panels = [_without_math(panel) for panel in drawn["panels"]]
    if axes is not None:
        places = list(np.ravel(np.array(axes, dtype=object)))
        if len(places) != len(panels):
            raise ValueError(f"the figure {kind} has {len(panels)} panels, and there are {len(places)} axes")
        _draw(panels, places)
        if _names(panels):
            places[-1].legend()
    else:
        with rc_context({"font.size": TEXT}):
            places = _new_axes(panels)
            _draw(panels, places)
            _legend_below(places, _names(panels))
    figure = places[0].figure
    figure.caption = drawn["caption"]
    return figure


def figure_data(results: Union[Results, str, os.PathLike, None], kind: str, **flags: Any) -> Dict[str, Any]:
    """The figure as `plot --json` writes it: `caption` and `panels` with labels, scales and series (docs/figures.md)."""
    if isinstance(results, Results):
        results._refuse_change()
    path = [] if results is None else [results.path if isinstance(results, Results) else program.file(results)]
    for name, change in (("value", _joined), ("baseline", _baselines), ("rewards", _groups)):
        if name in flags:
            flags[name] = change(flags[name])
    return json.loads(program.call("plot", kind, *path, "--json", *program.flags(flags)))


def _groups(rewards: Any) -> Any:
    """Groups of rewards as --rewards takes them; one group may be a list of numbers."""
    if isinstance(rewards, str):
        return rewards
    groups = [rewards] if len(rewards) and np.ndim(rewards[0]) == 0 and not isinstance(rewards[0], str) else rewards
    return [group if isinstance(group, str) else ",".join(map(str, group)) for group in groups]


def _without_math(part: Any) -> Any:
    """Texts in which $ is a sign: matplotlib would read formulas between two of them."""
    if isinstance(part, str):
        return part.replace("$", r"\$")
    if isinstance(part, dict):
        return {key: _without_math(one) for key, one in part.items()}
    return [_without_math(one) for one in part] if isinstance(part, list) and part and not isinstance(part[0], (int, float)) else part


def _draw(panels: List[Dict[str, Any]], places: List[Axes]) -> None:
    for panel, place in zip(panels, places):
        _DRAW[panel["kind"]](place, panel)
        place.set_title(panel["title"], loc="left", fontsize="medium")
        place.set_xlabel(panel["x_label"])


def _names(panels: List[Dict[str, Any]]) -> List[str]:
    """Names of a legend; none where lines have their names beside them."""
    return list(
        dict.fromkeys(series["name"] for panel in panels if panel["kind"] in ("lines", "steps", "bars") for series in panel["series"])
    )


class _Figure(Figure):
    """A figure that a notebook shows, once: pyplot does not know it."""

    def _repr_png_(self) -> bytes:
        image = io.BytesIO()
        self.savefig(image, format="png", dpi=150)
        return image.getvalue()


def _new_axes(panels: List[Dict[str, Any]]) -> List[Axes]:
    """Axes for the panels: two beside each other, where there are several."""
    across = min(len(panels), 2)
    down = math.ceil(len(panels) / across)
    height = max(0.6 + (0.3 if panel["kind"] == "ridges" else 0.16) * len(panel["y_names"]) if panel["y_names"] else 1.9 for panel in panels)
    figure = _Figure(figsize=(COLUMN if len(panels) == 1 else PAGE, down * height), layout="constrained")
    FigureCanvasAgg(figure)
    places = figure.subplots(down, across, squeeze=False)
    for place in places.flat[len(panels) :]:
        place.remove()
    return list(places.flat[: len(panels)])


def _legend_below(places: List[Axes], names: List[str]) -> None:
    """Adds a legend below the panels, and its height to the figure."""
    if not names:
        return
    figure = places[0].figure
    shown = {}
    for place in places:
        shown.update({label: handle for handle, label in zip(*place.get_legend_handles_labels())})
    width, height = figure.get_size_inches()
    columns = max(1, int(width / (0.5 + TEXT / 72 * 0.55 * max(map(len, names)))))
    lines = 0.1 + math.ceil(len(names) / columns) * 1.6 * TEXT / 72
    figure.set_size_inches(width, height + lines)
    figure.get_layout_engine().set(rect=(0, lines / (height + lines), 1, height / (height + lines)))
    figure.legend([shown[name] for name in names], names, loc="lower center", ncol=columns, frameon=False, handlelength=2.5)


def _numbers(values: Sequence[Optional[float]]) -> np.ndarray:
    return np.array(values, dtype=float)  # null is NaN


def _has_intervals(series: Mapping[str, Any]) -> bool:
    return any(end is not None for end in series["lo"])


def _errors(centre: np.ndarray, series: Mapping[str, Any]) -> np.ndarray:
    """Lengths of intervals below and above the centre, as matplotlib takes them."""
    return np.stack([centre - _numbers(series["lo"]), _numbers(series["hi"]) - centre])


def _lines(axes: Axes, panel: Mapping[str, Any]) -> None:
    if "background" in panel:
        behind = axes.twinx()
        behind.bar(panel["background"]["x"], panel["background"]["y"], width=0.8, color="#D9D9D9")
        behind.set_ylabel(panel["background_label"])
        axes.set_zorder(behind.get_zorder() + 1)
        axes.set_frame_on(False)
    x_all = [x for series in panel["series"] for x in series["x"]]
    for s, series in enumerate(panel["series"]):
        x, y = _numbers(series["x"]), _numbers(series["y"])
        aside = s - (len(panel["series"]) - 1) / 2
        if _has_intervals(series) and panel["bands"]:
            axes.fill_between(x, _numbers(series["lo"]), _numbers(series["hi"]), color=series["colour"], alpha=0.12, linewidth=0)
        elif _has_intervals(series):  # so that intervals at one x do not cover each other
            at = x * 1.03 ** aside if panel["log_x"] else x + 0.008 * aside * (max(x_all) - min(x_all))
            axes.errorbar(at, y, _errors(y, series), color=series["colour"], linewidth=0, elinewidth=0.8, capsize=2)
        axes.plot(
            x,
            y,
            color=series["colour"],
            linestyle=DASHES[series["dash"]],
            marker=SYMBOLS[series["symbol"]],
            markersize=3,
            linewidth=1.2,
            markevery=max(len(x) // 6, 1) if len(x) > MARKED_POINTS else 1,
            label=series["name"],
        )
    if panel["log_x"]:
        axes.set_xscale("log", base=2)
    if panel["x_ticks"]:
        axes.set_xticks(panel["x_ticks"], [f"{x:g}" for x in panel["x_ticks"]])
        axes.minorticks_off()
    if panel["y_from_zero"]:
        axes.set_ylim(bottom=0)
    axes.set_ylabel(panel["y_label"])


def _steps(axes: Axes, panel: Mapping[str, Any]) -> None:
    for series in panel["series"]:
        x = _numbers(series["x"])
        if _has_intervals(series):
            axes.fill_between(
                x, _numbers(series["lo"]), _numbers(series["hi"]), step="post", color=series["colour"], alpha=0.12, linewidth=0
            )
        axes.plot(
            x,
            _numbers(series["y"]),
            drawstyle="steps-post",
            color=series["colour"],
            linestyle=DASHES[series["dash"]],
            linewidth=1.2,
            label=series["name"],
        )
    axes.set_ylabel(panel["y_label"])


def _bars(axes: Axes, panel: Mapping[str, Any]) -> None:
    width = 0.8 / len(panel["series"])
    for s, series in enumerate(panel["series"]):
        y = _numbers(series["y"])
        axes.bar(
            _numbers(series["x"]) + width * (s + 0.5) - 0.4,
            y,
            0.92 * width,
            color=series["colour"],
            hatch=HATCHES[series["dash"]],
            edgecolor="white",
            yerr=_errors(y, series) if _has_intervals(series) else None,
            error_kw={"elinewidth": 0.8, "capsize": 2, "ecolor": "#808080"},
            label=series["name"],
        )
    axes.set_xticks(range(len(panel["x_names"])), panel["x_names"])
    axes.set_ylabel(panel["y_label"])


def _forest(axes: Axes, panel: Mapping[str, Any]) -> None:
    axes.axvline(0, color="#888888", linewidth=0.8)
    for series in panel["series"]:
        x = _numbers(series["x"])
        axes.errorbar(
            x,
            series["y"],
            xerr=_errors(x, series) if _has_intervals(series) else None,
            color=series["colour"],
            elinewidth=1,
            linewidth=0,
            marker=SYMBOLS[series["symbol"]],
            markersize=4,
            markerfacecolor=series["colour"] if all(series["filled"]) else "white",
        )
    axes.set_yticks(range(len(panel["y_names"])), panel["y_names"])
    axes.set_ylim(len(panel["y_names"]) - 0.4, -0.6)


def _ridges(axes: Axes, panel: Mapping[str, Any]) -> None:
    """Histograms one below the other; the highest bin of the panel is 0.85 high."""
    most = max(max(_numbers(series["y"])) for series in panel["series"])
    for row, series in enumerate(panel["series"]):
        top = row + 0.4 - 0.85 * _numbers(series["y"]) / most
        axes.fill_between(
            _numbers(series["x"]), row + 0.4, top, step="post", facecolor=series["colour"], edgecolor=series["colour"], alpha=0.5
        )
    axes.set_yticks(range(len(panel["y_names"])), panel["y_names"])
    axes.set_ylim(len(panel["y_names"]) - 0.5, -0.6)


def _heatmap(axes: Axes, panel: Mapping[str, Any]) -> None:
    cells = np.full((len(panel["y_names"]), len(panel["x_names"])), np.nan)
    for row, series in enumerate(panel["series"]):
        cells[row, np.array(series["x"], dtype=int)] = _numbers(series["y"])
    image = axes.imshow(cells, cmap="viridis", aspect="auto")
    least, largest = np.nanmin(cells), np.nanmax(cells)
    for (row, column), value in np.ndenumerate(cells):
        if not np.isnan(value):
            axes.text(
                column,
                row,
                f"{value:.{panel['decimals']}f}",
                ha="center",
                va="center",
                fontsize="x-small",
                color="white" if value < least + 0.55 * (largest - least) else "black",
            )
    axes.set_xticks(range(len(panel["x_names"])), panel["x_names"])
    axes.set_yticks(range(len(panel["y_names"])), panel["y_names"])
    axes.figure.colorbar(image, ax=axes, label=panel["y_label"])


_DRAW: Dict[str, Callable[[Axes, Mapping[str, Any]], None]] = {
    "lines": _lines,
    "steps": _steps,
    "bars": _bars,
    "forest": _forest,
    "heatmap": _heatmap,
    "ridges": _ridges,
}
