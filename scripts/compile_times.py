#!/usr/bin/env python3
"""compile_times.py [-n <times>] [--write] [<word>...]: how long each public header, each of some calls and the same
calls of peers take to compile, with nvcc for sm_90 and with g++ for the emulated device, in seconds of user CPU time:
medians of 3, or of <times>, in alternation. Words choose among the rows. With --write, benchmarks/results gets them as
compile_times.csv, and the table of docs/packaging.md is replaced.

SPDX-License-Identifier: MIT
"""

import argparse
import csv
import datetime
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import toolchains

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "packaging.md"
RESULTS = ROOT / "benchmarks" / "results" / "compile_times.csv"
TABLE = re.compile(r"(?<=<!-- compile_times.py writes this -->\n\n).*?(?=\n\n<!-- to here -->)", re.DOTALL)

# The body of a function of `const float* x, float* y, std::size_t n, Point* p`.
CALLS = {
    "reduce(x, n)": ("reduce", "gpuopt::reduce(x, n);"),
    "reduce<double>(x, n)": ("reduce", "gpuopt::reduce<double>(x, n);"),
    "argMax(x, n)": ("reduce", "gpuopt::argMax(x, n);"),
    "meanVariance(x, n)": ("reduce", "gpuopt::meanVariance(x, n);"),
    "reduceRows(x, n, n, n, y)": ("reduce", "gpuopt::reduceRows(x, n, n, n, y);"),
    "reduceColumns(x, n, n, n, y)": ("reduce", "gpuopt::reduceColumns(x, n, n, n, y);"),
    "transpose(x, y, n, n)": ("transpose", "gpuopt::transpose(x, y, n, n);"),
    "transposeInPlace(y, n, n)": ("transpose", "gpuopt::transposeInPlace(y, n, n);"),
    "forEachStruct(p, n, f)": ("struct_io", "gpuopt::forEachStruct(p, n, Move{});"),
    "SoaVector<Point>, toSoa": ("soa", "gpuopt::SoaVector<Point> v(n); gpuopt::toSoa(p, n, v.view());"),
}
# Includes and body of what peers have for `reduce(x, n)`. They have no emulated device.
PEERS = {
    "cub::DeviceReduce::Sum": ("#include <cub/device/device_reduce.cuh>",
                               "cub::DeviceReduce::Sum(nullptr, n, x, y, static_cast<int>(n));"),
    "thrust::reduce": ("#include <thrust/execution_policy.h>\n#include <thrust/reduce.h>",
                       "thrust::reduce(thrust::device, x, x + n);"),
}
SOURCE = """{includes}
#include <cstddef>
struct Point {{ float x, y, z; }};
struct Move {{ __device__ void operator()(Point& p) const {{ p.x += p.y; }} }};
__global__ void kernel() {{}}
void call([[maybe_unused]] const float* x, [[maybe_unused]] float* y, [[maybe_unused]] std::size_t n,
          [[maybe_unused]] Point* p) {{ {body} }}
"""


def rows():
    """(name, source, whether it is a peer's) of each row: nothing, the headers, the calls, those of peers."""
    yield "`<cuda_runtime.h>` and an empty kernel", SOURCE.format(includes="#include <cuda_runtime.h>", body=""), False
    for header in sorted((ROOT / "include" / "gpuopt").glob("*.cuh")):
        yield f"`<gpuopt/{header.name}>`", SOURCE.format(
            includes=f"#include <cuda_runtime.h>\n#include <gpuopt/{header.name}>", body=""), False
    for call, (header, body) in CALLS.items():
        yield f"`{call}`", SOURCE.format(includes=f"#include <gpuopt/{header}.cuh>", body=body), False
    for call, (includes, body) in PEERS.items():
        yield f"`{call}`", SOURCE.format(includes=includes, body=body), True


def peer_includes():
    """The option for the newest CCCL, where it can be had; otherwise peers are the toolkit's."""
    try:
        return ["-I", toolchains.toolkit_folder("cccl") / "include" / "cccl"]
    except toolchains.Unavailable as reason:
        print(f"compile_times: {reason}: with the toolkit's CCCL", file=sys.stderr)
        return []


