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
PROFILE = "copy;8;8;1000;32;0;0\ntwo kernels;2;2;8;8;1024;32\n"
LAUNCHES = [("fill(float *)", [5, 5, 5, 5, 5, 5]),
            ("<unnamed>::beginCase()", [0, 0, 0, 0, 0, 0]), ("copy(const float *, float *)", [8, 8, 1000, 32, 0, 0]),
            ("<unnamed>::beginCase()", [0, 0, 0, 0, 0, 0]), ("first()", [1, 1, 4, 4, 1000, 16]),
            ("second()", [1, 1, 4, 4, 24, 16])]


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


def compared(profile, launches, *arguments):
    with tempfile.TemporaryDirectory() as folder:
        files = Path(folder) / "profile.csv", Path(folder) / "ncu.csv"
        files[0].write_text(profile)
        files[1].write_text(log(launches))
        return subprocess.run([sys.executable, "-B", SCRIPT, *files, *arguments], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)


def changed(metric, value):
    launches = [(kernel, list(counts)) for kernel, counts in LAUNCHES]
    launches[2][1][metric] = value
    return launches


class Comparison(unittest.TestCase):
    def test_agrees(self):
        done = compared(PROFILE, LAUNCHES)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", "10 of 10 agree\n"))

    def test_differs(self):
        done = compared(PROFILE, changed(2, 1011))
        self.assertEqual((done.returncode, done.stderr), (1, "9 of 10 agree\n"))
        self.assertIn("| copy | global load sectors | 1000 | 1011 | differs |", done.stdout)
        self.assertEqual(compared(PROFILE, changed(2, 1010)).returncode, 0)
        self.assertEqual(compared(PROFILE, changed(2, 1011), "--tolerance", "0.02").returncode, 0)

    def test_counted_by_one_alone(self):
        self.assertIn("| copy | shared load passes | 0 | 7 | differs |", compared(PROFILE, changed(4, 7)).stdout)

    def test_all(self):
        self.assertIn("| two kernels | shared load passes | 1024 | 1024 |  |", compared(PROFILE, LAUNCHES, "--all").stdout)

    def test_other_cases(self):
        done = compared(PROFILE, LAUNCHES[:3])
        self.assertEqual(done.stderr, "compare_profile: 2 cases were profiled, and ncu has 1\n")
        self.assertEqual(done.returncode, 1)
        self.assertIn("5 counts instead of 6: copy;8;8;1000;32;0", compared("copy;8;8;1000;32;0\n", LAUNCHES).stderr)


if __name__ == "__main__":
    unittest.main()
