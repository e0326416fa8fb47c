"""Runs picture_equalise on pictures of every kind, and compares what it writes with a reference.

Usage: picture_equalise_test.py <executable>
SPDX-License-Identifier: MIT
"""

import tempfile
import unittest
from pathlib import Path

from program import main, run


def noise(count, most, seed=1):
    """Numbers up to `most`, the small ones more often."""
    values, state = [], seed
    for _ in range(count):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        random = state >> 40
        values.append(random % (most + 1) * (random >> 20 & 3) // 3)
    return values


def equalised(samples, channels, maximum):
    """Each sample becomes the share of its channel's samples that are not greater."""
    result = list(samples)
    for channel in range(channels):
        own = samples[channel::channels]
        counts = [0] * (maximum + 1)
        for sample in own:
            counts[sample] += 1
        below, total = [], 0
        for count in counts:
            total += count
            below.append(total * maximum // len(own))
        result[channel::channels] = [below[sample] for sample in own]
    return result


class PictureEqualise(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.input = Path(self.folder.name) / "in.pnm"
        self.output = Path(self.folder.name) / "out.pnm"

    def check(self, kind, width, height, maximum, channels):
        size = 2 if maximum > 255 else 1
        pack = lambda samples: b"".join(sample.to_bytes(size, "big") for sample in samples)
        samples = noise(width * height * channels, maximum)
        header = b"%s\n%d %d\n%d\n" % (kind, width, height, maximum)
        self.input.write_bytes(header + pack(samples))
        done = run(self.input, self.output)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertIn("as the serial reference has it", done.stdout)
        expected = header + pack(equalised(samples, channels, maximum))
        self.assertEqual(self.output.read_bytes() == expected, True, (width, height, maximum))

    def test_grey(self):
        self.check(b"P5", 131, 67, 255, 1)
        self.check(b"P5", 33, 50, 65535, 1)
        self.check(b"P5", 1, 1, 200, 1)

    def test_colour(self):
        self.check(b"P6", 67, 41, 255, 3)
        self.check(b"P6", 300, 2, 99, 3)
        self.check(b"P6", 70, 33, 1023, 3)

    def test_bad_files_and_arguments(self):
        for problem, arguments in (("usage: picture_equalise <input> <output>", [self.input]),
                                   ("no such file", [Path(self.folder.name) / "nowhere.ppm", self.output])):
            done = run(*arguments)
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertTrue(done.stderr.startswith("picture_equalise: "), done.stderr)
            self.assertIn(problem, done.stderr)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        picture = Path(folder) / "in.pgm"
        picture.write_bytes(b"P5 1 1 255\n\0")
        main(picture, picture)
