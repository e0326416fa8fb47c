"""What gpuopt-emulate makes of nvcc's command lines.
SPDX-License-Identifier: MIT
"""

import importlib.machinery
import importlib.util
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "emulation" / "gpuopt-emulate"
loader = importlib.machinery.SourceFileLoader("gpuopt_emulate", str(SCRIPT))
gpuopt_emulate = importlib.util.module_from_spec(importlib.util.spec_from_loader("gpuopt_emulate", loader))
loader.exec_module(gpuopt_emulate)


def run(*words):
    return subprocess.run([sys.executable, "-B", str(SCRIPT), *words], capture_output=True, text=True)


class Options(unittest.TestCase):
    def check(self, words, options, ignored=()):
        command = gpuopt_emulate.Command(words.split())
        self.assertEqual([option for option in command.options if isinstance(option, str)], options.split())
        self.assertEqual(command.ignored, list(ignored))
        return command

    def test_options_of_the_device_are_left_out(self):
        self.check("-arch=sm_80 p.cu -lineinfo", "", ["-arch=sm_80", "-lineinfo"])
        self.check("-arch sm_80 -gencode arch=compute_90,code=sm_90 p.cu", "",
                   ["-arch sm_80", "-gencode arch=compute_90,code=sm_90"])
        self.check("--gpu-architecture=sm_90 -rdc=true -rdc true --expt-relaxed-constexpr p.cu", "",
                   ["--gpu-architecture=sm_90", "-rdc=true", "-rdc true", "--expt-relaxed-constexpr"])
        self.check("--use_fast_math -Xptxas -v --ptxas-options=-v -maxrregcount=32 -t 0 p.cu", "",
                   ["--use_fast_math", "-Xptxas -v", "--ptxas-options=-v", "-maxrregcount=32", "-t 0"])

    def test_options_of_the_compiler_are_kept(self):
        self.check("-O3 -g -w -Wall -fopenmp -DN=3 -D M -Iinclude -I more -Llib -L lib -lm -l z p.cu",
                   "-O3 -g -w -Wall -fopenmp -DN=3 -DM -Iinclude -Imore -Llib -Llib -lm -lz")
        self.check("--optimize 2 --define-macro=X=1 --include-path inc --library=m --debug p.cu", "-O2 -DX=1 -Iinc -lm -g")
        self.check("-Xcompiler -Wall,-fopenmp -Xcompiler=-Wextra --compiler-options -O1 p.cu", "-Wall -fopenmp -Wextra -O1")
        self.check("-Xlinker -rpath,/lib -isystem sys -G p.cu", "-Xlinker -rpath -Xlinker /lib -isystem sys -g")
        self.check("-Werror=unused p.cu -Werror", "-Werror=unused -Werror")
        self.check("-Werror all-warnings p.cu", "", ["-Werror all-warnings"])

    def test_the_runtime_needs_no_library(self):
        self.check("p.cu -lcudart -lcuda -lcudadevrt -lnvToolsExt -lm", "-lm")
        with self.assertRaisesRegex(gpuopt_emulate.Refused, "-lcublas: the emulated device has no library"):
            gpuopt_emulate.Command(["p.cu", "-lcublas"])

    def test_the_standard_is_at_least_17(self):
        for asked, used in ((None, "gnu++17"), ("c++11", "c++17"), ("c++14", "c++17"), ("c++17", "c++17"),
                            ("c++20", "c++20"), ("gnu++14", "gnu++17"), ("gnu++23", "gnu++23")):
            self.assertEqual(gpuopt_emulate.standard(asked), "-std=" + used)
        self.assertEqual(gpuopt_emulate.Command(["-std=c++20", "p.cu"]).standard, "c++20")
        self.assertEqual(gpuopt_emulate.Command(["--std", "c++14", "p.cu"]).standard, "c++14")

    def test_inputs_keep_their_order_and_language(self):
        command = gpuopt_emulate.Command("a.cu -x cu b.cpp -x none c.cpp d.o -o program".split())
        self.assertEqual(command.inputs, [("a.cu", None), ("b.cpp", "cu"), ("c.cpp", None), ("d.o", None)])
        self.assertEqual(command.output, "program")
        self.assertEqual([gpuopt_emulate.is_cuda(*source) for source in command.inputs], [True, True, False, False])

    def test_what_there_is_nothing_for_is_refused(self):
        for words in (("-ptx", "p.cu"), ("-cubin", "p.cu"), ()):
            with self.assertRaises(gpuopt_emulate.Refused):
                gpuopt_emulate.build(gpuopt_emulate.Command(words))


class Programs(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def write(self, name, text):
        (self.root / name).write_text(text)
        return str(self.root / name)

    def test_the_command_is_shown(self):
        source = self.write("p.cu", "int main() {}\n")
        shown = run("-###", "-O2", "-arch=sm_90", source, "-o", "program")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        for word in ("-std=gnu++17", "-fno-strict-aliasing", "-O2", "-lboost_context", "-o program"):
            self.assertIn(word, shown.stdout)
        self.assertEqual(shown.stderr, "gpuopt-emulate: without a meaning here: -arch=sm_90\n")

    def test_dependencies_name_the_source_and_its_headers(self):
        self.write("k.cuh", "inline void f() { k<<<1, 1>>>(); }\n")
        source = self.write("p.cu", '__global__ void k() {}\n#include "k.cuh"\n')
        depfile = self.root / "p.d"
        made = run("-M", "-MF", str(depfile), source)
        if "No such file" in made.stderr:  # no compiler, or no Boost
            self.skipTest(made.stderr)
        made = run("-c", "-MD", "-MF", str(depfile), "-fsyntax-only", source)
        self.assertEqual(made.returncode, 0, made.stderr)
        text = depfile.read_text()
        self.assertIn("k.cuh", text)
        self.assertIn("p.cu", text)
        self.assertNotIn("gpuopt-emulate-", text)

    def test_a_missing_source_is_named(self):
        said = run("nowhere.cu")
        self.assertEqual(said.returncode, 1)
        self.assertEqual(said.stderr, "gpuopt-emulate: nowhere.cu: no such file\n")


if __name__ == "__main__":
    unittest.main()
