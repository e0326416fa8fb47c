#!/usr/bin/env python3
"""check_compilers.py [<word>...]: compiles with every configuration of tests/compilers/matrix.txt, or with those that
have all of the words. A configuration whose compiler or toolkit is not to be had is said to be not checked.

    check_compilers.py cuda-12.4 clang++-22
    check_compilers.py change                    those for each change, as CI does
    check_compilers.py --table                   the table of docs/packaging.md, in Markdown

SPDX-License-Identifier: MIT
"""

import functools
import os
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import toolchains

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / "build" / "compilers"
INCLUDE = ["-I", ROOT / "include"]
SUPPORT = ["-I", ROOT / "examples" / "support"]
WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"]
CLANG = ["-Wno-sign-conversion", "-Wno-unused-function"]  # g++ does not mean them by its -Wconversion and -Wall
LESSONS = ["reduce_basics", "transpose_axes", "struct_basics", "soa_columns", "launch_kernel"]
EMULATION = "emulation"
MATRIX = ROOT / "tests" / "compilers" / "matrix.txt"


@dataclass
class Configuration:
    """A line of the matrix."""
    when: str
    compiler: str
    toolkit: str
    host: str
    standard: str
    headers: list
    kernels: list
    programs: list

    @property
    def name(self):
        host = f", {self.host}" if self.host != "-" else ""
        return f"{self.compiler}, {self.toolkit}{host}, C++{self.standard}"

    @property
    def folder(self):
        return WORK / re.sub(r"[^\w.+-]+", "_", self.name)


@dataclass
class Job:
    """A command, and what it compiles; with `runs`, the program that is run after it."""
    what: str
    command: list
    runs: Path = None


def warnings(compiler):
    return WARNINGS + (CLANG if compiler.startswith("clang") else [])


def succeeds(command, **options):
    return subprocess.run(command, capture_output=True, text=True, **options).returncode == 0


def read_matrix(text):
    for line in text.splitlines():
        if line and not line.startswith("#"):
            *names, headers, kernels, programs = line.split()
            yield Configuration(*names, *([] if it == "-" else it.split(",") for it in (headers, kernels, programs)))


@functools.cache
def hostile():
    """All headers, as tests/headers compiles them, but for those that need NCCL. It is written once: nvcc reads it once
    an architecture, and would compile half a file if it were written again meanwhile."""
    headers = sorted(path.relative_to(ROOT / "include") for path in (ROOT / "include").rglob("*.cuh"))
    headers = [header for header in headers if "distributed" not in str(header)]
    template = (ROOT / "tests" / "headers" / "hostile.cu.in").read_text()
    source = WORK / "hostile.cu"
    source.write_text(template.replace("@all@", "".join(f"#include <{header}>\n" for header in headers)))
    return source


def lessons():
    return [ROOT / "examples" / name / f"{name}.cu" for name in LESSONS]


def kernels(it):
    """The sources of tests/codegen, each with each of the configuration's architectures, and what comes of them."""
    for source in sorted((ROOT / "tests" / "codegen").glob("*.cu")):
        for number in it.kernels:
            yield source, f"sm_{number}", it.folder / f"{source.stem}_{number}"


def nvcc_jobs(it):
    toolkit, host = toolchains.toolkit_folder(it.toolkit), toolchains.compiler(it.host)
    base = [toolkit / "bin" / "nvcc", f"-std=c++{it.standard}", "-ccbin", host, "--extended-lambda",
            "--Werror=all-warnings", "-Xcompiler=" + ",".join(warnings(it.host)), *INCLUDE]

    def code(numbers):
        return [f"-gencode=arch=compute_{number},code=sm_{number}" for number in numbers]

    yield Job("headers", [*base, *code(it.headers), "-c", "-o", it.folder / "headers.o", hostile()])
    for source, architecture, out in kernels(it):
        yield Job(out.name, [*base, f"-arch={architecture}", "-cubin", "-o", out, source])
    for source in lessons() if it.programs else []:
        yield Job(source.stem, [*base, *code(it.programs), *SUPPORT, "-o", it.folder / source.stem, source])


def clang_jobs(it):
    """Host and device apart: clang++ before 22 cannot use the fatbinary of CUDA 13, and PyPI has no earlier one."""
    toolkit = toolchains.toolkit_folder(it.toolkit)
    base = [toolchains.compiler(it.compiler), "-x", "cuda", f"-std=c++{it.standard}", f"--cuda-path={toolkit}",
            *warnings(it.compiler), "-Wno-unknown-cuda-version", "-Wno-unknown-pragmas", "-Wno-pass-failed", *INCLUDE]
    device = [*base, "--cuda-device-only", "-c"]
    libraries = ["-L", toolkit / "lib", "-L", toolkit / "lib64", "-lcudart_static", "-ldl", "-lrt", "-lpthread"]

    yield Job("headers, host", [*base, "--cuda-host-only", "-c", "-o", it.folder / "headers.o", hostile()])
    for number in it.headers:
        yield Job(f"headers, sm_{number}",
                  [*device, f"--cuda-gpu-arch=sm_{number}", "-o", it.folder / f"headers_{number}", hostile()])
    for source, architecture, out in kernels(it):
        yield Job(out.name, [*device, "-O3", f"--cuda-gpu-arch={architecture}", "-o", out, source])
    # The other driver's linker is one of Debian's clang-tools.
    code = ["--no-offload-new-driver", *(f"--cuda-gpu-arch=sm_{number}" for number in it.programs)]
    for source in lessons() if it.programs else []:
        yield Job(source.stem, [*base, "-O1", *code, *SUPPORT, "-o", it.folder / source.stem, source, *libraries])


