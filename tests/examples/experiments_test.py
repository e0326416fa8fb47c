"""Runs the experiments and looks at what they say and write.

Usage: experiments_test.py <executable>
SPDX-License-Identifier: MIT
"""

import csv
import json
import tempfile
import unittest
from pathlib import Path

import program
from program import main, run

program.limit = 600


class Experiments(unittest.TestCase):
    def names(self):
        listed = run("--list")
        self.assertEqual(listed.returncode, 0, listed.stderr)
        return [block.split("\n")[0] for block in listed.stdout.strip().split("\n\n")]

    def test_all_are_listed(self):
        self.assertEqual(self.names(), ["access", "structures", "shared_memory", "divergence", "occupancy", "matrix_product",
                                        "histogram", "memory_spaces", "arithmetic", "transfers", "latency", "caches",
                                        "registers", "coarsening", "throughput", "atomics", "async_copies", "memory_rows",
                                        "reuse", "numbers", "host", "limits", "textures"])

    def test_results_are_right_and_written(self):
        with tempfile.TemporaryDirectory() as folder:
            tables, data = Path(folder) / "new" / "tables.csv", Path(folder) / "tables.json"
            emulated = "emulated" in run("divergence").stdout.splitlines()[0]
            names = self.names() if emulated else ["divergence", "shared_memory"]  # the others take a GPU some time
            done = run(*names, "--csv", tables, "--json", data)
            self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
            self.assertIn("All results agree", done.stdout)
            self.assertEqual(emulated, "No times" in done.stdout)

            lines = [line for line in tables.read_text().splitlines() if not line.startswith("#")]
            rows = list(csv.DictReader(lines))
            self.assertEqual({row["experiment"] for row in rows}, set(names))
            self.assertEqual({row["right"] for row in rows}, {"yes"})
            self.assertEqual(any(row["value"] for row in rows), not emulated)
            self.assertEqual(any(row["measured"] for row in rows), not emulated)

            written = json.loads(data.read_text())
            self.assertEqual(written["wrong"], 0)
            self.assertEqual({table["experiment"] for table in written["tables"]}, set(names))
            self.assertEqual(any(row["measured"] for table in written["tables"] for row in table["rows"]), not emulated)

    def test_what_was_published_stands_beside_the_prediction(self):
        output = run("divergence").stdout
        self.assertRegex(output, r"tid > 15 +splits a warp +\(A \+ 2 B\) / 2")
        self.assertRegex(output, r"v1, tid % 2c == 0 +8 8 8 8 8 4 2 1 +8 8 8 8 8 4 2 1")

    def assert_refused(self, problem, *arguments):
        done = run(*arguments)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("experiments: "), done.stderr)
        self.assertIn(problem, done.stderr)

    def test_bad_options(self):
        self.assert_refused("alchemy", "alchemy")
        self.assert_refused("--speed", "--speed")
        with tempfile.TemporaryDirectory() as folder:
            self.assert_refused("cannot be written", "divergence", "--csv", folder)

    def test_help(self):
        done = run("--help")
        self.assertEqual(done.returncode, 0)
        self.assertIn("--json", done.stdout)


if __name__ == "__main__":
    main("divergence")
