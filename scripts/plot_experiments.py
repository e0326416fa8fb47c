#!/usr/bin/env python3
"""Draws what the experiments measured: sweeps as curves, all else as bars; one picture for each experiment.

Usage: plot_experiments.py build/ladders/experiments.csv [--out build/ladders]
Writes experiment_<name>.<format>. Needs matplotlib.
SPDX-License-Identifier: MIT
"""

import re
import textwrap

import matplotlib.pyplot as plt
from plots import arguments, caption, make_folder, read_csv, save

COLORS = ["#0b7a4b", "#c2571a", "#3b6fb6", "#a7d3bf", "#8a5fa8", "#777777"]
UNITS = ["us", "ms", "ns", "cycles", "a cycle", "registers", "local bytes", "GB/s", "GFLOP/s", "G/s", "of stride 1"]


def distinct(values):
    return list(dict.fromkeys(values))


def is_sweep(names):
    """Whether the rows are numbers or sizes, in order."""
    return len(names) > 4 and all(re.fullmatch(r"\d+( [KMG]iB)?", name) for name in names)


def draw_curves(axes, names, columns):
    for color, (column, values) in zip(COLORS, columns.items()):
        axes.plot(range(len(names)), [values.get(name) for name in names], marker="o", markersize=3, color=color, label=column)
    axes.set_xticks(range(len(names)), names, rotation=45 if len(names[0]) > 3 else 0)
    axes.set_ylim(bottom=0)


def draw_bars(axes, names, columns):
    height = 0.8 / len(columns)
    for number, (color, (column, values)) in enumerate(zip(COLORS, columns.items())):
        places = [place + (number - (len(columns) - 1) / 2) * height for place in range(len(names))]
        axes.barh(places, [values.get(name, 0) for name in names], height=0.9 * height, color=color, label=column)
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()


def unit(column):
    """What stands behind the comma, or the whole of a column that is one; others share what the title says."""
    return column.split(", ")[-1] if ", " in column or column in UNITS else ""


def by_unit(columns):
    """The columns of each unit: they share an axis."""
    return [{column: values for column, values in columns.items() if unit(column) == each} for each in distinct(map(unit, columns))]


def panels(rows):
    """(title, names of rows, {column: {row: value}}) of each picture in the picture."""
    for title in distinct(row["table"] for row in rows):
        table = [row for row in rows if row["table"] == title]
        columns = {column: {row["row"]: float(row["value"]) for row in table if row["measured"] == column and row["value"]}
                   for column in distinct(row["measured"] for row in table)}
        for part in by_unit(columns):
            yield title, distinct(row["row"] for row in table), part


def draw(header, rows, path):
    shown = list(panels(rows))
    heights = [2.6 if is_sweep(names) else 0.3 * len(names) * max(1, len(columns) / 2) + 1.1 for _, names, columns in shown]
    figure, grid = plt.subplots(len(shown), 1, figsize=(8, sum(heights) + 0.5), squeeze=False, layout="constrained",
                                gridspec_kw={"height_ratios": heights})
    for axes, (title, names, columns) in zip(grid.flat, shown):
        (draw_curves if is_sweep(names) else draw_bars)(axes, names, columns)
        axes.set_title("\n".join(textwrap.wrap(title, 100)), fontsize=8, loc="left")
        axes.legend(fontsize=7, frameon=False)
    figure.suptitle("%s\n%s" % (rows[0]["experiment"].replace("_", " "), caption(header)), fontsize=10)
    save(figure, path)


def main():
    parser = arguments(__doc__)
    parser.set_defaults(out=make_folder("build/ladders"))
    options = parser.parse_args()
    header, rows = read_csv(options.csv)
    rows = [row for row in rows if row["measured"]]
    if not rows:
        print("%s: no times, nothing to draw" % options.csv)
    for name in distinct(row["experiment"] for row in rows):
        draw(header, [row for row in rows if row["experiment"] == name],
             options.out / ("experiment_%s.%s" % (name, options.format)))


if __name__ == "__main__":
    main()
