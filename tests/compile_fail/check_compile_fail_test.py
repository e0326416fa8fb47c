"""Proves that check_compile_fail.py sees each kind of wrong outcome, with compilers that print what the test says.

SPDX-License-Identifier: MIT
"""

import re
import sys
import tempfile
import unittest
from pathlib import Path

from case import Case
from check_compile_fail import Compiler, combined, problems

GXX = """In file included from combined.cu:1:
lib.cuh: In instantiation of 'void f() [with T = int]':
{path}:4:20:   required from here
lib.cuh:9:5: error: static assertion failed: gpuopt: {text}
    9 |   static_assert(
lib.cuh:9:5: note: because
"""
NVCC = """lib.cuh(9): error: static assertion failed with "gpuopt: {text}"
    static_assert(
    ^
          detected during instantiation of "void f() [with T=int]" at line 4 of {path}

"""
FOLLOWING = {GXX: "lib.cuh:11:5: error: no member\n", NVCC: 'lib.cuh(11): error: no member\n  of one::Type\n\n'}
NAMES = {GXX: "g++", NVCC: "nvcc"}


class CompileFail(unittest.TestCase):
    def check(self, name, outputs, **headers):
        """What is wrong with sources of these comments, of which a compiler prints one text after the other."""
        with tempfile.TemporaryDirectory() as folder:
            cases = []
            for stem, lines in headers.items():
                path = Path(folder) / f"{stem}.cu"
                path.write_text(f"#include <a>\nint x;\n\nvoid fail() {{ call({stem}); }}\n{lines}\n")
                cases.append(Case(path))
            printed = Path(folder) / "printed"
            paths = {stem: Path(folder) / f"{stem}.cu" for stem in headers}
            for i, output in enumerate(outputs):
                (Path(folder) / f"{i}.txt").write_text(output(paths))
            script = (f"import pathlib; p = pathlib.Path({str(printed)!r}); i = len(p.read_text()) if p.exists() else 0;"
                      f"p.write_text('x' * (i + 1)); f = p.with_name(f'{{i}}.txt');"
                      f"print(f.read_text() if f.exists() else '')")
            return list(problems(cases, Compiler(name, Path(folder) / "all.cu", [sys.executable, "-c", script])))

    def test_the_expected_error_first(self):
        for form, name in NAMES.items():
            output = lambda paths: form.format(path=paths["one"], text="no floats") + FOLLOWING[form]
            self.assertEqual(self.check(name, [output], one="// EXPECT: gpuopt: no floats"), [])

    def test_another_error_first(self):
        for form, name in NAMES.items():
            output = lambda paths: "".join(form.format(path=paths["one"], text=text) for text in ("else", "no floats"))
            self.assertIn("does not begin", self.check(name, [output], one="// EXPECT: gpuopt: no floats")[0])
            self.assertEqual(self.check(name, [output], one=f"// EXPECT-LATER {name}: gpuopt: no floats"), [])

    def test_the_line_of_the_user(self):
        for form, name in NAMES.items():
            output = lambda paths: re.sub(r"(:|line )4\b", r"\g<1>3", form.format(path=paths["one"], text="no floats"))
            self.assertIn("line 4", self.check(name, [output], one="// EXPECT: gpuopt: no floats")[0])

    def test_many_follow_ups(self):
        for form, name in NAMES.items():
            output = lambda paths: form.format(path=paths["one"], text="no floats") + FOLLOWING[form] * 9
            self.assertIn("10 errors", self.check(name, [output], one="// EXPECT: gpuopt: no floats")[0])
            self.assertEqual(self.check(name, [output], one=f"// EXPECT: gpuopt: no floats\n// NOISY {name}: why"), [])

    def test_a_permission_that_is_not_needed(self):
        for form, name in NAMES.items():
            output = lambda paths: form.format(path=paths["one"], text="no floats")
            self.assertIn("take the line", self.check(name, [output], one="// EXPECT: no floats\n// NOISY: why")[0])

    def test_sources_without_errors_are_compiled_again(self):
        for form, name in NAMES.items():
            outputs = [lambda paths: form.format(path=paths["one"], text="no floats"),
                       lambda paths: form.format(path=paths["two"], text="no ints")]
            headers = {"one": "// EXPECT: no floats", "two": "// EXPECT: no ints"}
            self.assertEqual(self.check(name, outputs, **headers), [])
            self.assertIn("two.cu: compiles", self.check(name, outputs[:1], **headers)[0])

    def test_an_error_of_no_source(self):
        for form, name in NAMES.items():
            output = lambda paths: form.format(path="other.cu", text="no floats")
            self.assertIn("belongs to no source", self.check(name, [output], one="// EXPECT: no", two="// EXPECT: no")[0])

    def test_fields_of_a_source(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "one.cu"
            path.write_text("// EXPECT nvcc: a\n// EXPECT-LATER g++: b\n#include <a>\nint f(int a) { return call(a); }\n")
            case = Case(path)
            self.assertEqual((case.expected("nvcc"), case.expected("g++")), (("a", True), ("b", False)))
            self.assertEqual(case.written, "`call(a)`")
            self.assertIn("\nint f(int a)", combined([case]))
            path.write_text("// EXPECT nvcc: a\nint f(int a) {\n  return a;\n}\n")
            self.assertEqual((Case(path).expected("g++"), Case(path).written), (None, "`return a`"))


if __name__ == "__main__":
    unittest.main()
