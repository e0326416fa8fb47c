#!/usr/bin/env python3
"""Draws the picture that the demo reads: mountains behind a lake, 512 x 384 grey levels, the same on every machine.

Usage: make_picture.py [examples/data/lake.pgm]
SPDX-License-Identifier: MIT
"""

import sys

WIDTH, HEIGHT = 512, 384
SHORE = 262
SUN = (372, 92)
RIDGES = [  # scale of the noise, height above the shore, roughness, grey level, seed
    (150, 150, 95, 168, 11),
    (105, 98, 80, 122, 23),
    (70, 52, 62, 74, 37),
]


def hashed(x, y, seed):
    """A number in [0, 1) that depends on three integers: integer arithmetic, so the same everywhere."""
    h = (x * 374761393 + y * 668265263 + seed * 2147483647) & 0xFFFFFFFF
    h = ((h ^ (h >> 13)) * 1274126177) & 0xFFFFFFFF
    return ((h ^ (h >> 16)) & 0xFFFF) / 65536


def smooth(t):
    return t * t * (3 - 2 * t)


def noise(x, y, seed):
    """Value noise: random corners, smooth in between."""
    column, row = int(x // 1), int(y // 1)
    u, v = smooth(x - column), smooth(y - row)
    top = hashed(column, row, seed) * (1 - u) + hashed(column + 1, row, seed) * u
    bottom = hashed(column, row + 1, seed) * (1 - u) + hashed(column + 1, row + 1, seed) * u
    return top * (1 - v) + bottom * v


def fractal(x, y, seed, octaves=6):
    """Noise at ever smaller scales, in [-1, 1]."""
    total, weight = 0.0, 1.0
    for octave in range(octaves):
        total += weight * (2 * noise(x, y, seed + octave) - 1)
        x, y, weight = 2 * x, 2 * y, weight / 2
    return total / 2


def sky(x, y):
    clouds = max(0.0, fractal(x / 110, y / 34, 71)) * (1 - y / SHORE)
    distance = ((x - SUN[0]) ** 2 + (y - SUN[1]) ** 2) ** 0.5
    glow = 105 / (1 + (distance / 46) ** 2)
    disc = 255 if distance < 17 else 0
    return max(disc, 92 + 88 * y / SHORE + 62 * clouds + glow)


def mountains(crests, x, y):
    """The grey level of the nearest ridge that covers the point, or None."""
    for (_, _, _, level, seed), crest in reversed(list(zip(RIDGES, crests))):
        depth = y - crest[x]
        if depth >= 0:
            slope = crest[min(x + 3, WIDTH - 1)] - crest[max(x - 3, 0)]
            light = 2.2 * slope * max(0.0, 1 - depth / 45)
            rock = 30 * fractal((x + 0.5 * y) / 19, (y - 0.4 * x) / 13, seed + 50)
            snow = max(0.0, 46 - depth) * (0.9 if level > 100 else 0.25)
            return level - light + rock + snow - 0.16 * depth
    return None


def draw():
    crests = [[SHORE - height - rough * fractal(x / scale, 0.5, seed) for x in range(WIDTH)]
              for scale, height, rough, _, seed in RIDGES]

    def land(x, y):
        level = mountains(crests, x, y)
        return sky(x, y) if level is None else level

    def water(x, y):
        depth = (y - SHORE) / (HEIGHT - SHORE)
        ripple = fractal(x / 24, y / (2 + 9 * depth), 91)
        mirrored = min(max(int(2 * SHORE - y + 9 * ripple), 0), SHORE - 1)
        return (0.78 - 0.42 * depth) * land(min(max(int(x + 5 * ripple), 0), WIDTH - 1), mirrored) + 16 * ripple

    for y in range(HEIGHT):
        for x in range(WIDTH):
            grain = 5 * (hashed(x, y, 5) - 0.5)
            level = land(x, y) if y < SHORE else water(x, y)
            yield min(max(int(level + grain), 0), 255)


def main(path):
    with open(path, "wb") as file:
        file.write(b"P5\n# scripts/make_picture.py\n%d %d\n255\n" % (WIDTH, HEIGHT))
        file.write(bytes(draw()))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "examples/data/lake.pgm")
