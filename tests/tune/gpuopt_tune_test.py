"""Runs gpuopt-tune on the emulated device: what it writes, and what it says of bad files and options.

Usage: gpuopt_tune_test.py <executable>
SPDX-License-Identifier: MIT
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

OTHER = {"name": "own", "type": "float", "log2_size": 3, "choice": "TILE 64", "device": "A GPU", "capability": 90}


def run(*arguments, **environment):
    return subprocess.run([str(Path(sys.argv[1]).resolve()), *map(str, arguments)], capture_output=True, text=True,
                          timeout=120, env={**os.environ, **environment})


class Tune(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = Path(folder.name) / "tuning.json"

    def measured(self, *arguments, **environment):
        """The output and the entries that it has written."""
        done = run("--seconds", 0, "--output", self.file, *arguments, **environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done, json.loads(self.file.read_text())["entries"]

    def test_every_size_that_fits_has_an_entry(self):
        done, entries = self.measured("--only", "upload", "--only", "download", "--most", 50000)
        self.assertEqual([(entry["name"], entry["log2_size"]) for entry in entries],
                         [(name, log) for name in ("gpuopt.download", "gpuopt.upload") for log in (13, 14, 15)])
        for entry in entries:
            self.assertRegex(entry["choice"], r"^(default|0 threads|\d+ threads, \d+ bytes)$")
            self.assertGreater(entry["choice_ns"], 0)
            self.assertTrue(entry["choice"] == "default" or entry["choice_ns"] < 0.98 * entry["first_ns"] + 1)
            self.assertEqual((entry["device"], entry["capability"]), ("gpuopt emulated device", 75))
            self.assertRegex(entry["date"], r"^\d{4}-\d\d-\d\d$")
        lines = done.stdout.splitlines()
        self.assertEqual(lines[0], "gpuopt-tune on gpuopt emulated device")
        self.assertRegex(lines[1], r"^gpuopt\.upload, 12288 bytes: .* us$")
        self.assertEqual(lines[-1], f"entries written: 6. Use them with GPUOPT_TUNING={self.file}")
        self.assertEqual(done.stderr, "")

    def test_the_other_families(self):
        for family, most in (("blocks", 12288), ("staging", 3145728)):
            self.file.unlink(missing_ok=True)
            _, entries = self.measured("--only", family, "--most", most)
            self.assertEqual({entry["name"] for entry in entries}, {f"gpuopt.{family}"})

    def test_limits_of_transpositions(self):
        done, entries = self.measured("--only", "transpose", "--most", 600000)
        self.assertEqual([(entry["name"], entry["log2_size"]) for entry in entries],
                         [("gpuopt.transposeRegisters", log) for log in range(5)])
        for entry in entries:
            self.assertRegex(entry["choice"], r"^(default|KIB \d+)$")
            self.assertGreater(entry["choice_ns"], 0)
        self.assertRegex(done.stdout.splitlines()[1], r"^gpuopt\.transposeRegisters, 1 bytes: .* us$")

    def test_entries_are_merged(self):
        self.file.write_text(json.dumps({"entries": [OTHER], "gpuopt_tuning": 1}, indent=4))
        for _ in range(2):
            _, entries = self.measured("--only", "upload", "--most", 20000)
        self.assertEqual([entry["name"] for entry in entries], ["gpuopt.upload", "own"])
        self.assertEqual({key: entries[1][key] for key in OTHER}, OTHER)

    def test_what_it_has_written_is_read(self):
        self.measured("--only", "upload", "--most", 20000)
        done, _ = self.measured("--only", "upload", "--most", 20000, GPUOPT_TUNING=str(self.file))
        self.assertEqual(done.stderr, "")

    def assert_refused(self, problem, *arguments):
        done = run(*arguments)
        self.assertEqual((done.returncode, done.stderr), (1, f"gpuopt-tune: {problem}\n"))

    def test_a_bad_file_stays(self):
        self.file.write_text("{}")
        self.assert_refused("it is no tuning file of gpuopt", "--output", self.file)
        self.assertEqual(self.file.read_text(), "{}")

    def test_bad_options(self):
        self.assert_refused("--only: there is no family 'sort'", "--only", "sort")
        self.assert_refused("--seconds: 'many' is no number from 0 on", "--seconds", "many")
        self.assert_refused("--seconds: '-1' is no number from 0 on", "--seconds", "-1")
        self.assert_refused("--speed is no option; --help lists them", "--speed")
        self.assert_refused("more is no option; --help lists them", "more")
        self.assert_refused("--most: 100 bytes are less than the smallest transfer", "--most", 100)
        self.assert_refused("--most: the transfers of the family are larger", "--only", "staging", "--most", 20000)

    def test_help(self):
        done = run("--help")
        self.assertEqual(done.returncode, 0)
        for option in ("--output", "--seconds", "--only", "--most"):
            self.assertIn(option, done.stdout)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
