"""Proves on planted trees that check_list.py finds what it is for.

SPDX-License-Identifier: MIT
"""

import sys
import unittest
from pathlib import Path

from check_list import disagreements

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import planted_tree

HEAD = "# Examples\n\n| folder | header | shows |\n|---|---|---|\n"
REDUCE = "| [reduce_basics](reduce_basics) | `reduce` | sums |\n"
BOTH = "| [both](both) | `reduce`, `soa` | columns, summed |\n"
LARGER = "| [ladders](ladders) | | steps |\n"
GOOD = {
    "examples/README.md": HEAD + REDUCE + BOTH + LARGER,
    "include/gpuopt/gpuopt.cuh": "",
    "include/gpuopt/version.cuh": "",
    "include/gpuopt/reduce.cuh": "",
    "include/gpuopt/soa.cuh": "",
    "include/gpuopt/block/reduce.cuh": "",
    "examples/CMakeLists.txt": "",
    "examples/data/input.csv": "",
    "examples/support/writer.cpp": "",
    "examples/reduce_basics/reduce_basics.cu": "#include <gpuopt/reduce.cuh>\n",
    "examples/both/both.cu": "#include <gpuopt/reduce.cuh>\n#include <gpuopt/soa.cuh>\n",
    "examples/ladders/steps.cuh": "",
}


class List(unittest.TestCase):
    def check(self, changes):
        return planted_tree.check(disagreements, {**GOOD, **changes})

    def test_good_tree(self):
        self.assertEqual(self.check({}), [])

    def test_each_disagreement_is_found(self):
        rows = HEAD + REDUCE + BOTH
        planted = {
            "not listed": ("new is not listed", {"examples/new/new.cu": ""}),
            "listed without a row": ("ladders is not listed", {"examples/README.md": rows + "[ladders](ladders)\n"}),
            "listed without words": ("ladders is not listed", {"examples/README.md": rows + LARGER.replace("steps", "")}),
            "gone": ("old does not exist", {"examples/README.md": rows + LARGER + LARGER.replace("ladders", "old")}),
            "listed twice": ("reduce_basics is listed", {"examples/README.md": rows + LARGER + REDUCE}),
            "wrong link": ("links to both", {"examples/README.md": rows.replace("(reduce_basics)", "(both)") + LARGER}),
            "header not included": ("does not include", {"examples/both/both.cu": "#include <gpuopt/soa.cuh>\n"}),
            "header without example": ("no example shows gpuopt/launch.cuh", {"include/gpuopt/launch.cuh": ""}),
        }
        for name, (words, changes) in planted.items():
            with self.subTest(name):
                found = self.check(changes)
                self.assertEqual(len(found), 1, found)
                self.assertIn(words, found[0])


if __name__ == "__main__":
    unittest.main()
