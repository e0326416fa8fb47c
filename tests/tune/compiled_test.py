"""A tuning file compiled into a part of a program by target_link_gpuopt_tuning().

Usage: compiled_test.py <cmake> <compiler> <gpuopt>
SPDX-License-Identifier: MIT
"""

import json
import os
import re
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
KERNELS = [entry("gpuopt.transposeTile", 2, "TILE 32, SIDE 2", "Near"),
           entry("gpuopt.transposeTile", 2, "TILE 128, SIDE 4", "Far"),
           entry("gpuopt.transposeTile", 3, "default", "Near"),
           entry("gpuopt.transposeSectorTile", 2, "TILE 32, SIDE 4", "Near"),
           entry("gpuopt.transposeRegisters", 1, "KIB 3000", "Near"),
           entry("gpuopt.transformStructs", 4, "BLOCK 512", "Near"),
           entry("gpuopt.convertStructs", 6, "BLOCK 128", "Near"),
           entry("gpuopt.gatherStructs", 0, "BLOCK 128, LOADS 8", "Near"),
           entry("gpuopt.mapElements", 2, "BLOCK 512, TILES 3", "Near"),
           entry("gpuopt.mapNarrower", 2, "BLOCK 64, TILES 4", "Near")]

# The tiles of 4 bytes, of 8 bytes, of output rows within sectors, and of bytes that become 4 bytes; KiB
# in registers, threads, loads and tiles.
DEFAULT = "64x64 256|32x32 256|64x64 288|64x256 256|16384,4096 256 128 64 256,4,4 256,1;256,2;256,1;"
NEAR = "32x32 64|32x32 256|32x32 160|64x256 256|3000,4096 512 128 128 128,8,8 512,3;64,4;256,1;"


class Compiled(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.file = self.folder / "a tuning.json"

    def configure(self, text, *options):
        self.file.write_text(text)
        return subprocess.run([CMAKE, "-S", PROJECT, "-B", self.folder / "build", f"-DGPUOPT_SOURCE={SOURCE}",
                               f"-DFILE={self.file}", f"-DOPTIONS={';'.join(options)}",
                               f"-DCMAKE_CXX_COMPILER={COMPILER}"], capture_output=True, text=True)

    def build(self):
        return subprocess.run([CMAKE, "--build", self.folder / "build"], capture_output=True, text=True)

    def output(self, **environment):
        done = subprocess.run([self.folder / "build" / "compiled"], capture_output=True, text=True,
                              env={**os.environ, **environment})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_the_entries_are_known_where_they_are_compiled(self):
        done = self.configure(json.dumps({"gpuopt_tuning": 1, "entries": ENTRIES + KERNELS}), "DEVICE", "Near")
        self.assertEqual(done.returncode, 0, done.stderr)
        built = self.build()
        self.assertEqual(built.returncode, 0, built.stdout + built.stderr)
        constants = f"{NEAR}\n{DEFAULT}\n"
        self.assertEqual(self.output(), "$second; @third@ ${fourth}|2 threads, 4096 bytes|3|\n" + constants)

        # A file precedes them.
        other = self.folder / "other.json"
        other.write_text(json.dumps({"gpuopt_tuning": 1, "entries": [{**OWN, "choice": "first"}]}))
        self.assertEqual(self.output(GPUOPT_TUNING=str(other)), "first|2 threads, 4096 bytes|3|\n" + constants)

    def test_a_bad_file_ends_the_configuration(self):
        for text in ("", "{}", '{"gpuopt_tuning": 2, "entries": []}'):
            done = self.configure(text)
            self.assertNotEqual(done.returncode, 0)
            said = " ".join(done.stderr.split())
            # WRITTEN tuning: `target_link_gpuopt_tuning(program package.json)`
            # DO: Name a file that `gpuopt-tune`, or a program with `GPUOPT_TUNING`, has written
            self.assertIn("is no tuning file of this version of gpuopt", said)
            self.assertIn("target_link_gpuopt_tuning(tuned): ", said)

    def test_a_wrong_device_ends_the_configuration(self):
        text = json.dumps({"gpuopt_tuning": 1, "entries": KERNELS})
        for problem, *options in (
                # WRITTEN tuning: `target_link_gpuopt_tuning(program tuning.json DEVICE "NVIDIA H20")`
                # DO: Name the device as the entries of the file do
                ("tuning.json has no entry for DEVICE Nowhere", "DEVICE", "Nowhere"),
                ("DEVICE is the only option, not DEVICES;Near", "DEVICES", "Near")):
            done = self.configure(text, *options)
            self.assertNotEqual(done.returncode, 0)
            said = " ".join(done.stderr.split())
            self.assertIn("target_link_gpuopt_tuning(tuned): ", said)
            self.assertIn(problem, said)


class Excluded(unittest.TestCase):
    """The constants of a file reach no reduction: none of its headers includes the one that has them."""

    def reached(self, header):
        include = Path(SOURCE) / "include"
        seen, left = set(), [f"gpuopt/{header}"]
        while left:
            name = left.pop()
            if name not in seen:
                seen.add(name)
                left += re.findall(r"#include <(gpuopt/[^>]+)>", (include / name).read_text())
        return seen

    def test_no_reduction_has_constants_of_a_file(self):
        constants = "gpuopt/core/kernel_constants.cuh"
        self.assertIn(constants, self.reached("transpose.cuh"))
        self.assertIn(constants, self.reached("struct_io.cuh"))
        for header in ("reduce", "reduce_rows", "reduce_columns", "reduce_segments", "reduce_statistics",
                       "reduce_transform", "histogram", "distributed_reduce", "distributed_statistics",
                       "distributed_columns"):
            reached = self.reached(f"{header}.cuh")
            self.assertGreater(len(reached), 10)
            self.assertNotIn(constants, reached, header)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
