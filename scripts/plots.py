"""What the scripts that draw the benchmarks' files share: reading, labels, saving. Needs matplotlib.
SPDX-License-Identifier: MIT
"""

import argparse
import csv
import math
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
matplotlib.rcParams.update({"svg.hashsalt": "gpuopt", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False})

import matplotlib.pyplot as plt  # noqa: E402


def read_csv(path):
    """The header as a dictionary, and the rows, all of text."""
    lines = Path(path).read_text().splitlines()
    header = dict(line[2:].split(": ", 1) for line in lines if line.startswith("# "))
    return header, list(csv.DictReader(line for line in lines if not line.startswith("#")))


def in_order(values, order):
    """The distinct values, those of `order` first and in its order."""
    return sorted(set(values), key=lambda value: (list(order).index(value) if value in order else len(order), value))


def caption(header):
    return "{gpu}, driver {driver}, CUDA {cuda}, {date}".format(**header)


def size(exponent):
    """2^exponent bytes, as on an axis."""
    return "%d %s" % (2 ** (exponent % 10), ("B", "KiB", "MiB", "GiB")[exponent // 10])


def panels(count, most, width, height):
    """A figure of `count` panels, at most `most` of them side by side, and the lines of its panels."""
    columns = min(count, most)
    lines = math.ceil(count / columns)
    figure, grid = plt.subplots(lines, columns, figsize=(width * columns, height * lines + 0.7), squeeze=False, layout="constrained")
    for axes in grid.flat[count:]:
        axes.set_axis_off()
    return figure, grid


def save(figure, path):
    figure.savefig(path, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else None)
    plt.close(figure)
    print(path)


def arguments(description):
    """The options that all scripts have."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("csv")
    parser.add_argument("--out", type=make_folder, default="docs/images")
    parser.add_argument("--format", default="svg", choices=["svg", "png"])
    return parser


def make_folder(name):
    Path(name).mkdir(parents=True, exist_ok=True)
    return Path(name)
