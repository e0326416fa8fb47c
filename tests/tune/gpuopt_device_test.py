"""Runs gpuopt-device on the emulated device, and compares what it says with what the headers read.

Usage: gpuopt_device_test.py <executable>
SPDX-License-Identifier: MIT
"""

import json
import re
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else None


def run(*arguments):
    return subprocess.run([str(PROGRAM), *arguments], capture_output=True, text=True, timeout=60)


def properties():
    return {entry["name"]: entry for entry in json.loads(run("--json").stdout)["properties"]}


class Device(unittest.TestCase):
    def test_json_has_the_limits_of_the_device(self):
        done = run("--json", "--device", "0")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        found = json.loads(done.stdout)
        self.assertEqual((found["device"], found["name"], found["emulated"]), (0, "gpuopt emulated device", True))
        values = {name: (entry["value"], entry["unit"], entry["gpuopt"]) for name, entry in properties().items()}
        self.assertEqual(values["compute capability"], ("7.5", "", "reads"))
        self.assertEqual(values["multiprocessors"], (4, "", "reads"))
        self.assertEqual(values["shared memory of a block"], (227 * 1024, "bytes", "reads"))
        self.assertEqual(values["L2 cache"], (50 << 20, "bytes", "reads"))
        self.assertEqual(values["maps host memory"], (1, "", "needs"))
        self.assertEqual(values["integrated"], (0, "", "yours"))

    def test_the_emulated_device_has_no_speed(self):
        self.assertEqual([name for name in properties() if "bandwidth" in name], [])
        self.assertNotIn("GB/s", run().stdout)

    def test_text_has_every_property_and_its_choice(self):
        text = run().stdout
        self.assertTrue(text.startswith("gpuopt emulated device: it has the limits of a GPU, and no speed\n"))
        words = " ".join(text.split())
        for name, entry in properties().items():
            self.assertIn(f"{name}: {entry['value']}", words)
            self.assertIn(entry["choice"], words)
        self.assertLessEqual(max(map(len, text.splitlines())), 100)

    def test_what_the_headers_read_is_what_it_says_they_read(self):
        headers = [path.read_text() for path in (ROOT / "include").rglob("*.cuh") if path.name != "macros.cuh"]
        read = set(re.findall(r"\bcudaDevAttr\w+", "\n".join(headers)))
        read -= {"cudaDevAttrComputeCapabilityMajor", "cudaDevAttrComputeCapabilityMinor"}  # one property, in text
        source = (ROOT / "tune/properties.cuh").read_text()
        listed = set(re.findall(r"(cudaDevAttr\w+),\s*Use::reads", source))
        self.assertEqual(read, listed)

    def test_pages_that_it_names_are_there(self):
        pages = re.findall(r"docs/[\w/]+\.md", (ROOT / "tune/properties.cuh").read_text())
        self.assertEqual([page for page in pages if not (ROOT / page).exists()], [])

    def test_bad_options(self):
        for problem, *arguments in (
                ("--device: '1' is none of the 1 devices; the first one is 0", "--device", "1"),
                ("--device: 'all' is none of the 1 devices; the first one is 0", "--device", "all"),
                ("--speed is no option; --help lists them", "--speed"),
                ("more is no option; --help lists them", "more")):
            done = run(*arguments)
            self.assertEqual((done.returncode, done.stderr), (1, f"gpuopt-device: {problem}\n"))

    def test_help(self):
        done = run("--help")
        self.assertEqual(done.returncode, 0)
        for option in ("--device", "--json"):
            self.assertIn(option, done.stdout)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
