#!/usr/bin/env python3
"""Draws what the ladders measured: the steps of each workload as bars, the best copy as a line.

Usage: plot_ladders.py build/ladders/reduction_ladder.csv [build/ladders/transpose_ladder.csv] [--out build/ladders]
Writes <name of the file>.<format> for each file. Needs matplotlib.
SPDX-License-Identifier: MIT
"""

from pathlib import Path

import matplotlib.pyplot as plt
from plots import arguments, caption, make_folder, read_csv, save

LAUNCHES, INSIDE, COPY = "#0b7a4b", "#a7d3bf", "#c2571a"


def number(text):
    return float(text) if text else 0


def draw_panel(axes, rows):
    places = range(len(rows))
    axes.barh([place - 0.2 for place in places], [number(row["launches_gbps"]) for row in rows], height=0.38, color=LAUNCHES,
              label="over launches")
    axes.barh([place + 0.2 for place in places], [number(row["inside_gbps"]) for row in rows], height=0.38, color=INSIDE,
              label="inside the kernel")
    copy = number(rows[0]["copy_gbps"])
    axes.axvline(copy, color=COPY, linestyle="--", linewidth=1, label="best copy on as many bytes")
    # Inside the kernel the caches answer, at many times the speed of a copy: such bars may leave the picture.
    limit = 1.3 * max([copy, *(number(row["launches_gbps"]) for row in rows)])
    axes.set(xlim=(0, limit), title=rows[0]["workload"], xlabel="GB/s")
    axes.set_yticks(places, [row["step"] for row in rows])
    axes.invert_yaxis()
    for place, row in zip(places, rows):
        then = "then %s" % row["then_launches_gbps"] if row["then_launches_gbps"] else ""
        axes.text(0.995 * limit, place - 0.2, then, ha="right", va="center", fontsize=6, color="#444444")
        if number(row["inside_gbps"]) > limit:
            axes.text(0.995 * limit, place + 0.2, "%.0f →" % number(row["inside_gbps"]), ha="right", va="center", fontsize=6)


def draw(header, rows, path):
    workloads = list(dict.fromkeys(row["workload"] for row in rows))
    longest = max(sum(row["workload"] == workload for row in rows) for workload in workloads)
    figure, grid = plt.subplots(1, len(workloads), figsize=(4.6 * len(workloads), 0.34 * longest + 1.5), squeeze=False,
                                layout="constrained")
    for axes, workload in zip(grid.flat, workloads):
        draw_panel(axes, [row for row in rows if row["workload"] == workload])
    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower right", ncols=len(labels), frameon=False)
    figure.suptitle("%s\n%s" % (header["program"].replace("_", " "), caption(header)), fontsize=10)
    save(figure, path)


def main():
    parser = arguments(__doc__)
    parser.add_argument("more", nargs="*", help="further files")
    parser.set_defaults(out=make_folder("build/ladders"))
    options = parser.parse_args()
    for name in (options.csv, *options.more):
        header, rows = read_csv(name)
        rows = [row for row in rows if row["launches_gbps"]]
        if rows:
            draw(header, rows, options.out / ("%s.%s" % (Path(name).stem, options.format)))
        else:
            print("%s: no times, nothing to draw" % name)


if __name__ == "__main__":
    main()
