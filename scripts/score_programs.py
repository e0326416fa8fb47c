#!/usr/bin/env python3
"""Builds and runs CUDA programs of others on the emulated device: those of HeCBench that a rule chooses, unedited, as
docs/emulation.md counts them.

scripts/score_programs.py [options] path/to/HeCBench

The rule: folders src/<name>-cuda of which the SHA-1 of the name with -cuda begins with 0 or 1, and whose sources, with
what they include from other folders of the collection, need neither another library nor Python. Each is built by its
own makefile with gpuopt-emulate in place of nvcc, and run by `make run` with the arguments that are there. Reading is
all that the rule needs: --list prints what it chooses.
"""
# SPDX-License-Identifier: MIT
import argparse
import collections
import concurrent.futures
import glob
import hashlib
import os
import re
import signal
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIBRARIES = re.compile(r'#\s*include\s*[<"](cub/|thrust/|cublas|cufft|curand|cusparse|cusolver|cudnn|cutlass|cuda/std|'
                       r"mpi\.h|nccl|boost/|torch/|hdf5|opencv|glm/|gsl|GL/|omp\.h|zlib|png)")
RIGHT = re.compile(r"\bPASS(ED)?\b|\bsuccess|\bcorrect\b|test passed", re.IGNORECASE)
WRONG = re.compile(r"\bFAIL(ED|URE)?\b|mismatch|incorrect|\bwrong\b", re.IGNORECASE)


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def needsLibrary(folder):
    """Whether a source does, or a header of another folder that the makefile names by -I../ and a source includes."""
    others = re.findall(r"-I\s*(\.\./\S+)", read(folder + "/Makefile"))
    paths = [path for path in glob.glob(folder + "/**/*", recursive=True)
             if path.endswith((".cu", ".cuh", ".h", ".hpp", ".cpp", ".cc", ".c")) and os.path.isfile(path)]
    for path in paths:
        text = read(path)
        if LIBRARIES.search(text):
            return True
        names = re.findall(r'#\s*include\s*"([^"]+)"', text)
        headers = [os.path.join(folder, other, name) for other in others for name in names]
        paths += [header for header in headers if os.path.isfile(header) and header not in paths]
    return False


def isChosen(folder):
    name = os.path.basename(folder)
    if hashlib.sha1(name.encode()).hexdigest()[0] not in "01" or not os.path.exists(folder + "/Makefile"):
        return False
    return not glob.glob(folder + "/**/*.py", recursive=True) and not needsLibrary(folder)


def execute(command, folder, seconds):
    """The status, None if it took too long, and the output."""
    with subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True) as process:
        try:
            output = process.communicate(timeout=seconds)[0]
            return process.returncode, output
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return None, process.communicate()[0]


def score(folder, seconds):
    """The verdict of a program, and the end of its output."""
    make = ["make", f"CC={ROOT}/emulation/gpuopt-emulate", "OPTIMIZE=no", "EXTRA_CFLAGS=-O2"]
    status, output = execute(make, folder, 600)
    if status != 0:
        return "not built", output
    status, output = execute([*make, "run"], folder, seconds)
    if status is None:
        return "not ended", output
    if status != 0:
        return "failed", output
    return "wrong" if WRONG.search(output) else "right" if RIGHT.search(output) else "ended", output


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collection")
    parser.add_argument("--list", action="store_true", help="only print the names")
    parser.add_argument("--seconds", type=float, default=110, help="of a run")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    chosen = [folder for folder in sorted(glob.glob(options.collection + "/src/*-cuda")) if isChosen(folder)]
    if options.list:
        print("\n".join(os.path.basename(folder) for folder in chosen))
        return
    counts = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for folder, (verdict, output) in zip(chosen, pool.map(lambda f: score(f, options.seconds), chosen)):
            counts[verdict] += 1
            print(f"{verdict:9} {os.path.basename(folder)}")
            if verdict not in ("right", "ended"):
                print("\n".join("    " + line[:200] for line in output.splitlines()[-5:]), flush=True)
    print(f"{len(chosen)} programs: " + ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items())))


if __name__ == "__main__":
    main()
