#!/usr/bin/env python3
"""Draws what benchmarks/transpose_bench measured, for docs/: speed against size, shape and element size.

Usage: plot_transpose.py transpose_bench.csv [--out docs/images] [--format svg]
Writes transpose_sizes, transpose_shapes and transpose_table, each where the file has its rows. Needs matplotlib.
SPDX-License-Identifier: MIT
"""

import math

import matplotlib.pyplot as plt
from matplotlib.colors import Normalize, TwoSlopeNorm
from plots import arguments, caption, in_order, panels, read_csv, save, size

COPIES = ("cudaMemcpyAsync", "vector copy")
CANDIDATES = {"gpuopt": "#0b7a4b", "best copy": "#9ca3af", "cuBLAS": "#c2571a"}
ELEMENTS = {"1": "#7c3aed", "2": "#2563eb", "4": "#0b7a4b", "8": "#c2571a", "16": "#111827"}
GROUPS = {"aligned": "aligned", "odd": "both sides odd", "pitched": "pitched", "vector": "1 x N, N x 1", "narrow": "k x N, N x k",
          "batch": "batches", "near": "8192 ± 64", "struct": "structures", "inplace": "in place, square", "sizes": "squares of 2^k"}


def read(path):
    """The header as a dictionary, and the rows."""
    header, rows = read_csv(path)
    for row in rows:
        for name in ("rows", "cols", "in_ld", "out_ld", "batch", "bytes"):
            row[name] = int(row[name])
        for name in ("us", "gbps", "ratio"):
            row[name] = float(row[name])
    return header, rows


def of_group(rows, group, candidate="gpuopt"):
    return [row for row in rows if row["case"] == group and row["candidate"] == candidate]


def bytes_label(element):
    return "%s byte%s" % (element, "" if element == "1" else "s") if element.isdigit() else element


def fastest(rows):
    """(bytes, GB/s), of the fastest candidate at each size."""
    best = {}
    for row in rows:
        best[row["bytes"]] = max(best.get(row["bytes"], 0), row["gbps"])
    return sorted(best.items())


def draw_sizes_panel(axes, rows):
    lines = {"best copy": [row for row in rows if row["candidate"] in COPIES],
             "cuBLAS": [row for row in rows if row["candidate"].startswith("cublas")],
             "gpuopt": [row for row in rows if row["candidate"] == "gpuopt"]}
    for name, points in lines.items():
        if points:
            axes.plot(*zip(*fastest(points)), label=name, color=CANDIDATES[name], marker=".", markersize=3, linewidth=1.4,
                      linestyle="--" if name == "best copy" else "-")
    exponents = range(14, 34, 4)
    axes.set(xscale="log", ylim=(0, None), title=bytes_label(rows[0]["element"]))
    axes.set_xticks([2**e for e in exponents], [size(e) for e in exponents], fontsize=7)
    axes.minorticks_off()
    axes.grid(alpha=0.25)


def draw_sizes(header, rows, path):
    rows = [row for row in rows if row["case"] == "sizes"]
    elements = in_order((row["element"] for row in rows), ELEMENTS)
    if not elements:
        return
    figure, grid = panels(len(elements), 3, 3.4, 2.5)
    legend = {}
    for axes, element in zip(grid.flat, elements):
        draw_sizes_panel(axes, [row for row in rows if row["element"] == element])
        legend.update(zip(*reversed(axes.get_legend_handles_labels())))
    for line in grid:
        line[0].set_ylabel("GB/s read and written")
    figure.legend(legend.values(), legend.keys(), loc="outside lower right", ncols=len(legend), frameon=False)
    figure.suptitle("Transposes of square matrices by bytes read and written, L2 flushed by writes\n" + caption(header), fontsize=10)
    save(figure, path)


