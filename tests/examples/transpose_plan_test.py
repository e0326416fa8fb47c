"""Runs transpose_plan, and compares its table with the one in docs/transpose.md.

Usage: transpose_plan_test.py <executable>
SPDX-License-Identifier: MIT
"""

import unittest
from pathlib import Path

from program import main, run

PAGE = Path(__file__).resolve().parents[2] / "docs" / "transpose.md"
BEGIN = "<!-- begin: transpose_plan --markdown -->\n"
END = "<!-- end -->\n"


class TransposePlan(unittest.TestCase):
    def test_every_matrix_has_a_line(self):
        result = run()
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        lines = result.stdout.splitlines()
        self.assertGreater(len(lines), 20)
        for plan in lines[1::2]:
            self.assertRegex(plan, r"^    [\w-].*, \d+ threads: \w")

    def test_the_page_has_the_same_table(self):
        result = run("--markdown")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        _, found, rest = PAGE.read_text().partition(BEGIN)
        self.assertTrue(found, f"{PAGE} has no line {BEGIN}")
        self.assertEqual(rest.partition(END)[0], result.stdout, f"write the output of transpose_plan --markdown to {PAGE}")

    def test_other_options_are_refused(self):
        result = run("--html")
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertEqual(result.stderr, "transpose_plan: usage: transpose_plan [--markdown]\n")


if __name__ == "__main__":
    main()
