"""Proves that check_compile_fail.py sees each kind of wrong outcome, with compilers that print what the test says.

SPDX-License-Identifier: MIT
"""

import sys
import tempfile
import unittest
from pathlib import Path

from case import casesOf
from check_compile_fail import Compiler, combined, problems

GXX = """In file included from combined.cu:1:
lib.cuh: In instantiation of 'void f() [with T = int]':
{path}:{line}:20:   required from here
lib.cuh:9:5: error: static assertion failed: gpuopt: {text}
    9 |   static_assert(
lib.cuh:9:5: note: because
"""
NVCC = """lib.cuh(9): error: static assertion failed with "gpuopt: {text}"
    static_assert(
    ^
          detected during instantiation of "void f() [with T=int]" at line {line} of {path}

"""
FOLLOWING = {GXX: "lib.cuh:11:5: error: no member\n", NVCC: 'lib.cuh(11): error: no member\n  of all_1::Type\n\n'}
NAMES = {GXX: "g++", NVCC: "nvcc"}


class CompileFail(unittest.TestCase):
    def check(self, name, outputs, *comments):
        """What is wrong with cases of these comments, of which a compiler prints one text after the other."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "all.cu"
            text, mark = "#include <a>\n", "if"
            for lines in comments:
                text += f"#{mark} CASE == {1 + text.count('CASE')}\n{lines}\nvoid fail() {{ call(); }}\n"
                mark = "elif"
            path.write_text(text + "#endif\n")
            cases = casesOf(path)
            printed = Path(folder) / "printed"
            for i, output in enumerate(outputs):
                (Path(folder) / f"{i}.txt").write_text(output(cases))
            script = (f"import pathlib; p = pathlib.Path({str(printed)!r}); i = len(p.read_text()) if p.exists() else 0;"
                      f"p.write_text('x' * (i + 1)); f = p.with_name(f'{{i}}.txt');"
                      f"print(f.read_text() if f.exists() else '')")
            return list(problems(cases, Compiler(name, Path(folder) / "combined.cu", [sys.executable, "-c", script])))

    @staticmethod
    def printed(form, *texts, case=0, line=None):
        """What a compiler prints of a case."""
        return lambda cases: "".join(form.format(path=cases[case].path, line=line or cases[case].line, text=text)
                                     for text in texts)

    def test_the_expected_error_first(self):
        for form, name in NAMES.items():
            output = self.printed(form, "no floats")
            both = lambda cases: output(cases) + FOLLOWING[form]
            self.assertEqual(self.check(name, [both], "// EXPECT: gpuopt: no floats"), [])

    def test_another_error_first(self):
        for form, name in NAMES.items():
            output = self.printed(form, "else", "no floats")
            self.assertIn("does not begin", self.check(name, [output], "// EXPECT: gpuopt: no floats")[0])
            self.assertEqual(self.check(name, [output], f"// EXPECT-LATER {name}: gpuopt: no floats"), [])

    def test_the_line_of_the_user(self):
        for form, name in NAMES.items():
            output = self.printed(form, "no floats", line=3)
            self.assertIn("line 4", self.check(name, [output], "// EXPECT: gpuopt: no floats")[0])

    def test_many_follow_ups(self):
        for form, name in NAMES.items():
            output = self.printed(form, "no floats")
            many = lambda cases: output(cases) + FOLLOWING[form] * 9
            self.assertIn("10 errors", self.check(name, [many], "// EXPECT: gpuopt: no floats")[0])
            noisy = f"// EXPECT: gpuopt: no floats\n// NOISY {name}: why"
            self.assertEqual(self.check(name, [many], noisy), [])

    def test_a_permission_that_is_not_needed(self):
        for form, name in NAMES.items():
            output = self.printed(form, "no floats")
            self.assertIn("take the line", self.check(name, [output], "// EXPECT: no floats\n// NOISY: why")[0])

    def test_cases_without_errors_are_compiled_again(self):
        for form, name in NAMES.items():
            outputs = [self.printed(form, "no floats"), self.printed(form, "no ints", case=1)]
            comments = ["// EXPECT: no floats", "// EXPECT: no ints"]
            self.assertEqual(self.check(name, outputs, *comments), [])
            self.assertIn("all.cu:6: compiles", self.check(name, outputs[:1], *comments)[0])

    def test_an_error_of_no_case(self):
        for form, name in NAMES.items():
            output = lambda cases: form.format(path="other.cu", line=4, text="no floats")
            self.assertIn("belongs to no case", self.check(name, [output], "// EXPECT: no", "// EXPECT: no")[0])

    def read(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "family.cu"
            path.write_text(text)
            return casesOf(path)

    def test_fields_of_a_case(self):
        one, two = self.read("#include <a>\n#if CASE == 1\n// EXPECT nvcc: a\n// EXPECT-LATER g++: b\n"
                             "int f(int a) { return call(a); }\n\n#elif CASE == 2\n// EXPECT nvcc: a\n"
                             "int f(int a) {\n  return a;\n}\n#endif\n")
        self.assertEqual((one.expected("nvcc"), one.expected("g++")), (("a", True), ("b", False)))
        self.assertEqual((one.name, one.written, one.line), ("family_1", "`call(a)`", 5))
        self.assertEqual((two.expected("g++"), two.written, two.line), (None, "`return a`", 10))
        self.assertEqual([[case.hasLine(line) for line in (6, 7, 8)] for case in (one, two)],
                         [[True, False, False], [False, False, True]])
        self.assertEqual(combined([one, two]).count("#include <a>"), 1)

    def test_cases_are_numbered(self):
        for text in ("", "#if CASE == 2\n#endif\n", "#if CASE == 1\n#elif CASE == 3\n#endif\n", "#if CASE == 1\n"):
            with self.assertRaises(ValueError):
                self.read(text)


if __name__ == "__main__":
    unittest.main()
