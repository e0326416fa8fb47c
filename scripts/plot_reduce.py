#!/usr/bin/env python3
"""Draws what benchmarks/reduce_bench measured, for docs/: throughput against length, and the ratios to CUB.

Usage: plot_reduce.py reduce_bench.csv [--out docs/images] [--format svg] [--modes cold-write,wall]
Writes reduce_<mode>.<format> for each mode and reduce_ratios.<format>. Needs matplotlib.
SPDX-License-Identifier: MIT
"""

import math

import matplotlib.pyplot as plt
from matplotlib.colors import TwoSlopeNorm
from plots import arguments, caption, in_order, panels, read_csv, save, size

COLORS = {"gpuopt": "#0b7a4b", "cub::DeviceReduce::Reduce": "#c2571a", "thrust::reduce": "#6b7280"}
LABELS = {"float": "float", "double": "double", "half": "half → float", "bfloat16": "bfloat16 → float", "int8": "int8 → int32",
          "float3": "float3", "struct20": "struct of 20 bytes"}
MODES = {"cold-write": "L2 flushed by writes", "cold-read": "L2 flushed by reads", "hot": "the same call just before",
         "graph": "replayed graph", "wall": "host time, call and synchronisation",
         "interleaved": "L2 flushed by writes, other kernels before", "interleaved-wall": "host time, other kernels before"}


def read(path):
    """The header as a dictionary, and the rows of the sums."""
    header, rows = read_csv(path)
    rows = [row for row in rows if row["case"] == "sum"]
    for row in rows:
        row.update(n=int(row["n"]), bytes=int(row["bytes"]), gbps=float(row["gbps"]), us=float(row["us"]), ratio=float(row["ratio"]))
    return header, rows


def draw_panel(axes, rows, header):
    for candidate, color in COLORS.items():
        points = sorted((row["bytes"], row["gbps"]) for row in rows if row["candidate"] == candidate)
        if points:
            axes.plot(*zip(*points), label=candidate, color=color, marker=".", markersize=3, linewidth=1.4)
    axes.axhline(float(header["copy_gbps"]), color="#9ca3af", linewidth=0.8, linestyle="--", label="copy")
    exponents = range(10, 34, 4)
    axes.set(xscale="log", ylim=(0, None), title=LABELS.get(rows[0]["type"], rows[0]["type"]))
    axes.set_xticks([2**e for e in exponents], [size(e) for e in exponents], fontsize=7)
    axes.minorticks_off()
    axes.grid(alpha=0.25)


def draw_throughput(header, rows, mode, path):
    rows = [row for row in rows if row["mode"] == mode]
    types = in_order((row["type"] for row in rows), LABELS)
    figure, grid = panels(len(types), 4, 3.2, 2.5)
    for axes, kind in zip(grid.flat, types):
        draw_panel(axes, [row for row in rows if row["type"] == kind], header)
    for line in grid:
        line[0].set_ylabel("GB/s of input")
    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower right", ncols=len(labels), frameon=False)
    figure.suptitle("Sums, %s\n%s" % (MODES.get(mode, mode), caption(header)), fontsize=10)
    save(figure, path)


def draw_table(axes, rows, types, lengths, norm):
    table = {(row["type"], row["n"]): row["ratio"] for row in rows}
    cells = [[table.get((kind, n), math.nan) for n in lengths] for kind in types]
    image = axes.imshow(cells, cmap="PiYG", norm=norm, aspect="auto")
    for y, line in enumerate(cells):
        for x, ratio in enumerate(line):
            if not math.isnan(ratio):
                axes.text(x, y, "%.2f" % ratio, ha="center", va="center", fontsize=6, fontweight="bold" if ratio < 0.99 else "normal")
    axes.set_xticks(range(len(lengths)), ["$2^{%d}$" % round(math.log2(n)) for n in lengths], fontsize=7)
    axes.set_yticks(range(len(types)), [LABELS.get(kind, kind) for kind in types], fontsize=7)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    axes.set_title(MODES.get(rows[0]["mode"], rows[0]["mode"]), fontsize=8)
    return image


def draw_ratios(header, rows, path):
    rows = [row for row in rows if row["candidate"] == "cub::DeviceReduce::Reduce"]
    types = in_order((row["type"] for row in rows), LABELS)
    lengths = sorted({row["n"] for row in rows})
    modes = in_order((row["mode"] for row in rows), MODES)
    norm = TwoSlopeNorm(vcenter=1, vmin=0.5, vmax=2)
    figure, grid = plt.subplots(len(modes), 1, figsize=(0.42 * len(lengths) + 2.2, (0.26 * len(types) + 0.55) * len(modes) + 0.6),
                                squeeze=False, layout="constrained")
    for axes, mode in zip(grid.flat, modes):
        image = draw_table(axes, [row for row in rows if row["mode"] == mode], types, lengths, norm)
    figure.colorbar(image, ax=grid, shrink=0.5, extend="both", ticks=[0.5, 0.75, 1, 1.5, 2])
    figure.suptitle("Time of CUB over time of gpuopt, by type and number of elements\n" + caption(header), fontsize=10)
    save(figure, path)


def main():
    parser = arguments(__doc__)
    parser.add_argument("--modes", default="cold-write,wall")
    options = parser.parse_args()
    header, rows = read(options.csv)
    for mode in options.modes.split(","):
        draw_throughput(header, rows, mode, options.out / ("reduce_%s.%s" % (mode, options.format)))
    draw_ratios(header, rows, options.out / ("reduce_ratios." + options.format))


if __name__ == "__main__":
    main()
