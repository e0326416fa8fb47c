"""Runs picture_rotate on pictures of every kind, and compares what it writes with a reference.

Usage: picture_rotate_test.py <executable>
SPDX-License-Identifier: MIT
"""

import tempfile
import unittest
from pathlib import Path

from program import main, run

MODES = {
    ("--turns", "1"): lambda rows: [list(row) for row in zip(*rows[::-1])],
    (): lambda rows: [list(row) for row in zip(*rows[::-1])],
    ("--turns", "2"): lambda rows: [row[::-1] for row in rows[::-1]],
    ("--turns", "3"): lambda rows: [list(row) for row in zip(*rows)][::-1],
    ("--transpose",): lambda rows: [list(row) for row in zip(*rows)],
}


def noise(count, seed=1):
    """Bytes without pattern."""
    values, state = bytearray(), seed
    for _ in range(count):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        values.append(state >> 40 & 255)
    return bytes(values)


def rows_of(data, width, height, pixel):
    """The pixels, `pixel` bytes each, row by row."""
    at = lambda r, c: data[(r * width + c) * pixel:(r * width + c + 1) * pixel]
    return [[at(r, c) for c in range(width)] for r in range(height)]


class PictureRotate(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.input = Path(self.folder.name) / "in.pnm"
        self.output = Path(self.folder.name) / "out.pnm"

    def check(self, kind, width, height, maximum, pixel):
        data = noise(width * height * pixel)
        self.input.write_bytes(b"%s\n%d %d\n%d\n" % (kind, width, height, maximum) + data)
        for mode, change in MODES.items():
            done = run(self.input, self.output, *mode)
            self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
            self.assertIn("every pixel as the serial reference has it", done.stdout)
            rows = change(rows_of(data, width, height, pixel))
            expected = b"%s\n%d %d\n%d\n" % (kind, len(rows[0]), len(rows), maximum) + b"".join(b"".join(row) for row in rows)
            self.assertEqual(self.output.read_bytes() == expected, True, (mode, width, height))

    def test_colour(self):
        for width, height in ((64, 64), (67, 41), (1, 9), (300, 2), (5, 1), (1, 1)):
            self.check(b"P6", width, height, 255, 3)

    def test_colour_of_sixteen_bits(self):
        self.check(b"P6", 70, 33, 65535, 6)

    def test_grey(self):
        self.check(b"P5", 131, 67, 255, 1)
        self.check(b"P5", 33, 50, 65535, 2)

    def test_four_turns_are_the_identity(self):
        original = b"P6\n23 47\n200\n" + bytes(b % 201 for b in noise(23 * 47 * 3))
        self.input.write_bytes(original)
        for _ in range(4):
            self.assertEqual(run(self.input, self.input).returncode, 0)
        self.assertEqual(self.input.read_bytes() == original, True)

    def assert_refused(self, problem, *arguments):
        done = run(*arguments)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("picture_rotate: "), done.stderr)
        self.assertIn(problem, done.stderr)

    def test_bad_files_and_options(self):
        self.assert_refused("no such file", Path(self.folder.name) / "nowhere.ppm", self.output)
        self.input.write_bytes(b"P6\n4 4\n255\n" + bytes(47))
        self.assert_refused("truncated: the picture has 48 samples, the file 47", self.input, self.output)
        self.assertFalse(self.output.exists())
        self.input.write_bytes(b"P6\n4 4\n255\n" + bytes(48))
        self.assert_refused("cannot be written", self.input, Path(self.folder.name) / "nowhere" / "out.ppm")
        self.assert_refused("--turns", self.input, self.output, "--turns", "4")
        self.assert_refused("--transpose", self.input, self.output, "--turns", "1", "--transpose")
        self.assert_refused("output is required", self.input)

    def test_help(self):
        done = run("--help")
        self.assertEqual(done.returncode, 0)
        self.assertIn("--turns", done.stdout)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        picture = Path(folder) / "in.pgm"
        picture.write_bytes(b"P5 1 1 255\n\0")
        main(picture, picture)
