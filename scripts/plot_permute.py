#!/usr/bin/env python3
"""Draws what benchmarks/permute_bench measured, for docs/: the cases of each set from the worst to the best.

Usage: plot_permute.py permute_bench.csv [--out docs/images] [--format svg]
Writes permute_sets. Needs matplotlib.
SPDX-License-Identifier: MIT
"""

from matplotlib.lines import Line2D
from plot_transpose import ELEMENTS, bytes_label
from plots import arguments, caption, in_order, panels, read_csv, save

STYLES = {"gpuopt": "-", "cutensorPermute": ":"}


def draw_set(axes, name, rows):
    shares = {}
    for row in rows:
        if row["case"] == name and row["candidate"] in STYLES:
            shares.setdefault((row["element"], row["candidate"]), []).append(float(row["ratio"]))
    for (element, candidate), values in shares.items():
        values.sort()
        ends = [100 * (i + 1) / len(values) for i in range(len(values))]
        axes.step([0, *ends], [values[0], *values], color=ELEMENTS[element], linestyle=STYLES[candidate], linewidth=1.2)
    axes.axhline(1, color="#9ca3af", linewidth=0.8, linestyle="--")
    axes.set(title=name, ylim=(0, 1.15))
    axes.grid(alpha=0.25)


def main():
    options = arguments(__doc__).parse_args()
    header, rows = read_csv(options.csv)
    names = list(dict.fromkeys(row["case"] for row in rows))
    figure, grid = panels(len(names), 3, 3.4, 2.3)
    for axes, name in zip(grid.flat, names):
        draw_set(axes, name, rows)
    for line in grid:
        line[0].set_ylabel("speed over the best copy's")
    elements = in_order((row["element"] for row in rows), ELEMENTS)
    lines = [Line2D([], [], color=ELEMENTS[element], label=bytes_label(element)) for element in elements]
    lines += [Line2D([], [], color="#444444", linestyle=style, label=name) for name, style in STYLES.items()]
    figure.legend(handles=lines, loc="outside lower right", ncols=len(lines), frameon=False)
    figure.suptitle("Permutations: per cent of a set's cases, from the worst; L2 flushed by writes, below 1 MiB in a graph\n"
                    + caption(header), fontsize=10)
    save(figure, options.out / ("permute_sets." + options.format))


if __name__ == "__main__":
    main()
