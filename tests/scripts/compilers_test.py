"""check_compilers.py tells what passed from what failed and from what was not checked, and docs/packaging.md has the
table of tests/compilers/matrix.txt. Nothing is fetched and no CUDA compiler is called.

SPDX-License-Identifier: MIT
"""

import contextlib
import io
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import check_compilers  # noqa: E402
import toolchains  # noqa: E402

MATRIX = """# A comment.
change   nvcc        cuda-13.0  g++-12  17  75,80,90,121  -  90
release  clang++-22  cuda-12.4  -       20  90            -  -
change   g++-12      emulation  -       23  -             -  -
"""


def unavailable(name, *_):
    raise toolchains.Unavailable(f"{name} is not here")


class Compilers(unittest.TestCase):
    def setUp(self):
        self.matrix = list(check_compilers.read_matrix(MATRIX))

    def check(self, jobs):
        """The numbers of failures and of what was not checked, and what is printed, if jobs_of() is `jobs`."""
        said = io.StringIO()
        with mock.patch.object(check_compilers, "jobs_of", jobs), contextlib.redirect_stdout(said), \
                ThreadPoolExecutor(2) as pool:
            return *check_compilers.check(self.matrix, pool), said.getvalue()

    def test_passed(self):
        failed, unchecked, said = self.check(lambda it: [check_compilers.Job("it", ["true"], "true")])
        self.assertEqual((failed, unchecked), (0, 0))
        self.assertEqual(said.count("ok  "), 3)

    def test_failed(self):
        job = check_compilers.Job("it", ["sh", "-c", "echo x.cuh: error: no; exit 1"])
        failed, unchecked, said = self.check(lambda it: [job] if it.toolkit == "cuda-12.4" else [])
        self.assertEqual((failed, unchecked), (1, 0))
        self.assertIn("FAILED       clang++-22, cuda-12.4, C++20", said)
        self.assertIn("x.cuh: error: no", said)

    def test_program_that_fails(self):
        self.assertEqual(self.check(lambda it: [check_compilers.Job("it", ["true"], "false")])[:2], (3, 0))

    def test_not_checked(self):
        with mock.patch.object(toolchains, "toolkit_folder", unavailable), \
                mock.patch.object(toolchains, "compiler", unavailable):
            failed, unchecked, said = self.check(check_compilers.jobs_of)
        self.assertEqual((failed, unchecked), (0, 3))
        self.assertIn("not checked  nvcc, cuda-13.0, g++-12, C++17: cuda-13.0 is not here", said)
        self.assertNotIn("ok  ", said)

    def test_table(self):
        rows = list(check_compilers.table(self.matrix))
        self.assertEqual(rows[2], "| nvcc, host g++-12 | 13.0 | 17 | 4 from sm_75 to sm_121 | | sm_90 | each change |")
        self.assertEqual(rows[4], "| g++-12 | none | 23 | the emulated device | | run | each change |")

    def test_documentation(self):
        table = "\n".join(check_compilers.table(check_compilers.read_matrix(check_compilers.MATRIX.read_text())))
        self.assertIn(table, (ROOT / "docs" / "packaging.md").read_text(), "scripts/check_compilers.py --table writes it")

    def test_toolchains(self):
        """Every name in the matrix is pinned."""
        for it in check_compilers.read_matrix(check_compilers.MATRIX.read_text()):
            names = {it.compiler, it.toolkit, it.host} - {"nvcc", "-", check_compilers.EMULATION}
            self.assertLessEqual(names, set(toolchains.pinned()), it.name)


if __name__ == "__main__":
    unittest.main()
