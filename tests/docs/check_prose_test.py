"""Proves on planted trees that check_prose.py finds what it is for, and nothing in good English.

SPDX-License-Identifier: MIT
"""

import sys
import unittest
from pathlib import Path

from check_prose import violations

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import planted_tree

LONG = "word " * 30
GOOD = {
    "README.md": "# What it is, what it lies on, and so many\n\nTwo levels lie between them. What is it, and where are we?"
                 "\n\n    code that lies(whole tile)\n\n```text\nso many\n```\n\n| " + LONG + "|\n\n"
                 "A [link](docs/so%20many-lies-in.md) and `code that lies`. [Guide](docs/guide.md),\n"
                 "[words](docs/glossary.md#words).\n",
    "docs/guide.md": "The leading dimension, in place; a span in its place; unpack it anywhere.\n"
                     "`Identity`, the function. The rows are combined; a full tile.\n",
    "docs/glossary.md": "| word | meaning | in the code |\n|---|---|---|\n| row | `ofNobody` | `lies`, `Pair` |\n| tail | | |\n",
    "include/gpuopt/a.cuh": 'int lies = so_many;  // Rows are in order.\nauto s = "so many lie in";\n/// `lies` is code.\n'
                           'using Pair = int;',
}


class Prose(unittest.TestCase):
    def check(self, changes):
        return planted_tree.check(violations, {**GOOD, **changes})

    def test_good_tree(self):
        self.assertEqual(self.check({}), [])

    def test_each_violation_is_found(self):
        page, header = "docs/guide.md", "include/gpuopt/a.cuh"
        pair = "using Pair = int;\nint lies;\n"
        planted = {
            "long line": {page: "A line\n" + LONG + "\n"},
            "long line of a list": {page: "- " + LONG + "\n"},
            "long code": {page: "    " + LONG + "\n"},
            "long link in a sentence": {page: "See [this](" + "x" * 110 + ") page.\n"},
            "phrase": {page: "It loads so many bytes.\n"},
            "phrase across lines": {page: "It loads so\nmany bytes.\n"},
            "phrase in a table": {page: "| lies in L2 |\n"},
            "phrase in a list": {page: "\n1. First\n\n   The words lie in banks.\n"},
            "phrase in an example's page": {"examples/README.md": "Lanes meet in a bank.\n"},
            "what as a subject": {page: "Short. What the lanes have read is added.\n"},
            "name that is gone": {"docs/glossary.md": "| row | a line | `Pair` |\n| tail | the end | `tailOf` |\n"},
            "guide that README does not list": {"docs/other.md": "# Other\n"},
            "comment": {header: pair + "/// The words lie in one bank.\n"},
            "comment after code": {header: pair + "int x;  // as they lie\n"},
            "comment across lines": {header: pair + "/// The parts that are put\n/// together here.\n"},
            "block comment": {header: pair + "/* its place\n */\n"},
        }
        for name, changes in planted.items():
            with self.subTest(name):
                self.assertEqual(len(self.check(changes)), 1, self.check(changes))

    def test_line_is_told(self):
        found = self.check({"docs/guide.md": "One.\n\nTwo, and\nso many.\n"})
        self.assertEqual(found[0][:2], ("docs/guide.md", 4))


if __name__ == "__main__":
    unittest.main()
