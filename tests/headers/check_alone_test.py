"""check_alone.py has each header without each of the others once, and finds a missing include wherever it is.

SPDX-License-Identifier: MIT
"""

import contextlib
import io
import tempfile
import unittest
from pathlib import Path

import check_alone

HEADERS = {
    "a.cuh": "struct A {};\n",
    "b.cuh": "#include <a.cuh>\nstruct B : A {};\n",
    "c.cuh": "struct C {};\n",
    "d.cuh": "#include <b.cuh>\n#include <c.cuh>\nstruct D : B, C {};\n",
}


class Alone(unittest.TestCase):
    def check(self, **changed):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            for name, text in {**HEADERS, **changed}.items():
                (Path(folder) / name).write_text("#pragma once\n" + text)
            return check_alone.main(folder, ["c++", "-fsyntax-only", "-I", folder, "-x", "c++"])

    def test_complete(self):
        self.assertFalse(self.check())

    def test_incomplete(self):
        for name, text in HEADERS.items():
            for line in filter(lambda it: it.startswith("#include"), text.splitlines(True)):
                self.assertTrue(self.check(**{name: text.replace(line, "")}), f"{name} without {line}")

    def test_standard_library(self):
        self.assertTrue(self.check(**{"a.cuh": "#include <vector>\n" + HEADERS["a.cuh"],
                                      "c.cuh": "inline std::vector<int> numbers;\n" + HEADERS["c.cuh"]}))

    def test_orders(self):
        includes = {name: check_alone.INCLUDE.findall(text) for name, text in HEADERS.items()}
        brings = check_alone.closures(includes)
        before = {name: [] for name in includes}
        for order in check_alone.orders(includes):
            for i, name in enumerate(order):
                before[name].append(set().union(*(brings[it] for it in order[:i])))
        for name, others in before.items():
            self.assertLessEqual(set.intersection(*others), brings[name])


if __name__ == "__main__":
    unittest.main()
