#!/usr/bin/env python3
# Reference figures of rliable, scipy and statsmodels for bootstrap_test.cpp, statistics_test.cpp and significance_test.cpp: `--write` freezes them in
# statistics_reference.hpp; without it the frozen file is compared with what the installed packages say now (exit 77 without them).
import argparse, os, re, sys

try:
    import numpy as np
    import scipy, scipy.stats
    import rliable
    from rliable import library, metrics
    import statsmodels
    from statsmodels.stats.multitest import multipletests
    from importlib.metadata import version
    rliable_version = version("rliable")
except (ImportError, TypeError) as missing:  # arch 7.2 raises the second with pandas 3
    print(f"skipped: {missing}")
    sys.exit(77)

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from reference import picks

HEADER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "statistics_reference.hpp")
RESAMPLES, SEED = 2000, 20261


def intervals(samples, statistic):
    """scipy's percentile and BCa intervals of the same resamples: [percentile lo, hi, BCa lo, hi]."""
    drawn = [picks(len(s), RESAMPLES, SEED, t) for t, s in enumerate(samples)]
    resampled = np.array([statistic(*(s[p[b]] for s, p in zip(samples, drawn))) for b in range(RESAMPLES)])
    estimate = statistic(*samples)
    resampled[np.isclose(resampled, estimate, rtol=0, atol=1e-13 * np.max(np.abs(resampled)))] = estimate  # ties but for rounding
    found = scipy.stats._resampling.BootstrapResult(confidence_interval=None, bootstrap_distribution=resampled, standard_error=None)
    out = []
    for method in ("percentile", "BCa"):
        r = scipy.stats.bootstrap(samples, statistic, n_resamples=0, bootstrap_result=found, method=method, vectorized=False)
        out += [r.confidence_interval.low, r.confidence_interval.high]
    return out


def iqm(x):
    return scipy.stats.trim_mean(x, 0.25)


def lists(matrix):
    return [[float(v) for v in row] for row in matrix]


def figures():
    rng = np.random.default_rng(14)
    x = np.round(rng.normal(0.5, 0.25, (10, 4)), 3)  # runs x tasks
    y = np.round(rng.normal(0.45, 0.3, (7, 4)), 1)
    x[3, 2] = y[2, 2]  # a tie
    taus = [0.2, 0.5, 0.9]
    ragged = [np.round(rng.gamma(2, 1, n), 3) for n in (5, 7, 9)]
    skewed = np.round(rng.gamma(1.2, 1, 18), 3)
    tied = rng.integers(0, 4, 15).astype(float)
    tests = [np.round(np.random.default_rng(n).uniform(0, 1, n) ** 3, 4) for n in (1, 2, 5, 12, 40)]
    return {
        "x": lists(x.T),
        "y": lists(y.T),
        "taus": [taus],
        # mean, median, IQM, optimality gap to 0.6, P(x > y)
        "aggregates": [[metrics.aggregate_mean(x), metrics.aggregate_median(x), metrics.aggregate_iqm(x),
                        metrics.aggregate_optimality_gap(x, 0.6), metrics.probability_of_improvement(x, y)]],
        "run_scores": [library.score_distributions(x, np.array(taus))],
        "average_scores": [library.average_score_distributions(x, np.array(taus))],
        "ragged": lists(ragged),
        "skewed": lists([skewed]),
        "tied": lists([tied]),
        "p_values": lists(tests),
        "holm": lists(multipletests(p, method="holm")[1] for p in tests),
        # of each: percentile lo, hi, BCa lo, hi
        "mean_of_ragged": [intervals(ragged, lambda a, b, c: (np.mean(a) + np.mean(b) + np.mean(c)) / 3)],
        "mean_of_skewed": [intervals([skewed], np.mean)],
        "iqm_of_skewed": [intervals([skewed], iqm)],
        "mean_of_tied": [intervals([tied], np.mean)],
        "median_of_tied": [intervals([tied], np.median)],
    }


def text_of(found):
    lines = ["// Figures of rliable, scipy and statsmodels: written by statistics_reference.py, which says how they were made.", "#pragma once",
             "#include <vector>", "", "namespace reference {", "",
             f"inline constexpr int resamples = {RESAMPLES};", f"inline constexpr unsigned seed = {SEED};",
             f"// rliable {rliable_version}, scipy {scipy.__version__}, numpy {np.__version__}, statsmodels {statsmodels.__version__}"]
    for name, rows in found.items():
        body = ",\n    ".join("{" + ", ".join(repr(float(v)) for v in row) + "}" for row in rows)
        lines.append(f"inline const std::vector<std::vector<double>> {name} = {{\n    {body}}};")
    return "\n".join(lines + ["", "}  // namespace reference", ""])


def frozen():
    found = {}
    for name, body in re.findall(r"std::vector<double>> (\w+) = \{(.*?)\};", open(HEADER).read(), re.S):
        found[name] = [[float(v) for v in row.split(",")] for row in re.findall(r"\{([^{}]*)\}", body)]
    return found


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--write", action="store_true")
    now = figures()
    if arguments.parse_args().write:
        open(HEADER, "w").write(text_of(now))
        return 0
    was, worst = frozen(), 0.0
    for name, rows in now.items():
        for got, want in zip(rows, was[name], strict=True):
            worst = max(worst, float(np.max(np.abs(np.asarray(got) - np.asarray(want)))))
    print(f"statistics_reference: {len(now)} figures, largest difference from the frozen ones {worst:.3g} (allowed 1e-12)")
    # rliable draws its own resamples: its percentile interval agrees with ours up to the noise of both
    x = np.array(was["x"]).T
    _, theirs = library.get_interval_estimates({"x": x}, lambda s: np.array([metrics.aggregate_iqm(s)]), reps=20000)
    drawn = np.stack([x[picks(len(x), RESAMPLES, SEED, t), t] for t in range(x.shape[1])], axis=-1)
    ours = np.percentile(scipy.stats.trim_mean(drawn.reshape(RESAMPLES, -1), 0.25, axis=1), [2.5, 97.5])
    apart = float(np.max(np.abs(theirs["x"][:, 0] - ours)) / (ours[1] - ours[0]))
    print(f"rliable's percentile interval of the IQM, 20000 resamples: {apart:.3f} widths from ours of {RESAMPLES} (allowed 0.06)")
    return 0 if worst <= 1e-12 and apart <= 0.06 else 1


sys.exit(main())
