#!/usr/bin/env python3
"""Draws what benchmarks/histogram_bench measured, for docs/: share of the best read against bins, and against entropy.

Usage: plot_histogram.py histogram_bench.csv [--out docs/images] [--format svg]
Writes histogram_bins.<format> and histogram_entropy.<format>. Needs matplotlib.
SPDX-License-Identifier: MIT
"""

import math

from plots import arguments, caption, in_order, panels, read_csv, save

COLORS = {"uniform": "#0b7a4b", "normal": "#2563eb", "zipf": "#7c3aed", "runs": "#c2571a", "equal": "#6b7280"}
LABELS = {"uniform": "uniform", "normal": "normal", "zipf": "Zipf", "runs": "runs of 61", "equal": "all equal"}
ELEMENTS = {"float": "floats", "uint16": "2-byte integers", "uint8": "bytes"}
PANELS = [("uint8", 256), ("float", 256), ("float", 4096), ("float", 65536), ("float", 1 << 18)]  # of the entropy
CANDIDATES = {"gpuopt": "-", "CUB": ":"}


def read(path):
    """The header, and the rows of one channel and many samples."""
    header, rows = read_csv(path)
    rows = [row for row in rows if row["element"] in ELEMENTS and row["case"] != "small" and row["candidate"] in CANDIDATES]
    for row in rows:
        row.update(bins=int(row["bins"]), ratio=float(row["ratio"]))
    return header, rows


def normal_shares(bins):
    """Of samples with mean 1/2 and deviation 1/8 over [0, 1); the outer bins have what is beyond."""
    cumulative = [0.5 * (1 + math.erf((b / bins - 0.5) * 8 / math.sqrt(2))) for b in range(bins + 1)]
    cumulative[0], cumulative[-1] = 0, 1
    return [high - low for low, high in zip(cumulative, cumulative[1:])]


def entropy(distribution, bins):
    """Bits of a sample's bin: 0 if all samples are in one, log2(bins) if every bin is as likely. Runs are as uniform
    samples, though 61 neighbours are equal."""
    if distribution == "equal" or bins == 1:
        return 0.0
    if distribution in ("uniform", "runs"):
        return math.log2(bins)
    if distribution == "zipf":
        shares = [math.log((rank + 1) / rank) / math.log(bins) for rank in range(1, bins)]
    else:
        shares = normal_shares(bins)
    return -sum(share * math.log2(share) for share in shares if share > 0)


def finish(axes, title, label):
    axes.set(ylim=(0, 1.12), title=title, xlabel=label)
    axes.grid(alpha=0.25)


def draw_bins(header, rows, path):
    """The panels' lines: gpuopt's solid, CUB's dotted."""
    kinds = [kind for kind in in_order((row["element"] for row in rows), ELEMENTS)
             if len({row["bins"] for row in rows if row["element"] == kind}) > 1]
    figure, grid = panels(len(kinds), 2, 4.8, 3.4)
    for axes, kind in zip(grid.flat, kinds):
        for name, color in COLORS.items():
            for candidate, style in CANDIDATES.items():
                points = sorted((row["bins"], row["ratio"]) for row in rows
                                if (row["element"], row["distribution"], row["candidate"]) == (kind, name, candidate))
                label = LABELS[name] if candidate == "gpuopt" else None
                axes.plot(*zip(*points), label=label, color=color, linestyle=style, marker=".", markersize=4, linewidth=1.4)
        axes.set_xscale("log", base=2)
        finish(axes, ELEMENTS[kind], "bins")
    legend(figure, grid, header, "Histograms of 1 GiB by number of bins; dotted: CUB")
    save(figure, path)


def draw_entropy(header, rows, path):
    """A panel for each number of bins: gpuopt's points are full, CUB's hollow."""
    cases = [case for case in PANELS if any((row["element"], row["bins"]) == case for row in rows)]
    figure, grid = panels(len(cases), 5, 2.9, 2.9)
    for axes, (kind, count) in zip(grid.flat, cases):
        for name, color in COLORS.items():
            for row in rows:
                if (row["element"], row["bins"], row["distribution"]) == (kind, count, name):
                    own = row["candidate"] == "gpuopt"
                    axes.plot(entropy(name, count), row["ratio"], "o", color=color, markersize=5,
                              fillstyle="full" if own else "none", label=LABELS[name] if own else None)
        finish(axes, "%s, $2^{%d}$ bins" % (ELEMENTS[kind], round(math.log2(count))), "bits of a sample's bin")
    legend(figure, grid, header, "Histograms of 1 GiB by the entropy of their bins; hollow: CUB")
    save(figure, path)


def legend(figure, grid, header, title):
    for line in grid:
        line[0].set_ylabel("share of the best read")
    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower right", ncols=len(labels), frameon=False)
    figure.suptitle("%s\n%s" % (title, caption(header)), fontsize=10)


def main():
    options = arguments(__doc__).parse_args()
    header, rows = read(options.csv)
    draw_bins(header, rows, options.out / ("histogram_bins." + options.format))
    draw_entropy(header, rows, options.out / ("histogram_entropy." + options.format))


if __name__ == "__main__":
    main()
