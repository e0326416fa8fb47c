"""Runs interop_opengl, and compares its pictures with ones that are computed here.

Usage: interop_opengl_test.py <executable>
SPDX-License-Identifier: MIT
"""

import tempfile
import unittest
from pathlib import Path

from program import main, run

WIDTH, HEIGHT = 256, 192


def picture(colour):
    """The bytes of a picture, from the top row on. colour(x, y): three numbers; y counts from the bottom."""
    pixels = bytearray(b"P6\n%d %d\n255\n" % (WIDTH, HEIGHT))
    for y in reversed(range(HEIGHT)):
        for x in range(WIDTH):
            pixels += bytes(colour(x, y))
    return bytes(pixels)


def ring(x, y):
    """Every second pixel of the generated texture, which repeats."""
    x, y = 2 * x % WIDTH, 2 * y % HEIGHT
    return ((x - WIDTH // 2) ** 2 + (y - HEIGHT // 2) ** 2) // 32 % 256, x, y


def brightness(x, y):
    """Of the scene, a disc before a chequered wall, which goes on beyond its edges."""
    x, y = min(max(x, 0), WIDTH - 1), min(max(y, 0), HEIGHT - 1)
    if (x - 100) ** 2 + (y - 80) ** 2 < 3600:
        red, green, blue = 200, 120, 40
    else:
        red, green, blue = (60, 64, 90) if (x // 16 + y // 16) % 2 else (20, 24, 30)
    return (red + 2 * green + blue) // 4


def edge(x, y):
    """By Sobel's two filters."""
    across = sum(weight * (brightness(x + 1, y + d) - brightness(x - 1, y + d)) for d, weight in ((-1, 1), (0, 2), (1, 1)))
    down = sum(weight * (brightness(x + d, y + 1) - brightness(x + d, y - 1)) for d, weight in ((-1, 1), (0, 2), (1, 1)))
    return (min(abs(across) + abs(down), 255),) * 3


def after_steps(start, velocity, end):
    """Where a point is after 100 steps between 0 and `end`: the way unfolds into a straight line."""
    place = (start + 0.5 + 100 * velocity) % (2 * end)
    return int(place if place < end else 2 * end - place)


def points():
    """The last of those points that are on a pixel."""
    return {(after_steps(i * 37 % WIDTH, i % 11 - 5, WIDTH), after_steps(i * 53 % HEIGHT, i % 7 - 3, HEIGHT)):
            (i % 256, i // 256, 255) for i in range(2000)}


class InteropOpenGL(unittest.TestCase):
    def test_pictures(self):
        with tempfile.TemporaryDirectory() as folder:
            done = run(folder)
            self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
            self.assertEqual(done.stdout.count("as the host computes it"), 4, done.stdout)
            for way in ("registered, and released", "mapped, and given back", "through a surface", "through a pixel buffer",
                        "through the host's memory"):
                self.assertRegex(done.stdout, rf"  {way}: +[0-9]+\.[0-9] us\n")
            written = {path.name: path.read_bytes() for path in Path(folder).iterdir()}
        drawn = points()
        expected = {"rings.ppm": picture(ring), "buffer.ppm": picture(ring), "edges.ppm": picture(edge),
                    "points.ppm": picture(lambda x, y: drawn.get((x, y), (0, 0, 0)))}
        self.assertEqual(sorted(written), sorted(expected))
        for name, pixels in expected.items():
            self.assertTrue(written[name] == pixels, name)

    def test_a_folder_that_is_not_there(self):
        done = run("/nowhere")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn("/nowhere/rings.ppm", done.stderr)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as trial:
        main(trial)
