#!/usr/bin/env python3
"""Draws when each engine works on which chunk of a pipeline, from the events of a run.

Usage: plot_pipeline.py build/bench/pipeline_timeline.csv [--out docs/images]
Writes pipeline_timeline.<format>. Needs matplotlib.
SPDX-License-Identifier: MIT
"""

import matplotlib.pyplot as plt
from plots import arguments, caption, read_csv, save

LANES = {"up": "copy to\nthe device", "work": "kernel", "down": "copy from\nthe device"}
COLORS = ["#0b7a4b", "#c2571a", "#3b6fb6", "#8a5fa8"]


def draw(header, rows, path):
    figure, axes = plt.subplots(figsize=(8, 2.4), layout="constrained")
    for row in rows:
        begin, end, chunk = float(row["begin_ms"]), float(row["end_ms"]), int(row["chunk"])
        lane = list(LANES).index(row["engine"])
        axes.barh(lane, end - begin, left=begin, height=0.7, color=COLORS[chunk % len(COLORS)], edgecolor="white")
        if row["engine"] != "work":
            axes.text((begin + end) / 2, lane, str(chunk), ha="center", va="center", color="white", fontsize=8)
    axes.set_yticks(range(len(LANES)), LANES.values())
    axes.invert_yaxis()
    axes.set_xlabel("ms")
    axes.set_title(f"{len({row['chunk'] for row in rows})} chunks of 16 MiB in pinned memory, 3 slots\n{caption(header)}", fontsize=9)
    save(figure, path)


def main():
    options = arguments(__doc__).parse_args()
    header, rows = read_csv(options.csv)
    draw(header, rows, options.out / f"pipeline_timeline.{options.format}")


if __name__ == "__main__":
    main()
