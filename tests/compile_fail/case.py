"""A source that must not compile. Comments at its start say what a user then sees, and what docs/errors.md shows:

    // EXPECT: text           in the message of the compiler's first error. EXPECT g++ and EXPECT nvcc where they differ;
                              a source with one of these alone is for that compiler
    // EXPECT-LATER: text     in later lines, where the library cannot make a compiler say it first; or EXPECT-LATER nvcc
    // NOISY: reason          more lines may follow than check_compile_fail.py allows; or NOISY nvcc
    // OPTIONS: -std=c++14    compiled by itself, with these options; {folder} is the source's
    // DO: advice             what to do, in docs/errors.md: these mistakes come first there
    // WRITTEN: code           the mistake, in docs/errors.md; with backticks it is Markdown. Without it, the last line of
                              the source that does not begin with }. The first error has to name that line

SPDX-License-Identifier: MIT
"""

import re
from pathlib import Path

FIELD = re.compile(r"^// (EXPECT|EXPECT-LATER|NOISY|OPTIONS|DO|WRITTEN)(?: (g\+\+|nvcc))?: (.+)$", re.MULTILINE)
BODY = re.compile(r"^[\w:<>*& ]+ \w+\(.*?\) (?:const )?\{ (?:return )?(.*) \}$")


class Case:
    def __init__(self, path):
        self.path, self.stem = str(path), Path(path).stem
        self.text = Path(path).read_text()
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

    @property
    def options(self):
        return (self.get("OPTIONS") or "").replace("{folder}", str(Path(self.path).parent)).split()

    @property
    def line(self):
        """The number of the line that is the mistake."""
        lines = [(i, line) for i, line in enumerate(self.text.splitlines(), 1)
                 if line.strip() and not line.startswith(("//", "}"))]
        shown = [i for i, line in lines if (self.get("WRITTEN") or "`") in line]
        return shown[0] if shown else lines[-1][0]

    @property
    def written(self):
        """The mistake in Markdown: the line, or the body of a function of one line."""
        line = self.get("WRITTEN") or self.text.splitlines()[self.line - 1].strip()
        body = BODY.match(line)
        line = (body[1] if body else line).replace("gpuopt::", "")
        line = line.removeprefix("template class ").removesuffix(";")
        return line if "`" in line else f"`{line.strip()}`"
