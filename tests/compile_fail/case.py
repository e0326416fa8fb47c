"""A source that must not compile. Comments at its start say what a user then sees, and what docs/errors.md shows:

    // EXPECT: text           in the message of the compiler's first error. EXPECT g++ and EXPECT nvcc where they differ;
                              a source with one of these alone is for that compiler
    // EXPECT-LATER: text     in later lines, where the library cannot make a compiler say it first; or EXPECT-LATER nvcc
    // NOISY: reason          more lines may follow than check_compile_fail.py allows; or NOISY nvcc
    // OPTIONS: -std=c++14    compiled by itself, with these options; {folder} is the source's
    // DO: advice             what to do, in docs/errors.md: these mistakes come first there
    // WRITTEN: code          the mistake, in docs/errors.md. Without it, the last line of the source that
                              does not begin with }: the first error has to name it

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
        """The number of the line that is the mistake, or None: `WRITTEN` is no line of the source."""
        lines = self.text.splitlines()
        if self.get("WRITTEN"):
            return next((i for i, line in enumerate(lines, 1) if self.get("WRITTEN") in line and line[:2] != "//"), None)
        return max(i for i, line in enumerate(lines, 1) if line.strip() and not line.startswith(("//", "}")))

    @property
    def written(self):
        """The code that is the mistake: a line, or the body of a function of one line."""
        if self.get("WRITTEN"):
            return self.get("WRITTEN")
        line = self.text.splitlines()[self.line - 1].strip()
        body = BODY.match(line)
        return body[1] if body else line
