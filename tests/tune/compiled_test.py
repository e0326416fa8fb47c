"""A tuning file compiled into a part of a program by target_link_gpuopt_tuning().

Usage: compiled_test.py <cmake> <compiler> <gpuopt>
SPDX-License-Identifier: MIT
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CMAKE, COMPILER, SOURCE = sys.argv[1:4]
PROJECT = Path(__file__).parent / "compiled"


def entry(name, logSize, choice, device="gpuopt emulated device", multiprocessors=4, type=""):
    return {"name": name, "type": type, "log2_size": logSize, "choice": choice, "device": device, "capability": 75,
            "multiprocessors": multiprocessors}


OWN = entry('a "quoted" \\ name; [1]', 6, "$second; @third@ ${fourth}", type="float")
ENTRIES = [OWN, entry("gpuopt.upload", 20, "2 threads, 4096 bytes"),
           entry("gpuopt.upload", 21, "5 threads, 8192 bytes", "Far", 90),
           entry("gpuopt.upload", 21, "3 threads, 8192 bytes", "Near", 5)]


class Compiled(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.file = self.folder / "a tuning file.json"

    def configure(self, text):
        self.file.write_text(text)
        return subprocess.run([CMAKE, "-S", PROJECT, "-B", self.folder / "build", f"-DGPUOPT_SOURCE={SOURCE}",
                               f"-DFILE={self.file}", f"-DCMAKE_CXX_COMPILER={COMPILER}"], capture_output=True, text=True)

    def output(self, **environment):
        done = subprocess.run([self.folder / "build" / "compiled"], capture_output=True, text=True,
                              env={**os.environ, **environment})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_the_entries_are_known_where_they_are_compiled(self):
        done = self.configure(json.dumps({"gpuopt_tuning": 1, "entries": ENTRIES}))
        self.assertEqual(done.returncode, 0, done.stderr)
        built = subprocess.run([CMAKE, "--build", self.folder / "build"], capture_output=True, text=True)
        self.assertEqual(built.returncode, 0, built.stdout + built.stderr)
        self.assertEqual(self.output(), "$second; @third@ ${fourth}|2 threads, 4096 bytes|3|\n")

        # A file precedes them.
        other = self.folder / "other.json"
        other.write_text(json.dumps({"gpuopt_tuning": 1, "entries": [{**OWN, "choice": "first"}]}))
        self.assertEqual(self.output(GPUOPT_TUNING=str(other)), "first|2 threads, 4096 bytes|3|\n")

    def test_a_bad_file_ends_the_configuration(self):
        for text in ("", "{}", '{"gpuopt_tuning": 2, "entries": []}'):
            done = self.configure(text)
            self.assertNotEqual(done.returncode, 0)
            said = " ".join(done.stderr.split())
            # WRITTEN tuning: `target_link_gpuopt_tuning(program package.json)`
            # DO: Name a file that `gpuopt-tune`, or a program with `GPUOPT_TUNING`, has written
            self.assertIn("is no tuning file of this version of gpuopt", said)
            self.assertIn("target_link_gpuopt_tuning(tuned): ", said)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