def compilers():
    """(name, command, whether it compiles peers) of each column."""
    include = ["-I", ROOT / "include"]
    nvcc = toolchains.toolkit_folder("cuda-13.0") / "bin" / "nvcc"
    yield f"nvcc {toolchains.version_of(nvcc)}, sm_90", [
        nvcc, "-std=c++17", "-arch=sm_90", *include, *peer_includes(), "-c", "-o", os.devnull], True
    yield f"g++ {toolchains.version_of('g++')}, emulated, -O1", [
        "g++", "-std=c++17", "-O1", "-I", ROOT / "emulation" / "include", *include, "-x", "c++", "-c", "-o",
        os.devnull], False


def cccl(command):
    """The version of CCCL that a compiler finds, as 3.5.0."""
    said = subprocess.run([*map(str, command[:-3]), "-E", "-x", "cu", "-"], capture_output=True, text=True,
                          input="#include <cuda/version>\nversion CCCL_VERSION\n").stdout
    version = int(re.search(r"^version (\d+)$", said, re.MULTILINE).group(1))
    return f"{version // 1000000}.{version // 1000 % 1000}.{version % 1000}"


def seconds(command):
    """User CPU time of a command and of all that it calls: what else runs on the machine counts little."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"compile_times: {' '.join(map(str, command))}\n{done.stderr}")
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def measure(chosen, columns, times):
    """{name of a row: [seconds of each round, or nothing] of each column}, each sample after one of all the others."""
    measured = {name: [[] for _ in columns] for name, *_ in chosen}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "source.cu"
        for _ in range(times):
            for name, source, is_peer in chosen:
                file.write_text(source)
                for samples, (_, command, compiles_peers) in zip(measured[name], columns):
                    if compiles_peers or not is_peer:
                        samples.append(seconds([*command, file]))
                print(f"{name} {[round(samples[-1], 1) for samples in measured[name] if samples]}", flush=True)
    return measured


def table(measured, columns, times, version):
    how = f"medians of {times}" if times > 1 else "measured once"
    yield f"Seconds of user CPU time, {datetime.date.today()}, CCCL {version}, {how}:"
    yield ""
    yield f"| source | {' | '.join(name for name, *_ in columns)} |"
    yield f"|---|{'---|' * len(columns)}"
    for name, all_samples in measured.items():
        yield f"| {name} | {' | '.join(f'{statistics.median(it):.1f}' if it else '' for it in all_samples)} |"


def write_csv(path, measured, columns, version):
    with path.open("w", newline="") as file:
        header = {"program": "compile_times", "cccl": version, "date": datetime.date.today(),
                  "command": " ".join([Path(sys.argv[0]).name, *sys.argv[1:]])}
        file.writelines(f"# {name}: {value}\n" for name, value in header.items())
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["source", "compiler", "seconds", "least", "greatest", "samples"])
        for name, all_samples in measured.items():
            writer.writerows([name, column, *(f"{value:.2f}" for value in (statistics.median(it), min(it), max(it))),
                              len(it)] for (column, *_), it in zip(columns, all_samples) if it)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*")
    parser.add_argument("-n", type=int, default=3)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if options.write and options.words:
        parser.error("--write needs all rows")
    chosen = [row for row in rows() if not options.words or any(word in row[0] for word in options.words)]
    columns = list(compilers())
    version = cccl(columns[0][1])
    measured = measure(chosen, columns, options.n)
    lines = list(table(measured, columns, options.n, version))
    print("\n".join(lines))
    if options.write:
        write_csv(RESULTS, measured, columns, version)
        text, found = TABLE.subn(lambda _: "\n".join(lines), PAGE.read_text())
        if found != 1:
            sys.exit(f"compile_times: {PAGE} has no place for the table")
        PAGE.write_text(text)


if __name__ == "__main__":
    main()
