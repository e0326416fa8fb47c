"""The version is written in version.cuh alone, where CMake and the Conan recipe read it, and copied where something has
to be read as it stands: by vcpkg, and by people. The copies say the same.

SPDX-License-Identifier: MIT
"""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COPIES = [
    ("packaging/vcpkg/gpuopt/vcpkg.json", r'^  "version": "(.*)"'),
    ("docs/packaging.md", r"^ *gpuopt/([\d.]+)$"),
    ("docs/packaging.md", r"find_package\(gpuopt ([\d.]+)"),
    ("docs/packaging.md", r"takes any ([\d.]+)\.x"),
    ("README.md", r"find_package\(gpuopt ([\d.]+)"),
    ("README.md", r"^Version ([\d.]+) "),
]


class Version(unittest.TestCase):
    def test_copies(self):
        header = (ROOT / "include" / "gpuopt" / "version.cuh").read_text()
        major, minor, patch = re.findall(r"#define GPUOPT_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header)
        for file, pattern in COPIES:
            with self.subTest(file=file, pattern=pattern):
                said = re.findall(pattern, (ROOT / file).read_text(), re.MULTILINE)
                self.assertTrue(said, "no longer there")
                self.assertLessEqual(set(said), {f"{major}.{minor}.{patch}", f"{major}.{minor}"})


if __name__ == "__main__":
    unittest.main()