def draw_lines(axes, rows, position, value, style="-"):
    for element in in_order((row["element"] for row in rows), ELEMENTS):
        points = sorted((position(row), value(row)) for row in rows if row["element"] == element)
        axes.plot(*zip(*points), label=bytes_label(element), color=ELEMENTS.get(element, "#444444"), marker=".", markersize=3,
                  linewidth=1.2, linestyle=style)


def draw_narrow(axes, rows, is_short, title):
    short, long = ("rows", "cols") if is_short else ("cols", "rows")
    rows = [row for row in of_group(rows, "narrow") if row[short] < row[long]]
    draw_lines(axes, [row for row in rows if row[long] % 16 == 0], lambda row: row[short], lambda row: row["ratio"])
    draw_lines(axes, [row for row in rows if row[long] % 16], lambda row: row[short], lambda row: row["ratio"], ":")
    axes.set(title=title + " (dotted: N odd)", xlabel="k")


def draw_batches(axes, rows):
    rows = [row for row in of_group(rows, "batch") if row["rows"] == row["cols"]]
    draw_lines(axes, rows, lambda row: row["rows"], lambda row: row["ratio"])
    axes.set(title="batches of n x n", xlabel="n", xscale="log")
    axes.set_xticks([4, 8, 16, 32, 64, 128], [4, 8, 16, 32, 64, 128])
    axes.minorticks_off()


def draw_near(axes, rows):
    draw_lines(axes, of_group(rows, "near"), lambda row: row["rows"], lambda row: row["ratio"])
    axes.set(title="n x n near 8192", xlabel="n")


def draw_pads(axes, rows):
    rows = of_group(rows, "pitched")
    kinds = {"+ 64 bytes": lambda row, e: row["in_ld"] == row["cols"] + 64 // e,
             "to 512 bytes, n odd": lambda row, e: row["cols"] % 2 and row["in_ld"] % 2 == 0,
             "+ 1 element": lambda row, e: row["cols"] % 2 == 0 and row["in_ld"] == row["cols"] + 1,
             "odd, n odd": lambda row, e: row["cols"] % 2 and row["in_ld"] % 2}
    elements = in_order((row["element"] for row in rows), ELEMENTS)
    for index, element in enumerate(elements):
        heights = [max((row["ratio"] for row in rows if row["element"] == element and kind(row, int(element))), default=math.nan)
                   for kind in kinds.values()]
        axes.bar([x + 0.16 * (index - (len(elements) - 1) / 2) for x in range(len(kinds))], heights, width=0.14,
                 color=ELEMENTS.get(element, "#444444"))
    axes.set_xticks(range(len(kinds)), kinds, fontsize=7)
    axes.set(title="pitched: what follows each row", ylim=(0.5, 1.05))


def draw_small(axes, rows):
    copies = {}
    for row in (row for row in rows if row["case"] == "small" and row["candidate"] in COPIES):
        key = row["element"], row["rows"]
        copies[key] = min(copies.get(key, math.inf), row["us"])
    rows = [row for row in of_group(rows, "small") if row["goal"] not in ("", "0")]
    draw_lines(axes, rows, lambda row: row["bytes"] / 2, lambda row: row["us"] - copies[row["element"], row["rows"]])
    exponents = range(12, 23, 2)
    axes.set(title="up to 4 MiB, hot, in a graph", xscale="log", xlabel="bytes of the matrix", ylabel="us over the copy")
    axes.set_xticks([2**e for e in exponents], [size(e) for e in exponents], fontsize=7)
    axes.minorticks_off()