def emulated_jobs(it):
    base = [toolchains.compiler(it.compiler), f"-std=c++{it.standard}", *warnings(it.compiler), "-Wno-unknown-pragmas",
            "-I", ROOT / "emulation" / "include", *INCLUDE, "-x", "c++"]
    if not succeeds([base[0], "-E", "-x", "c++", "-"], input="#include <boost/context/fiber.hpp>"):
        raise toolchains.Unavailable("Boost.Context is not installed")
    libraries = ["-lboost_context", "-lpthread"]
    yield Job("headers", [*base, "-fsyntax-only", hostile()])
    for source in lessons():
        out = it.folder / source.stem
        yield Job(source.stem, [*base, "-O1", *SUPPORT, "-o", out, source, *libraries], out)


def jobs_of(it):
    """The commands of a configuration; raises Unavailable."""
    maker = emulated_jobs if it.toolkit == EMULATION else nvcc_jobs if it.compiler == "nvcc" else clang_jobs
    it.folder.mkdir(parents=True, exist_ok=True)
    return list(maker(it))


def run(job):
    """What a job says if it fails, else nothing; and its CPU time."""
    seconds = 0
    for command in [job.command, [job.runs]] if job.runs else [job.command]:
        with tempfile.TemporaryFile("w+") as said:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said)
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            seconds += used.ru_utime + used.ru_stime
            if status:
                said.seek(0)
                return f"{job.what}: {' '.join(map(str, command))}\n{said.read()}", seconds
    return "", seconds


def check(configurations, pool):
    """Runs all jobs, the next configuration's beside the last of one, and says how each configuration went."""
    started, failed, unchecked = [], 0, 0
    for it in configurations:
        try:
            started.append((it, [pool.submit(run, job) for job in jobs_of(it)]))
        except toolchains.Unavailable as reason:
            started.append((it, reason))
    for it, results in started:
        if isinstance(results, toolchains.Unavailable):
            print(f"not checked  {it.name}: {results}", flush=True)
            unchecked += 1
            continue
        outcomes = [result.result() for result in results]
        errors = [error for error, _ in outcomes if error]
        seconds = sum(seconds for _, seconds in outcomes)
        failed += bool(errors)
        print(f"{'FAILED     ' if errors else 'ok         '}  {it.name}: {len(results)} compilations, "
              f"{seconds:.0f} s of CPU time", flush=True)
        for error in errors[:3]:
            command, *said = error.splitlines()
            said = [line for line in said if re.search("error|fatal", line)] or said
            print("\n".join(line[:600] for line in [command, *said[:5]]), flush=True)
    return failed, unchecked


def architectures(numbers):
    """Those of a list, in words: `sm_75 to sm_121` where it is a long one."""
    names = [f"sm_{number}" for number in numbers]
    return f"{len(names)} from {names[0]} to {names[-1]}" if len(names) > 3 else ", ".join(names)


def table(configurations):
    """The matrix in Markdown, for docs/packaging.md."""
    yield "| compiler | CUDA | C++ | all headers | kernels of `tests/codegen` | lessons, linked | compiled for |"
    yield "|---|---|---|---|---|---|---|"
    for it in configurations:
        compiler = f"{it.compiler}, host {it.host}" if it.host != "-" else it.compiler
        emulated = it.toolkit == EMULATION
        lists = [architectures(numbers) for numbers in (it.headers, it.kernels, it.programs)]
        checked = ["the emulated device", "", "run"] if emulated else lists
        toolkit = "none" if emulated else it.toolkit.removeprefix("cuda-")
        cells = [compiler, toolkit, it.standard, *checked, f"each {it.when}"]
        yield re.sub(" +", " ", f"| {' | '.join(cells)} |")


def main(words):
    matrix = list(read_matrix(MATRIX.read_text()))
    if words == ["--table"]:
        print("\n".join(table(matrix)))
        return 0
    chosen = [it for it in matrix if all(word == it.when or word in it.name for word in words)]
    if not chosen:
        print(f"compilers: no configuration has {' '.join(words)}")
        return 2
    WORK.mkdir(parents=True, exist_ok=True)
    begin, before = time.monotonic(), os.times()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        failed, unchecked = check(chosen, pool)
    cpu = os.times().children_user - before.children_user
    print(f"compilers: {len(chosen) - failed - unchecked} passed, {failed} failed, {unchecked} not checked; "
          f"{time.monotonic() - begin:.0f} s, {cpu:.0f} s of CPU time")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
