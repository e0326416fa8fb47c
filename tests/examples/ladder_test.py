"""Climbs a ladder, and looks at its table, its files, and what it says to wrong options.

Usage: ladder_test.py <reduction_ladder or transpose_ladder>
SPDX-License-Identifier: MIT
"""

import csv
import json
import tempfile
import unittest
from pathlib import Path

import program
from program import main, path, run

program.limit = 300
LADDERS = {  # sizes to ask for, the last step, and a size that is refused
    "reduction_ladder": (["1000", "5k"], ["1000 elements of 4 bytes", "5120 elements of 4 bytes"], "gpuopt::reduceInto", "0"),
    "transpose_ladder": (["65", "40x70"], ["65 x 65 floats", "40 x 70 floats"], "gpuopt::transpose", "65536x2"),
}


class Ladder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.name = next(name for name in LADDERS if name in path())
        self.sizes, self.workloads, self.last, self.refused = LADDERS[self.name]

    def climb(self, *arguments):
        done = run(*arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertNotIn("WRONG", done.stdout)
        return done.stdout

    def files(self):
        files = self.folder / "new" / "ladder.csv", self.folder / "new" / "ladder.json"
        output = self.climb("--size", *self.sizes, "--repeats", 2, "--csv", files[0], "--json", files[1])
        rows = csv.DictReader(line for line in files[0].read_text().splitlines() if not line.startswith("#"))
        return output, list(rows), json.loads(files[1].read_text())

    def test_every_step_of_every_size_is_right(self):
        output, rows, report = self.files()
        self.assertEqual([table["workload"] for table in report["tables"]], self.workloads)
        self.assertEqual(list(dict.fromkeys(row["workload"] for row in rows)), self.workloads)
        self.assertEqual({row["right"] for row in rows}, {"yes"})
        self.assertEqual(report["wrong"], 0)
        for table, workload in zip(report["tables"], self.workloads):
            names = [step["step"] for step in table["steps"]]
            self.assertIn(self.last, names)
            self.assertEqual(names, [row["step"] for row in rows if row["workload"] == workload])
        self.assertEqual(output.count("   ok\n"), len(rows))

    def test_each_step_says_what_it_teaches(self):
        for step in self.files()[2]["tables"][0]["steps"]:
            self.assertTrue(step["changed"], step)

    def test_times_are_those_of_a_gpu_or_not_there(self):
        output, rows, report = self.files()
        emulated = "emulated" in output.splitlines()[0]
        self.assertEqual("No times" in output, emulated)
        self.assertEqual("GB/s" in output, not emulated)
        self.assertEqual({bool(row["launches_gbps"]) for row in rows}, {not emulated})
        self.assertEqual(report["tables"][0]["copy_gbps"] is None, emulated)

    def test_without_arguments(self):
        self.assertIn(self.last, self.climb())

    def test_help(self):
        self.assertIn("--repeats", self.climb("--help"))

    def test_bad_options(self):
        for arguments in (("--size", self.refused), ("--size", "many"), ("--repeats", 0), ("--colour",),
                          ("--csv", "/dev/null/ladder.csv")):
            done = run(*arguments)
            self.assertEqual(done.returncode, 1, arguments)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertTrue(done.stderr.startswith(self.name + ": "), done.stderr)


if __name__ == "__main__":
    main("--size", 33)
