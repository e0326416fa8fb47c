"""compile_times.py: which sources each compiler gets, and what is written of their times. Nothing is compiled.

SPDX-License-Identifier: MIT
"""

import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import compile_times  # noqa: E402

COLUMNS = [("nvcc", ["nvcc"], True), ("g++", ["g++"], False)]
CHOSEN = [("`ours(x)`", "ours", False), ("`peers(x, n)`", "peers", True)]


class CompileTimes(unittest.TestCase):
    def measured(self, times):
        """With the seconds 1, 2, 3 and so on, in the order of the calls."""
        calls = []

        def seconds(command):
            calls.append(command[0])
            return float(len(calls))

        with mock.patch.object(compile_times, "seconds", seconds), contextlib.redirect_stdout(io.StringIO()):
            return compile_times.measure(CHOSEN, COLUMNS, times), calls

    def test_alternation(self):
        measured, calls = self.measured(3)
        self.assertEqual(calls, ["nvcc", "g++", "nvcc"] * 3)
        self.assertEqual(measured, {"`ours(x)`": [[1, 4, 7], [2, 5, 8]], "`peers(x, n)`": [[3, 6, 9], []]})

    def test_table(self):
        lines = list(compile_times.table(self.measured(3)[0], COLUMNS, 3, "3.5.0"))
        self.assertRegex(lines[0], r"^Seconds of user CPU time, \d{4}-\d\d-\d\d, CCCL 3.5.0, medians of 3:$")
        self.assertEqual(lines[2:], ["| source | nvcc | g++ |", "|---|---|---|", "| `ours(x)` | 4.0 | 5.0 |",
                                     "| `peers(x, n)` | 6.0 |  |"])
        self.assertTrue(next(compile_times.table(self.measured(1)[0], COLUMNS, 1, "3.5.0")).endswith(", measured once:"))

    def test_csv(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "times.csv"
            compile_times.write_csv(path, self.measured(3)[0], COLUMNS, "3.5.0")
            lines = path.read_text().splitlines()
        self.assertEqual(lines[:2], ["# program: compile_times", "# cccl: 3.5.0"])
        self.assertEqual(lines[4:], ["source,compiler,seconds,least,greatest,samples", "`ours(x)`,nvcc,4.00,1.00,7.00,3",
                                     "`ours(x)`,g++,5.00,2.00,8.00,3", '"`peers(x, n)`",nvcc,6.00,3.00,9.00,3'])

    def test_page_has_what_was_measured(self):
        """The table of docs/packaging.md is that of the results."""
        results = list(compile_times.csv.DictReader(
            line for line in compile_times.RESULTS.read_text().splitlines() if not line.startswith("#")))
        page = compile_times.TABLE.search(compile_times.PAGE.read_text()).group()
        names = {row["compiler"]: None for row in results}
        self.assertIn(f"| source | {' | '.join(names)} |", page)
        for source in {row["source"]: None for row in results}:
            cells = {row["compiler"]: f"{float(row['seconds']):.1f}" for row in results if row["source"] == source}
            line = next(line for line in page.splitlines() if line.startswith(f"| {source} |"))
            found = [cell.strip() for cell in line.split("|")[2:-1]]
            for cell, name in zip(found, names):
                self.assertAlmostEqual(float(cell or 0), float(cells.get(name, 0)), delta=0.11)
        self.assertEqual(page.count("\n| "), len({row["source"] for row in results}) + 1)


if __name__ == "__main__":
    unittest.main()
