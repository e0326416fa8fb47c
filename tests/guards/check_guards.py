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

# WRITTEN build: `#include <gpuopt/reduce.cuh>` with `-fno-exceptions`
EXCEPTIONS = "gpuopt reports errors by exceptions: compile without -fno-exceptions"
EMULATED_EXCEPTIONS = "gpuopt's emulated device reports errors by exceptions: compile without -fno-exceptions"
# WRITTEN build: `#define N 1024` before `#include <gpuopt/reduce.cuh>`
MACRO = "gpuopt uses the name N: define the macro N below its #include, or rename it"
MACROS = ["BLOCK 256", "TILE (1 << 5)", "F float", "SIZE 4", "STEP 0.5f", "ITEMS 8", "WIDTH 8", "ROWS 8", "COLS 8", "CHANNELS 3",
          "BINS 8", "SIDE 8", "IN", "OUT a, b"]
DEPRECATED = "since gpuopt 0.2.0: call g"
STATIC_ASSERT = r"static[ _]assert(?:ion)? failed(?: due to requirement '.*?'| with)?:? "
USE = r"\S*.*? is deprecated: "
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wno-unknown-pragmas"]

# What the toolkit has in common with the emulated device: the part that headers use before they come to device code.
TOOLKIT = """#pragma once
#define __host__
#define __device__
struct uint2 { unsigned x, y; };
struct uint4 { unsigned x, y, z, w; };
"""


def macro_error(macro):
    name = re.match(r"\w+", macro).group()
    return MACRO.replace(" N", f" {name}")


def errors(command, source):
    """The texts of all errors of compiling a source, but for the one about the file that ends the compilation."""
    environment = {name: value for name, value in os.environ.items() if "INCLUDE" not in name and "CPATH" != name}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "source.cu"
        file.write_text(source)
        done = subprocess.run([*command, str(file)], capture_output=True, text=True, env=environment)
    found = re.findall(rf"error: (?:#error |{STATIC_ASSERT}|{USE})?(.*?)(?: \[-Werror.*)?$", done.stdout + done.stderr,
                       re.MULTILINE)
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
    launch = "#include <gpuopt/launch.cuh>\n"
    runtime = "#include <cuda_runtime.h>\n#include <gpuopt/reduce.cuh>\n"
    yield "runtime first, C++14", [*host, "-std=c++14", *emulation, *library], runtime, [EMULATED_STANDARD]
    yield "C++17", [*host, "-std=c++17", "-Wno-unknown-pragmas", *emulation, *library], runtime, []
    yield "no exceptions", [*host, "-std=c++17", "-fno-exceptions", *fake[13000], *library], launch, [EXCEPTIONS]
    yield "runtime first, no exceptions", [*host, "-std=c++17", "-fno-exceptions", *emulation, *library], runtime, [
        EMULATED_EXCEPTIONS]
    for macro in ("N 4", "check(x) (x)", "T(x) #x"):  # after which the compilation ends
        yield macro, [*host, "-std=c++17", *emulation, *library], f"#define {macro}\n{launch}", [macro_error(macro)]
    harmless = "#define INDEX(row, column) ((row) * 4 + (column))\n#define GIVEN(text) text\n" + launch
    yield "functions", [*host, "-std=c++17", "-Wno-unknown-pragmas", *emulation, *library], harmless, []
    everything = "#define B 4\n#include <cuda_runtime.h>\n#include <gpuopt/gpuopt.cuh>\n"
    yield "pedantic, no RTTI", [*host, "-std=c++17", *WARNINGS, "-fno-rtti", *emulation, *library], everything, []
    marked = '#include <gpuopt/version.cuh>\nGPUOPT_DEPRECATED("0.2.0", "call g") int f();\nint g() { return f(); }\n'
    yield "deprecated", [*host, "-std=c++17", "-Werror", *library], marked, [DEPRECATED]
    if nvcc:
        yield "nvcc, C++14", [nvcc, "-std=c++14", "-cubin", "-o", os.devnull, *library], runtime, [STANDARD]
        native = [nvcc, "-std=c++17", "-c", "-o", os.devnull, *library]
        yield "nvcc, no exceptions", [*native, "-Xcompiler", "-fno-exceptions"], launch, [EXCEPTIONS]
        tuning = "#include <gpuopt/reduce.cuh>\n#include <gpuopt/tuning.cuh>\ngpuopt::Experiment<float> experiment(\"x\");\n"
        yield "nvcc, no RTTI", [*native, "-Werror", "all-warnings", "-Xcompiler", "-fno-rtti"], tuning, []


def check(repository, compiler, nvcc):
    with tempfile.TemporaryDirectory() as folder:
        for version in (11080, 13000):
            path = Path(folder) / str(version)
            path.mkdir()
            (path / "cuda_runtime.h").write_text(f"#define CUDART_VERSION {version}\n{TOOLKIT}")
        host = [compiler, "-fsyntax-only", "-x", "c++", "-std=c++17", "-I", f"{repository}/emulation/include", "-I",
                f"{repository}/include"]
        found = errors(host, "".join(f"#define {macro}\n" for macro in MACROS) + "#include <gpuopt/launch.cuh>\n")
        if found[:len(MACROS)] != [macro_error(macro) for macro in sorted(MACROS)]:
            yield f"macros: errors {found[:len(MACROS)]}"
        for what, command, source, expected in cases(repository, compiler, nvcc, Path(folder)):
            found = errors(command, source)
            if found != expected:
                yield f"{what}: errors {found[:2]} instead of {expected}"


if __name__ == "__main__":
    wrong = list(check(Path(sys.argv[1]).resolve(), sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else None))
    print("\n".join(wrong) or "guards: ok")
    sys.exit(1 if wrong else 0)
