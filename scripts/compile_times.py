#!/usr/bin/env python3
"""compile_times.py [-n <times>] [--write] [<word>...]: how long each public header and each of some calls takes to
compile, with nvcc for sm_90 and with g++ for the emulated device, in seconds of user CPU time: medians of 3, or of
<times>. Words choose among the rows. With --write the table of docs/packaging.md is replaced.

SPDX-License-Identifier: MIT
"""

import argparse
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
SOURCE = """{includes}
#include <cstddef>
struct Point {{ float x, y, z; }};
struct Move {{ __device__ void operator()(Point& p) const {{ p.x += p.y; }} }};
__global__ void kernel() {{}}
void call([[maybe_unused]] const float* x, [[maybe_unused]] float* y, [[maybe_unused]] std::size_t n,
          [[maybe_unused]] Point* p) {{ {body} }}
"""


def rows():
    """(name, source) of each row: nothing, the headers, the calls."""
    yield "`<cuda_runtime.h>` and an empty kernel", SOURCE.format(includes="#include <cuda_runtime.h>", body="")
    for header in sorted((ROOT / "include" / "gpuopt").glob("*.cuh")):
        yield f"`<gpuopt/{header.name}>`", SOURCE.format(
            includes=f"#include <cuda_runtime.h>\n#include <gpuopt/{header.name}>", body="")
    for call, (header, body) in CALLS.items():
        yield f"`{call}`", SOURCE.format(includes=f"#include <gpuopt/{header}.cuh>", body=body)


def compilers():
    """(name, command) of each column."""
    include = ["-I", ROOT / "include"]
    nvcc = toolchains.toolkit_folder("cuda-13.0") / "bin" / "nvcc"
    yield f"nvcc {toolchains.version_of(nvcc)}, sm_90", [
        nvcc, "-std=c++17", "-arch=sm_90", *include, "-c", "-o", os.devnull]
    yield f"g++ {toolchains.version_of('g++')}, emulated, -O1", [
        "g++", "-std=c++17", "-O1", "-I", ROOT / "emulation" / "include", *include, "-x", "c++", "-c", "-o", os.devnull]


def seconds(command):
    """User CPU time of a command and of all that it calls: what else runs on the machine counts little."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"compile_times: {' '.join(map(str, command))}\n{done.stderr}")
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def table(chosen, times):
    columns = list(compilers())
    how = f"medians of {times}" if times > 1 else "measured once"
    yield f"Seconds of user CPU time, {datetime.date.today()}, {how}:"
    yield ""
    yield f"| source | {' | '.join(name for name, _ in columns)} |"
    yield f"|---|{'---|' * len(columns)}"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "source.cu"
        for name, source in chosen:
            file.write_text(source)
            measured = [statistics.median(seconds([*command, file]) for _ in range(times)) for _, command in columns]
            yield f"| {name} | {' | '.join(f'{value:.1f}' for value in measured)} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*")
    parser.add_argument("-n", type=int, default=3)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    chosen = [row for row in rows() if not options.words or any(word in row[0] for word in options.words)]
    lines = []
    for line in table(chosen, options.n):
        print(line, flush=True)
        lines.append(line)
    if options.write:
        text, found = TABLE.subn(lambda _: "\n".join(lines), PAGE.read_text())
        if found != 1:
            sys.exit(f"compile_times: {PAGE} has no place for the table")
        PAGE.write_text(text)


if __name__ == "__main__":
    main()
