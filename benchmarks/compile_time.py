#!/usr/bin/env python3
"""Times nvcc on a file with one reduction by gpuopt, on one by CUB, by Thrust, and on an empty one, in alternation.

Usage: compile_time.py [--repetitions 5] [--arch sm_90] [--nvcc nvcc] [--out FOLDER]
Prints the medians and writes compile_time.csv and compile_time.json to FOLDER. No GPU is needed.
SPDX-License-Identifier: MIT
"""

import argparse
import csv
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timezone
from pathlib import Path

SOURCES = {
    "gpuopt": """#include <gpuopt/reduce.cuh>
float sum(const float* data, std::size_t n) { return gpuopt::reduce(data, n); }
""",
    "cub": """#include <cub/device/device_reduce.cuh>
cudaError_t sum(void* scratch, std::size_t& bytes, const float* data, float* out, int n) {
  return cub::DeviceReduce::Sum(scratch, bytes, data, out, n);
}
""",
    "thrust": """#include <thrust/execution_policy.h>
#include <thrust/reduce.h>
float sum(const float* data, std::size_t n) { return thrust::reduce(thrust::device, data, data + n); }
""",
    "empty": "",
}


def cpu_seconds():
    times = os.times()
    return times.children_user + times.children_system


def compile_once(command, source, folder):
    """Wall and CPU seconds."""
    cpu, wall = cpu_seconds(), time.perf_counter()
    subprocess.run([*command, "-c", source, "-o", folder / "out.o"], check=True)
    return time.perf_counter() - wall, cpu_seconds() - cpu


def measure(command, repetitions):
    """For each source: lists of wall and of CPU seconds. The first round warms the file cache."""
    samples = {name: ([], []) for name in SOURCES}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for source, text in SOURCES.items():
            (folder / (source + ".cu")).write_text(text)
        for repetition in range(repetitions + 1):
            for source, (walls, cpus) in samples.items():
                wall, cpu = compile_once(command, folder / (source + ".cu"), folder)
                if repetition > 0:
                    walls.append(wall)
                    cpus.append(cpu)
    return samples


def compiler_version(nvcc):
    text = subprocess.run([nvcc, "--version"], check=True, stdout=subprocess.PIPE, text=True).stdout
    return re.search(r"release [\d.]+, V([\d.]+)", text).group(1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--nvcc", default=shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc")
    parser.add_argument("--out", type=Path, default=Path("."))
    options = parser.parse_args()

    include = Path(__file__).resolve().parent.parent / "include"
    command = [options.nvcc, "-std=c++17", "-O3", "-arch=" + options.arch, "-I", include]
    samples = measure(command, options.repetitions)

    rows = [(name, statistics.median(walls), min(walls), max(walls), statistics.median(cpus))
            for name, (walls, cpus) in samples.items()]
    header = {"program": "compile_time", "cuda": compiler_version(options.nvcc), "arch": options.arch, "cores": os.cpu_count(),
              "date": datetime.now(timezone.utc).strftime("%Y-%m-%d"), "command": " ".join(sys.argv)}
    seconds = {name: median for name, median, *_ in rows}
    summary = {"gpuopt over " + peer: seconds["gpuopt"] / seconds[peer] for peer in ("cub", "thrust", "empty")}

    options.out.mkdir(parents=True, exist_ok=True)
    with open(options.out / "compile_time.csv", "w", newline="") as file:
        file.writelines("# %s: %s\n" % line for line in header.items())
        writer = csv.writer(file)
        writer.writerow(["source", "wall_s", "wall_s_min", "wall_s_max", "cpu_s"])
        writer.writerows((name, *("%.3f" % value for value in values)) for name, *values in rows)
    (options.out / "compile_time.json").write_text(json.dumps({**header, "summary": summary}, indent=2) + "\n")

    for name, median, least, most, cpu in rows:
        print("%-8s %6.2f s (%.2f to %.2f), %.2f s of CPU time" % (name, median, least, most, cpu))
    for name, ratio in summary.items():
        print("%-20s %.2f" % (name, ratio))


if __name__ == "__main__":
    main()
