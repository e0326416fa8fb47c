"""Runs picture_blur with tiles of both pitches, and with what is too small for a tile.

Usage: picture_blur_test.py <executable>
SPDX-License-Identifier: MIT
"""

import unittest

from program import main, run


class PictureBlur(unittest.TestCase):
    def test_both_pitches(self):
        for arguments, pitch in ((), 32), ((33,), 33):
            result = run(*arguments)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertRegex(result.stdout, rf"^300 x 170 pixels, tiles of pitch {pitch}, largest error \S+e-0[5-9]\n$")

    def test_a_pitch_below_the_width_of_a_tile(self):
        for pitch in ("31", "wide"):
            result = run(pitch)
            self.assertEqual((result.returncode, result.stdout), (1, ""))
            self.assertEqual(result.stderr, f"picture_blur: the pitch ({pitch}) is below 32\n")


if __name__ == "__main__":
    main()
