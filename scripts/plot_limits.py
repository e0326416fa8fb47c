#!/usr/bin/env python3
"""Draws the roofline and Amdahl's law from what the experiment `limits` measured.

Usage: plot_limits.py benchmarks/results/h200/experiments/limits.csv [--out docs/images]
Writes experiment_roofline.<format> and experiment_amdahl.<format>. Needs matplotlib.
SPDX-License-Identifier: MIT
"""

import matplotlib.pyplot as plt
from plots import arguments, caption, read_csv, save

DEVICE, HOST, BOUND = "#0b7a4b", "#3b6fb6", "#c2571a"


def tables(rows):
    """{first word of the title: {row: {column: value}}}, and for each row what was predicted of it."""
    found, predicted = {}, {}
    for row in rows:
        table = found.setdefault(row["table"].split()[0], {})
        line = table.setdefault(row["row"], {})
        predicted[row["row"]] = row["predicted"]
        if row["value"]:
            line[row["measured"].split(",")[0]] = float(row["value"])
    return found, predicted


def draw_roofline(header, table, predicted, path):
    """A point for each call, below the roofs of the device's memory and of the link."""
    calls = sorted(((float(predicted[name]), line) for name, line in table.items()), key=lambda call: call[0])
    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    for column, bound, color, label in (("device", "bound", DEVICE, "in device memory"),
                                        ("from the host", "bound of the link", HOST, "from the host and back")):
        # Each call has a bound of its own: what comes back through the link differs, and does not count.
        there = [(intensity, line) for intensity, line in calls if column in line]
        axes.plot([x for x, _ in there], [line[bound] for _, line in there], "_", markersize=14, color=BOUND)
        axes.plot([x for x, _ in there], [line[column] for _, line in there], "o", markersize=4, color=color, label=label)
    roof = sorted({intensity: line["bound"] for intensity, line in calls}.items())
    axes.plot([x for x, _ in roof], [y for _, y in roof], color=BOUND, linewidth=1, linestyle="--", label="bounds")
    axes.set(xscale="log", yscale="log", xlabel="operations a byte", ylabel="GFLOP/s")
    axes.set_xticks([call[0] for call in calls], ["%g" % call[0] for call in calls])
    axes.minorticks_off()
    axes.legend(frameon=False)
    figure.suptitle("Calls of the library below their rooflines\n" + caption(header), fontsize=10)
    save(figure, path)


def draw_amdahl(header, table, path):
    """How many times as fast the program became, beside the bound by what remained on the host."""
    names = list(table)
    figure, axes = plt.subplots(figsize=(7, 3.2), layout="constrained")
    places = range(len(names))
    axes.barh(places, [table[name]["faster"] for name in names], height=0.6, color=DEVICE, label="measured")
    bounded = [(place, table[name]["at most"]) for place, name in zip(places, names) if "at most" in table[name]]
    axes.plot([bound for _, bound in bounded], [place for place, _ in bounded], "|", markersize=16, markeredgewidth=2,
              color=BOUND, label="at most: Amdahl's law")
    axes.set_yticks(places, names)
    axes.invert_yaxis()
    axes.set(xscale="log", xlabel="times as fast as the host alone")
    axes.set_xlim(left=0.5)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter("")
    figure.legend(loc="outside lower right", ncols=2, frameon=False)
    figure.suptitle("A program whose parts move to the device\n" + caption(header), fontsize=10)
    save(figure, path)


def main():
    options = arguments(__doc__).parse_args()
    header, rows = read_csv(options.csv)
    found, predicted = tables([row for row in rows if row["experiment"] == "limits"])
    if not any(line for table in found.values() for line in table.values()):
        print("%s: no times of limits, nothing to draw" % options.csv)
        return
    draw_roofline(header, found["Roofline"], predicted, options.out / ("experiment_roofline.%s" % options.format))
    draw_amdahl(header, found["Amdahl's"], options.out / ("experiment_amdahl.%s" % options.format))


if __name__ == "__main__":
    main()
