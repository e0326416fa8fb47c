"""What must not compile. A file has the mistakes of a family, `#if CASE == 1`, `#elif CASE == 2`, ..., after what all of
them include. Comments at the start of each say what a user then sees, and what docs/errors.md shows:

    // EXPECT: text           in the message of the compiler's first error. EXPECT g++ and EXPECT nvcc where they differ;
                              a case with one of these alone is for that compiler
    // EXPECT-LATER: text     in later lines, where the library cannot make a compiler say it first; or EXPECT-LATER nvcc
    // NOISY: reason          more lines may follow than check_compile_fail.py allows; or NOISY nvcc
    // DO: advice             what to do, in docs/errors.md: these mistakes come first there
    // WRITTEN: code           the mistake, in docs/errors.md; with backticks it is Markdown. Without it, the last line of
                              the case that does not begin with }. The first error has to name that line

SPDX-License-Identifier: MIT
"""

import re
from pathlib import Path

FIELD = re.compile(r"^// (EXPECT|EXPECT-LATER|NOISY|DO|WRITTEN)(?: (g\+\+|nvcc))?: (.+)$", re.MULTILINE)
SPLIT = re.compile(r"^#(?:if|elif) CASE == (\d+)\n|^#endif\n", re.MULTILINE)
BODY = re.compile(r"^[\w:<>*& ]+ \w+\(.*?\) (?:const )?\{ (?:return )?(.*) \}$")


def casesOf(path):
    """The cases of a file, in its order."""
    text = Path(path).read_text()
    marks = list(SPLIT.finditer(text))
    if not marks or marks[-1][1] or [mark[1] for mark in marks[:-1]] != [str(i) for i in range(1, len(marks))]:
        raise ValueError(f"{path}: needs #if CASE == 1, #elif CASE == 2, ..., #endif")
    return [Case(path, int(mark[1]), text[:marks[0].start()], text[mark.end():end.start()],
                 text.count("\n", 0, mark.end()) + 1) for mark, end in zip(marks, marks[1:])]


class Case:
    def __init__(self, path, number, includes, text, first):
        self.path, self.family, self.includes = str(path), Path(path).stem, includes
        self.name = f"{self.family}_{number}"
        self.text, self.first = text, first  # the number of its first line
        self.fields = {(name, compiler): value for name, compiler, value in FIELD.findall(self.text)}

    def get(self, name, compiler=""):
        return self.fields.get((name, compiler), self.fields.get((name, "")))

    def expected(self, compiler):
        """The text and whether it must come first; or None, if the source is not for this compiler."""
        for compiler in (compiler, ""):
            for name in ("EXPECT", "EXPECT-LATER"):
                if (name, compiler) in self.fields:
                    return self.fields[name, compiler], name == "EXPECT"
        return None

    @property
    def isReadable(self):
        return any(name.startswith("EXPECT") for name, _ in self.fields)

    def hasLine(self, number):
        return self.first <= number < self.first + self.text.count("\n")

    @property
    def line(self):
        """The number of the line that is the mistake."""
        lines = [(i, line) for i, line in enumerate(self.text.splitlines(), self.first)
                 if line.strip() and not line.startswith(("//", "}"))]
        shown = [i for i, line in lines if (self.get("WRITTEN") or "`") in line]
        return shown[0] if shown else lines[-1][0]

    @property
    def written(self):
        """The mistake in Markdown: the line, or the body of a function of one line."""
        line = self.get("WRITTEN") or self.text.splitlines()[self.line - self.first].strip()
        body = BODY.match(line)
        line = (body[1] if body else line).replace("gpuopt::", "")
        line = line.removeprefix("template class ").removesuffix(";")
        return line if "`" in line else f"`{line.strip()}`"
