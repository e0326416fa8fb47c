"""scripts/compare_profile.py on logs as Nsight Compute writes them, with counts that are made up.

SPDX-License-Identifier: MIT
"""

import csv
import io
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "compare_profile.py"
METRICS = subprocess.run([sys.executable, "-B", SCRIPT, "--metrics"], stdout=subprocess.PIPE, text=True,
                         check=True).stdout.strip().split(",")
# global requests of loads, stores and atomics, sectors of loads and stores, shared atomics, passes of shared loads and
# stores, requests and passes of asynchronous copies
PROFILE = "arrays;copy;1;8;8;0;1000;32;0;0;0;0;0\narrays;two kernels;2;2;2;5;8;8;3;1024;32;4;16\n"
LAUNCHES = [("copy(const float *, float *)", [8, 8, 0, 0, 1000, 32, 0, 0, 0, 0, 0]),
            ("first()", [1, 1, 2, 1, 4, 4, 1, 1000, 16, 4, 16]), ("second()", [1, 1, 0, 2, 4, 4, 2, 24, 16, 0, 0])]
GROUPS = "| kernels | cases | counts | agree | worst difference of those that agree |\n|---|---|---|---|---|\n"


def log(launches):
    """What ncu --csv writes: remarks, then a row for each metric of each launch."""
    text = io.StringIO()
    text.write("==PROF== Connected to process 7\n")
    writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerow(["ID", "Process ID", "Kernel Name", "Metric Name", "Metric Unit", "Metric Value"])
    for number, (kernel, counts) in enumerate(launches):
        for metric, value in zip(METRICS, counts):
            writer.writerow([number, 7, kernel, metric, "", f"{value:,}"])
    return text.getvalue()


def compared(profile, counts, *arguments):
    with tempfile.TemporaryDirectory() as folder:
        files = Path(folder) / "profile.csv", Path(folder) / "counts.csv"
        files[0].write_text(profile)
        files[1].write_text(counts)
        return subprocess.run([sys.executable, "-B", SCRIPT, *files, *arguments], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)


def changed(launch, metric, value):
    launches = [(kernel, list(counts)) for kernel, counts in LAUNCHES]
    launches[launch][1][metric] = value
    return log(launches)


class Comparison(unittest.TestCase):
    def test_agrees(self):
        done = compared(PROFILE, log(LAUNCHES))
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (0, GROUPS + "| arrays | 2 | 14 | 14 | 0.0 % |\n", "14 of 14 agree\n"))

    def test_differs(self):
        done = compared(PROFILE, changed(0, 4, 1011))
        self.assertEqual((done.returncode, done.stderr), (1, "13 of 14 agree\n"))
        self.assertIn("| arrays: copy | global load sectors | 1000 | 1011 | differs |", done.stdout)
        self.assertIn("| arrays | 2 | 14 | 13 | 0.0 % |", done.stdout)
        self.assertEqual(compared(PROFILE, changed(0, 4, 1010)).returncode, 0)
        self.assertIn("| 14 | 1.0 % |", compared(PROFILE, changed(0, 4, 1010)).stdout)
        self.assertEqual(compared(PROFILE, changed(0, 4, 1011), "--tolerance", "0.02").returncode, 0)

    def test_sums(self):
        self.assertIn("| arrays: two kernels | global atomic requests | 5 | 8 | differs |",
                      compared(PROFILE, changed(2, 2, 3)).stdout)

    def test_counted_by_one_alone(self):
        self.assertIn("| arrays: copy | shared load passes | 0 | 7 | differs |", compared(PROFILE, changed(0, 7, 7)).stdout)

    def test_all(self):
        self.assertIn("| arrays: two kernels | shared load passes | 1024 | 1024 |  |",
                      compared(PROFILE, log(LAUNCHES), "--all").stdout)

    def test_record(self):
        recorded = compared(PROFILE, changed(0, 4, 1011), "--record").stdout
        self.assertEqual(recorded, PROFILE.replace(";1000;", ";1011;"))
        self.assertEqual(compared(PROFILE, "# H200\n" + recorded).stderr, "13 of 14 agree\n")
        self.assertIn("has other cases than were profiled", compared(PROFILE, recorded.replace("copy", "fill")).stderr)

    def test_other_cases(self):
        done = compared(PROFILE, log(LAUNCHES[:2]))
        self.assertEqual(done.stderr, "compare_profile: 3 launches were profiled, and ncu has 2\n")
        self.assertEqual(done.returncode, 1)
        self.assertIn("9 counts instead of 10: a;copy;1;8;8;0;1000;32;0;0;0;0",
                      compared("a;copy;1;8;8;0;1000;32;0;0;0;0\n", log(LAUNCHES)).stderr)


if __name__ == "__main__":
    unittest.main()
