"""The reports that a program writes if GPUOPT_PROFILE names a file.

Usage: reports_test.py <program>
SPDX-License-Identifier: MIT
"""

import csv
import html.parser
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path


def report(name, **environment):
    """The report of that name, and what the program printed."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        done = subprocess.run([PROGRAM], env={**os.environ, "GPUOPT_PROFILE": str(path), **environment}, check=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return path.read_text() if path.is_file() else None, done.stdout


class Tags(html.parser.HTMLParser):
    """Fails where tags are not closed in order."""

    def __init__(self, page):
        super().__init__()
        self.open = []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag


class Reports(unittest.TestCase):
    def test_text(self):
        text, printed = report("report.txt")
        self.assertEqual(printed, "")
        self.assertTrue(text.startswith("What to improve first\n 1. program.cu:9, "), text)
        self.assertIn("32 lanes write 4 bytes, 64 bytes apart: 32 sectors a request where 4 would do.", text)
        self.assertIn("1 launch, 3 blocks, 6 warps; 100 % of the lanes active, 0 barriers by warps", text)
        self.assertIn("reads 256 bytes, writes 2048 bytes, at least 0.000 us on H200 (4800 GB/s)", text)

    def test_json(self):
        found = json.loads(report("report.json")[0])
        kernel, = found["kernels"]
        accesses = [access for line in kernel["lines"] for access in line["accesses"]]
        self.assertEqual({access["kind"]: (access["requests"], access["lanes"], access["sectors"]) for access in accesses},
                         {"global load": (6, 192, 24), "global store": (6, 192, 192)})
        self.assertEqual(found["worst"][0]["source"]["line"], 9)
        self.assertEqual(kernel["bytesWritten"], 2048)

    def test_csv(self):
        rows = list(csv.DictReader(report("report.csv")[0].splitlines()))
        self.assertEqual({row["kind"]: (row["requests"], row["lanes"], row["sectors"], row["ideal_sectors"])
                          for row in rows if row["kind"] != "branches"},
                         {"global load": ("6", "192", "24", "24"), "global store": ("6", "192", "192", "24")})
        kernels = json.loads(report("report.json")[0])["kernels"]
        self.assertEqual({row["kernel"] for row in rows}, {kernel["name"] for kernel in kernels})
        branches = {line["source"]["line"]: line["branches"] for line in kernels[0]["lines"]}
        for row in rows:
            self.assertEqual(len(row), 15)
            self.assertNotIn(None, row)
            self.assertTrue(row["file"].endswith("program.cu"))
            if row["kind"] == "branches":
                counts = branches[int(row["line"])]
                self.assertEqual((int(row["requests"]), int(row["lanes"]), int(row["present_lanes"])),
                                 (counts["executions"], counts["lanes"], counts["present"]))

    def test_html(self):
        page = report("report.html")[0]
        self.assertEqual(Tags(page).open, [])
        self.assertIn('name="viewport"', page)
        self.assertIn("out[threadIdx.x * PITCH] = in[threadIdx.x];", page)

    def test_no_report(self):
        self.assertEqual(report("report.txt", GPUOPT_PROFILE="")[1], "")

    def test_gpu(self):
        self.assertIn("on RTX 4090 (1008 GB/s)", report("report.txt", GPUOPT_PROFILE_GPU="RTX 4090")[0])
        self.assertIn("on a GPU (500 GB/s)", report("report.txt", GPUOPT_PROFILE_GPU="500")[0])
        text, printed = report("report.txt", GPUOPT_PROFILE_GPU="X1")
        self.assertIn("on H200", text)
        self.assertIn("gpuopt: GPUOPT_PROFILE_GPU=X1 is neither a bandwidth in GB/s nor one of H200, H100,", printed)

    def test_no_place(self):
        self.assertRegex(report("folder/report.txt")[1], r"^gpuopt: GPUOPT_PROFILE: cannot write .*/folder/report.txt\n$")


PROGRAM = sys.argv.pop()
if __name__ == "__main__":
    unittest.main()
