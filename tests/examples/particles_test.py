"""Runs particles on tables of every kind, good and bad, and compares what it writes with a reference.

Usage: particles_test.py <executable>
SPDX-License-Identifier: MIT
"""

import csv
import math
import tempfile
import unittest
from pathlib import Path

from program import main, run

NAMES = ["x", "y", "z", "vx", "vy", "vz", "mass", "id"]
BODIES = [(1, 1, 1, 2), (-1, -1, 1, 1), (-1, 1, -1, 3), (1, -1, -1, 0.5)]
TIME, DRAG, SOFTENING = 1 / 128, 0.25, 0.25


def advanced(particle, steps):
    """The particle after so many steps, as the example's advance() computes it."""
    position, velocity, mass = particle[0:3], particle[3:6], particle[6]
    for _ in range(steps):
        pull = [0, 0, 0]
        for *place, weight in BODIES:
            way = [b - p for b, p in zip(place, position)]
            square = sum(w * w for w in way) + SOFTENING
            pull = [a + weight / (square * math.sqrt(square)) * w for a, w in zip(pull, way)]
        kept = 1 / (1 + TIME * DRAG / mass)
        velocity = [kept * (v + TIME * a) for v, a in zip(velocity, pull)]
        position = [p + TIME * v for p, v in zip(position, velocity)]
    return [*position, *velocity, *particle[6:]]


def noise(count, seed=1):
    """Numbers from -2 to 2 without pattern, exact in single precision."""
    values, state = [], seed
    for _ in range(count):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        values.append((state >> 44) / 2**18 - 2)
    return values


def particles(count):
    values = noise(7 * count)
    return [[*values[7 * i:7 * i + 6], abs(values[7 * i + 6]) + 0.5, 3 * i - 7] for i in range(count)]


def table(rows, header=NAMES):
    return "\n".join(",".join(map(repr, row)) if row is not header else ",".join(row) for row in [header, *rows]) + "\n"


class Particles(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.input = Path(self.folder.name) / "in.csv"
        self.output = Path(self.folder.name) / "out.csv"

    def result(self, *arguments):
        """The particles that the program writes. It must find everything right."""
        done = run(*arguments, "--output", self.output)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertEqual(done.stdout.count("   ok\n"), 3, done.stdout)
        with self.output.open() as file:
            header, *rows = csv.reader(file)
        self.assertEqual(header, NAMES)
        return [[*map(float, row[:7]), int(row[7])] for row in rows]

    def assert_moved(self, found, given, steps):
        self.assertEqual(len(found), len(given))
        for row, before in zip(found, given):
            expected = advanced(before, steps)
            self.assertEqual(row[7], expected[7])
            for value, reference in zip(row[:7], expected[:7]):
                self.assertAlmostEqual(value, reference, delta=1e-4 * max(1, abs(reference)))

    # Good input

    def test_particles_move(self):
        for count, steps in ((1, 3), (31, 1), (64, 2), (65, 10), (500, 10), (3, 100)):
            rows = particles(count)
            self.input.write_text(table(rows))
            self.assert_moved(self.result(self.input, "--steps", steps), rows, steps)

    def test_ten_steps_where_nothing_else_is_said(self):
        rows = particles(40)
        self.input.write_text(table(rows))
        self.assert_moved(self.result(self.input), rows, 10)

    def test_what_is_written_can_be_read_again(self):
        before = self.result("--count", 200, "--steps", 0)
        self.assertEqual(len(set(map(tuple, before))), 200)
        self.assertEqual(self.result(self.output, "--steps", 0), before)

    def test_columns_in_any_order_among_others(self):
        rows = particles(5)
        header = ["name", "id", "mass", "vz", "z", "vy", "y", "vx", "x"]
        order = [NAMES.index(name) for name in header[1:]]
        self.input.write_text(table([["p%d" % i, *(row[c] for c in order)] for i, row in enumerate(rows)], header).replace("'", ""))
        self.assert_moved(self.result(self.input, "--steps", 4), rows, 4)

    def test_without_argument_reads_the_shipped_table(self):
        found = self.result("--steps", 0)
        self.assertEqual([row[7] for row in found], list(range(256)))

    def test_no_speed_on_the_emulated_device(self):
        output = run().stdout
        self.assertRegex(output.splitlines()[0], r"^particles on .")
        self.assertEqual("emulated" in output.splitlines()[0], "No times" in output)
        self.assertEqual("emulated" in output.splitlines()[0], "GB/s" not in output)

    def test_help(self):
        done = run("--help")
        self.assertEqual(done.returncode, 0)
        self.assertIn("--count", done.stdout)

    # Bad input

    def assert_refused(self, problem, *arguments):
        done = run(*arguments, "--output", self.output)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("particles: "), done.stderr)
        self.assertIn(problem, done.stderr)
        self.assertFalse(self.output.exists())

    def assert_table_refused(self, problem, text):
        self.input.write_text(text)
        self.assert_refused(problem, self.input)

    def test_missing_and_empty_files(self):
        self.assert_refused("nowhere.csv: no such file", Path(self.folder.name) / "nowhere.csv")
        self.assert_refused("is a directory", self.folder.name)
        self.assert_table_refused("the file is empty", "")
        self.assert_table_refused("column 'x' has no numbers", table([]))

    def test_malformed_tables(self):
        good = particles(3)
        self.assert_table_refused("has no column 'mass'", table([row[:6] for row in good], NAMES[:6]))
        self.assert_table_refused("malformed: line 4 has 2 fields", table([good[0], good[1], good[2][:2]]))
        for column, value, problem in ((1, "up", "line 3: 'up' is not a number"), (6, -1.0, "particle 2: mass is not positive"),
                                       (6, 0, "particle 2: mass is not positive"), (2, 1e40, "particle 2: z is not between"),
                                       (3, float("nan"), "particle 2: vx is not between"), (7, 0.5, "particle 2: id is no whole"),
                                       (7, 3000000000, "particle 2: id is no whole number of 32 bits")):
            rows = [list(row) for row in good]
            rows[1][column] = value
            self.assert_table_refused("malformed: " + problem, table(rows).replace("'", ""))

    def test_bad_options(self):
        self.input.write_text(table(particles(2)))
        self.assert_refused("--count", self.input, "--count", 4)
        self.assert_refused("--count", "--count", 0)
        self.assert_refused("--steps", self.input, "--steps", 101)
        self.assert_refused("--steps", self.input, "--steps", "many")
        self.assert_refused("--speed", self.input, "--speed")

    def test_output_that_cannot_be_written(self):
        done = run("--count", 5, "--output", Path(self.folder.name) / "nowhere" / "out.csv")
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot be written", done.stderr)


if __name__ == "__main__":
    main("--count", 1)
