"""The version is written in version.cuh alone, where CMake and the Conan recipe read it, and copied where something has
to be read as it stands: by vcpkg, and by people. The copies say the same, and releases have the day they were made on.

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
    ("CITATION.cff", r"^version: ([\d.]+)$"),
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

    def test_changelog(self):
        """Sections are of what is to come, which is first, and of releases with their days, newest first."""
        headings = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
        self.assertEqual(headings[0], "[Unreleased]")
        released = [re.fullmatch(r"\[(\d+)\.(\d+)\.(\d+)\] - (\d{4}-\d\d-\d\d)", heading) for heading in headings[1:]]
        self.assertNotIn(None, released)
        keys = [(*map(int, match.groups()[:3]), match[4]) for match in released]
        self.assertEqual(keys, sorted(keys, reverse=True))
        cited = re.findall(r"^date-released: (.*)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
        self.assertEqual(cited, [match[4] for match in released[:1]])


if __name__ == "__main__":
    unittest.main()
