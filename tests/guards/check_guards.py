"""The first error for a source that cannot be compiled says what to do, and nothing but it is told.

Usage: check_guards.py <repository> <C++ compiler> [<nvcc>]. Prints each difference and exits with 1 if there is one.
SPDX-License-Identifier: MIT
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PUBLIC = ["access", "gpuopt", "launch", "reduce", "soa", "struct_io", "transpose"]
WITH_DEVICE_CODE = ["gpuopt", "reduce", "soa", "struct_io", "transpose"]
# WRITTEN build: `#include <gpuopt/reduce.cuh>` with `-std=c++14`
STANDARD = "gpuopt needs C++17: compile with -std=c++17 or later"
EMULATED_STANDARD = "gpuopt's emulated device needs C++17: compile with -std=c++17 or later"
# WRITTEN build: `g++ -I include -x c++ program.cu`
NO_RUNTIME = (
    "gpuopt needs cuda_runtime.h: compile with nvcc, or give a host compiler the toolkit's headers with -I "
    "<CUDA>/include or the emulated device with -I <gpuopt>/emulation/include"
)
# WRITTEN build: `#include <gpuopt/reduce.cuh>` with CUDA 11
# DO: install CUDA 12 or 13; both can be on one machine
OLD = "gpuopt needs CUDA 12 or later: the cuda_runtime.h that is found first is older"
# WRITTEN build: `g++ -I /usr/local/cuda/include -I include program.cpp`
HOST_COMPILER = (
    "gpuopt: a host compiler with the toolkit's headers cannot compile device functions: name the file .cu and use "
    "nvcc, or put -I <gpuopt>/emulation/include before the toolkit's headers"
)

# What the toolkit has in common with the emulated device: the part that headers use before they come to device code.
TOOLKIT = """#pragma once
#define __host__
#define __device__
struct uint2 { unsigned x, y; };
struct uint4 { unsigned x, y, z, w; };
"""


def errors(command, source):
    """The texts of all errors of compiling a source, but for the one about the file that ends the compilation."""
    environment = {name: value for name, value in os.environ.items() if "INCLUDE" not in name and "CPATH" != name}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "source.cu"
        file.write_text(source)
        done = subprocess.run([*command, str(file)], capture_output=True, text=True, env=environment)
    found = re.findall(r"error: (?:#error )?(.*)", done.stdout + done.stderr)
    return [text.strip('"') for text in found if "see_the_error_above" not in text]


def cases(repository, compiler, nvcc, toolkit):
    """(what, command, source, expected errors). Without -nostdinc, the compiler may find an installed toolkit."""
    library = ["-I", f"{repository}/include"]
    emulation = ["-I", f"{repository}/emulation/include"]
    fake = {version: ["-I", str(toolkit / str(version))] for version in (11080, 13000)}
    host = [compiler, "-fsyntax-only", "-x", "c++"]
    for header in PUBLIC:
        include = f"#include <gpuopt/{header}.cuh>\n"
        yield f"{header}, C++14", [*host, "-std=c++14", *emulation, *library], include, [STANDARD]
        yield f"{header}, no runtime", [*host, "-std=c++17", "-nostdinc", *library], include, [NO_RUNTIME]
        yield f"{header}, CUDA 11", [*host, "-std=c++17", *fake[11080], *library], include, [OLD]
    for header in WITH_DEVICE_CODE:
        include = f"#include <gpuopt/{header}.cuh>\n"
        toolkitFirst = [*host, "-std=c++17", *fake[13000], *emulation, *library]
        yield f"{header}, host compiler", toolkitFirst, include, [HOST_COMPILER]
    runtime = "#include <cuda_runtime.h>\n#include <gpuopt/reduce.cuh>\n"
    yield "runtime first, C++14", [*host, "-std=c++14", *emulation, *library], runtime, [EMULATED_STANDARD]
    yield "C++17", [*host, "-std=c++17", "-Wno-unknown-pragmas", *emulation, *library], runtime, []
    if nvcc:
        yield "nvcc, C++14", [nvcc, "-std=c++14", "-cubin", "-o", os.devnull, *library], runtime, [STANDARD]


def check(repository, compiler, nvcc):
    with tempfile.TemporaryDirectory() as folder:
        for version in (11080, 13000):
            path = Path(folder) / str(version)
            path.mkdir()
            (path / "cuda_runtime.h").write_text(f"#define CUDART_VERSION {version}\n{TOOLKIT}")
        for what, command, source, expected in cases(repository, compiler, nvcc, Path(folder)):
            found = errors(command, source)
            if found != expected:
                yield f"{what}: errors {found[:2]} instead of {expected}"


if __name__ == "__main__":
    wrong = list(check(Path(sys.argv[1]).resolve(), sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else None))
    print("\n".join(wrong) or "guards: ok")
    sys.exit(1 if wrong else 0)
