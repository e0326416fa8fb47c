#!/usr/bin/env python3
"""Draws what benchmarks/struct_bench measured, for docs/: speed against the size of structures.

Usage: plot_structs.py struct_bench.csv [--out docs/images] [--format svg]
Writes struct_sizes. Needs matplotlib.
SPDX-License-Identifier: MIT
"""

from plots import arguments, caption, panels, read_csv, save

CANDIDATES = {"gpuopt": "#0b7a4b", "direct": "#6b7280", "cub::DeviceTransform::Transform": "#c2571a", "thrust::transform": "#2563eb"}
ALIGNMENTS = {"1": "aligned to 1 byte", "4": "aligned to 4 bytes", "16": "aligned to 16 bytes"}
GROUPS = ("words", "aligned", "large", "odd")


def sizes(rows, candidate, align):
    """(bytes of a structure, ratio to the best copy), in the order of sizes."""
    chosen = [row for row in rows if row["candidate"] == candidate and row["align"] == align and row["case"] in GROUPS]
    return sorted((int(row["element"]), float(row["ratio"])) for row in chosen)


def draw(axes, rows, align):
    for name, color in CANDIDATES.items():
        points = sizes(rows, name, align)
        if points:
            axes.plot(*zip(*points), label=name, color=color, marker=".", markersize=4, linewidth=1.4)
    axes.axhline(1, color="#9ca3af", linewidth=0.8, linestyle="--")
    axes.set(ylim=(0, 1.05), xlim=(0, 260), title=ALIGNMENTS[align], xlabel="bytes of a structure")
    axes.set_xticks(range(0, 257, 64))


def main():
    options = arguments(__doc__).parse_args()
    header, rows = read_csv(options.csv)
    figure, grid = panels(len(ALIGNMENTS), 3, 3.1, 2.6)
    for axes, align in zip(grid.flat, ALIGNMENTS):
        draw(axes, rows, align)
    grid[0, 0].set_ylabel("ratio to the best copy")
    grid[0, 1].legend(fontsize=7)
    figure.suptitle("transformStructs, 1 GiB read and 1 GiB written\n%s" % caption(header), fontsize=9)
    save(figure, options.out / ("struct_sizes." + options.format))


if __name__ == "__main__":
    main()
