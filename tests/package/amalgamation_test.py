"""The header that amalgamate.py makes holds every header once, and programs compiled with it are right: on the emulated
device; natively they are compiled and linked.

Usage: amalgamation_test.py g++|nvcc <compiler>
SPDX-License-Identifier: MIT
"""

import re
import subprocess
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NEEDS_NCCL = re.compile("distributed|peer_words")  # headers that are not in gpuopt.cuh
WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"]


def call(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode:
        raise AssertionError(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


class Amalgamation(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """The header, and a folder in which each of gpuopt's headers is nothing but it."""
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.work = Path(cls.folder.name)
        cls.header = cls.work / "gpuopt_all.cuh"
        call(ROOT / "scripts" / "amalgamate.py", "-o", cls.header)
        for header in (ROOT / "include").rglob("*.cuh"):
            instead = cls.work / header.relative_to(ROOT / "include")
            instead.parent.mkdir(parents=True, exist_ok=True)
            instead.write_text(f'#include "{cls.header}"\n')


class Gxx(Amalgamation):
    def test_holds_every_header_once(self):
        text = self.header.read_text()
        inlined = re.findall(r"^// ---- (.*)$", text, re.MULTILINE)
        headers = [str(path.relative_to(ROOT / "include")) for path in (ROOT / "include").rglob("*.cuh")]
        headers = [name for name in headers if not NEEDS_NCCL.search(name)]
        self.assertEqual(sorted(inlined), sorted(headers))
        self.assertEqual(re.findall(r"^\s*#\s*include\s*[<\"]gpuopt.*", text, re.MULTILINE), [])
        text = text.replace("#include <see_the_error_above>", "")  # no header: it ends the compilation
        repeated = [name for name, count in Counter(re.findall(r"^#include .*", text, re.MULTILINE)).items() if count > 1]
        self.assertEqual(repeated, [])

    def test_licence(self):
        text = self.header.read_text()
        self.assertEqual(text.count("SPDX-License-Identifier: MIT"), 1)
        for line in (ROOT / "LICENSE").read_text().splitlines():
            self.assertIn(f"// {line}".rstrip(), text)

    def test_one_header(self):
        out = self.work / "launch.cuh"
        call(ROOT / "scripts" / "amalgamate.py", "-o", out, "gpuopt/launch.cuh")
        self.assertIn("// ---- gpuopt/launch.cuh", out.read_text())
        self.assertNotIn("// ---- gpuopt/reduce.cuh", out.read_text())

    def test_header_that_is_not_there(self):
        with self.assertRaisesRegex(AssertionError, "there is no header gpuopt/reduction.cuh"):
            call(ROOT / "scripts" / "amalgamate.py", "-o", self.work / "none.cuh", "gpuopt/reduction.cuh")

    def test_file_that_cannot_be_written(self):
        out = self.header / "one.cuh"  # in a file, where also root cannot write
        with self.assertRaises(AssertionError) as caught:
            call(ROOT / "scripts" / "amalgamate.py", "-o", out, "gpuopt/version.cuh")
        said = str(caught.exception).splitlines()[1:]
        self.assertEqual(said, [f"amalgamate: {out} cannot be written: File exists; -o <file> names another"])

    def test_program(self):
        program = self.work / "soa_columns"
        call(COMPILER, "-std=c++17", *WARNINGS, "-Wno-unknown-pragmas", "-I", ROOT / "emulation" / "include",
             "-I", self.work, "-I", ROOT / "examples" / "support", "-x", "c++",
             ROOT / "examples" / "soa_columns" / "soa_columns.cu", "-o", program, "-lboost_context", "-lpthread")
        self.assertIn("ok", call(program))

    def test_in_two_files(self):
        consumer = ROOT / "tests" / "package" / "consumer"
        program, doubled = self.work / "consumer", self.work / "doubled.cpp"
        call(ROOT / "emulation" / "rewrite_launches.py", "-o", doubled, consumer / "doubled.cu")
        call(COMPILER, "-std=c++17", *WARNINGS, "-Wno-unknown-pragmas", "-I", ROOT / "emulation" / "include",
             "-I", self.work, "-x", "c++", consumer / "main.cu", consumer / "total.cu", consumer / "host.cpp",
             doubled, "-o", program, "-lboost_context", "-lpthread")
        self.assertIn("emulated: sums 50005000, 50005000 and 100010000", call(program))


class Nvcc(Amalgamation):
    def test_programs(self):
        for lesson in ["reduce_basics", "soa_columns"]:
            call(COMPILER, "-std=c++17", "-arch=sm_90", "--extended-lambda", "--Werror=all-warnings",
                 f"-Xcompiler={','.join(WARNINGS)}", "-I", self.work, "-I", ROOT / "examples" / "support",
                 ROOT / "examples" / lesson / f"{lesson}.cu", "-o", self.work / f"{lesson}_native")


if __name__ == "__main__":
    KIND, COMPILER = sys.argv[1:3]
    tests = unittest.defaultTestLoader.loadTestsFromTestCase({"g++": Gxx, "nvcc": Nvcc}[KIND])
    sys.exit(not unittest.TextTestRunner().run(tests).wasSuccessful())
