"""What a compiler and a linker say of a command that lacks something.

Usage: build_mistakes_test.py <repository> g++|nvcc <compiler>
SPDX-License-Identifier: MIT
"""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = """#include <gpuopt/launch.cuh>
__global__ void kernel(int* out) { *out = 1; }
int main() {
  gpuopt::launch(kernel, {}, static_cast<int*>(nullptr));
}
"""
LAMBDA = """#include <gpuopt/version.cuh>
template <class F> __global__ void kernel(F f) { f(1); }
void fail() { kernel<<<1, 1>>>([] __device__(int x) { return 2 * x; }); }
"""


def complaint(source, *arguments):
    """What a compiler says of program.cu."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "program.cu").write_text(source)
        command = [COMPILER, "-std=c++17", *arguments, "-o", "program"]
        done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              env={**os.environ, "LC_ALL": "C"})
        return done.stdout if done.returncode else "no error"


class Gxx(unittest.TestCase):
    folders = property(lambda self: ("-I", f"{ROOT}/emulation/include", "-I", f"{ROOT}/include"))

    def test_no_include_path(self):
        said = complaint(PROGRAM, "-x", "c++", "program.cu", "-fsyntax-only")
        # WRITTEN build: g++ -x c++ program.cu
        # DO: `-I emulation/include -I include`, in this order; for nvcc `-I include`
        self.assertIn("gpuopt/launch.cuh: No such file or directory", said.splitlines()[0])

    def test_no_language(self):
        # WRITTEN build: g++ -I emulation/include -I include program.cu
        # DO: `-x c++` before the source: g++ takes a .cu file for an object
        self.assertIn("program.cu: file format not recognized", complaint(PROGRAM, *self.folders, "program.cu"))

    def test_no_boost_context(self):
        said = complaint(PROGRAM, "-Wno-unknown-pragmas", *self.folders, "-x", "c++", "program.cu", "-lpthread")
        # WRITTEN build: `g++ … -x c++ program.cu` without libraries
        # DO: `-lboost_context -lpthread` after the source
        self.assertIn("undefined reference to `ontop_fcontext'", said)


class Nvcc(unittest.TestCase):
    def test_no_extended_lambda(self):
        said = complaint(LAMBDA, "-I", f"{ROOT}/include", "-c", "program.cu")
        # WRITTEN build: nvcc program.cu
        # DO: `--extended-lambda`
        self.assertIn("annotation on lambda requires --extended-lambda nvcc flag", said.splitlines()[0])


if __name__ == "__main__":
    ROOT, KIND, COMPILER = sys.argv[1:4]
    tests = unittest.defaultTestLoader.loadTestsFromTestCase({"g++": Gxx, "nvcc": Nvcc}[KIND])
    sys.exit(not unittest.TextTestRunner().run(tests).wasSuccessful())
