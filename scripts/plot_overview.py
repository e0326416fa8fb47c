#!/usr/bin/env python3
"""Draws the chart of README: gpuopt and the best peer, as shares of the speed of a plain copy.

Usage: plot_overview.py [benchmarks/results/h200] [--out docs/images]
Writes overview_light.<format> and overview_dark.<format>. Needs matplotlib.
SPDX-License-Identifier: MIT
"""

import argparse
from pathlib import Path

import matplotlib.pyplot as plt
from bench_chart import BARS, label, load, shares
from plots import make_folder, save

THEMES = {
    "light": {"ink": "#1f2328", "grid": "#d0d7de", "ours": "#0b7a4b", "peer": "#6e7781", "inside": "#ffffff"},
    "dark": {"ink": "#e6edf3", "grid": "#30363d", "ours": "#3fb950", "peer": "#8b949e", "inside": "#0d1117"},
}


def draw(results, theme, path):
    colors = THEMES[theme]
    plt.rcParams.update({name: colors["ink"] for name in ("text.color", "axes.labelcolor", "xtick.color", "ytick.color")})
    plt.rcParams.update({"svg.fonttype": "none", "font.family": "sans-serif"})
    figure, axes = plt.subplots(figsize=(7.6, 4.2), layout="constrained")
    for row, bar in enumerate(BARS):
        for share, offset, color, name in zip(shares(results, bar), (-0.2, 0.2), (colors["ours"], colors["peer"]),
                                              ("gpuopt", bar.library)):
            axes.barh(row + offset, share, height=0.38, color=color)
            isInside = share > 0.7
            axes.text(share + (-0.01 if isInside else 0.01), row + offset, label(share, name), va="center", fontsize=8,
                      ha="right" if isInside else "left", color=colors["inside" if isInside else "ink"])
    axes.axvline(1, color=colors["ink"], linewidth=0.8, linestyle=":", zorder=0)
    axes.set_yticks(range(len(BARS)), [bar.what for bar in BARS])
    axes.tick_params(length=0)
    axes.invert_yaxis()
    axes.set_xlim(0, 1.12)
    axes.set_xticks([0, 0.5, 1], ["0", "0.5", "a plain copy"])
    for spine in axes.spines.values():
        spine.set_color(colors["grid"])
    header = results.header("reduce_bench")
    axes.set_title(f"Bytes per second, as a share of a plain copy's. {header['gpu']}, CUDA {header['cuda']}, {header['date']}",
                   fontsize=9)
    figure.patch.set_alpha(0)
    axes.patch.set_alpha(0)
    save(figure, path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path, nargs="?", default=Path("benchmarks/results/h200"))
    parser.add_argument("--out", type=make_folder, default="docs/images")
    parser.add_argument("--format", default="svg", choices=["svg", "png"])
    options = parser.parse_args()
    for theme in THEMES:
        draw(load(options.results), theme, options.out / f"overview_{theme}.{options.format}")


if __name__ == "__main__":
    main()
