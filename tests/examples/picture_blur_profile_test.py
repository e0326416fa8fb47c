"""The profile of picture_blur finds the slow line of a program that knows nothing of gpuopt, and shows that it is cured.

Usage: picture_blur_profile_test.py <executable>
SPDX-License-Identifier: MIT
"""

import os
import tempfile
import unittest
from pathlib import Path

from program import main, run


def report(pitch):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.txt"
        os.environ["GPUOPT_PROFILE"] = str(path)
        assert run(pitch).returncode == 0
        return path.read_text()


class Profile(unittest.TestCase):
    def test_slow(self):
        first = report("32").split("\n 2. ")[0]
        self.assertRegex(first, r"1\. picture_blur\.cu:\d+, transpose\(float const\*, float\*, int, int, int\)\n")
        self.assertRegex(first, r"read 4 bytes, 128 bytes apart, up to 32 words of one bank: 29\.1 passes")
        self.assertIn("Pad the rows by one word", first)

    def test_cured(self):
        self.assertNotIn("of one bank", report("33"))


if __name__ == "__main__":
    main()