def draw_shapes(header, rows, path):
    groups = {"narrow": [lambda a: draw_narrow(a, rows, True, "k x N"), lambda a: draw_narrow(a, rows, False, "N x k")],
              "batch": [lambda a: draw_batches(a, rows)], "near": [lambda a: draw_near(a, rows)],
              "pitched": [lambda a: draw_pads(a, rows)], "small": [lambda a: draw_small(a, rows)]}
    drawn = [draw for group, draws in groups.items() if of_group(rows, group) for draw in draws]
    if not drawn:
        return
    figure, grid = panels(len(drawn), 2, 4.8, 2.6)
    legend = {}
    for axes, draw in zip(grid.flat, drawn):
        draw(axes)
        axes.grid(alpha=0.25)
        if not axes.get_ylabel():
            axes.axhline(1, color="#9ca3af", linewidth=0.8, linestyle="--")
            axes.set_ylabel("speed over the best copy's")
        for handle, label in zip(*axes.get_legend_handles_labels()):
            legend.setdefault(label, handle)
    figure.legend(legend.values(), legend.keys(), loc="outside lower right", ncols=len(legend), frameon=False)
    figure.suptitle("Transposes by shape and element size, L2 flushed by writes unless said\n" + caption(header), fontsize=10)
    save(figure, path)


def draw_table(axes, cells, groups, columns, norm, title):
    axes.imshow(cells, cmap="PiYG", norm=norm, aspect="auto")
    for y, line in enumerate(cells):
        for x, ratio in enumerate(line):
            if not math.isnan(ratio):
                axes.text(x, y, "%.2f" % ratio, ha="center", va="center", fontsize=7,
                          color="black" if 0.15 < norm(ratio) < 0.85 else "white")
    axes.set_xticks(range(len(columns)), columns, fontsize=7)
    axes.set_yticks(range(len(groups)), [GROUPS[group] for group in groups], fontsize=7)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    axes.set_title(title, fontsize=8)


def is_square_or_elsewhere(row):
    return row["case"] != "inplace" or row["rows"] == row["cols"]


def draw_worst(axes, rows):
    rows = [row for row in rows if row["candidate"] == "gpuopt" and row["case"] != "sizes" and is_square_or_elsewhere(row)]
    groups = in_order((row["case"] for row in rows), GROUPS)
    elements = sorted({row["element"] for row in rows}, key=int)
    cells = [[min((row["ratio"] for row in rows if row["case"] == group and row["element"] == element), default=math.nan)
              for element in elements] for group in groups]
    draw_table(axes, cells, groups, elements, Normalize(0.5, 1.1), "worst share of the best copy's speed, by bytes of an element")


def draw_peer(axes, rows):
    ours = {(row["case"], row["element"], row["rows"], row["cols"], row["in_ld"]): row["us"]
            for row in rows if row["candidate"] == "gpuopt"}
    times = {}
    for row in (row for row in rows if row["candidate"].startswith("cublas")):
        ratio = row["us"] / ours[row["case"], row["element"], row["rows"], row["cols"], row["in_ld"]]
        times.setdefault((row["case"], row["candidate"]), []).append(ratio)
    groups = in_order((group for group, _ in times), GROUPS)
    types = in_order((kind for _, kind in times), ("cublasSgeam", "cublasDgeam", "cublasCgeam", "cublasZgeam"))
    cells = [[min(times.get((group, kind), [math.nan])) for kind in types] for group in groups]
    draw_table(axes, cells, groups, types, TwoSlopeNorm(vcenter=1, vmin=0.5, vmax=4), "least time of cuBLAS geam over that of gpuopt")


def draw_tables(header, rows, path):
    rows = [row for row in rows if row["case"] in GROUPS]
    if not rows:
        return
    tables = [draw_worst] + [draw_peer] * any(row["candidate"].startswith("cublas") for row in rows)
    figure, grid = plt.subplots(1, len(tables), figsize=(5.2 * len(tables), 3.4), squeeze=False, layout="constrained")
    for axes, draw in zip(grid.flat, tables):
        draw(axes, rows)
    figure.suptitle("Transposes, the worst case of each kind\n" + caption(header), fontsize=10)
    save(figure, path)


def main():
    options = arguments(__doc__).parse_args()
    header, rows = read(options.csv)
    for name, draw in (("sizes", draw_sizes), ("shapes", draw_shapes), ("table", draw_tables)):
        draw(header, rows, options.out / ("transpose_%s.%s" % (name, options.format)))


if __name__ == "__main__":
    main()
