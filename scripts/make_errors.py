#!/usr/bin/env python3
"""Writes the tables of docs/errors.md from the tests that compare messages: a mistake as it is written, what is said
first, what to do.

- Each case in tests/compile_fail, as case.py says. The page's section is the name of its file.
- In any other test, `// WRITTEN <section>: code`, and `// DO: advice` where the message does not say it. The message is
  the next string. In CMake files and Python the comments begin with #.

Usage: make_errors.py [--check]. With --check it writes nothing, and fails if the page is not up to date.
SPDX-License-Identifier: MIT
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "compile_fail"))
from case import casesOf

PAGE = ROOT / "docs" / "errors.md"
BEGIN = "<!-- begin: scripts/make_errors.py -->\n"
END = "<!-- end -->\n"

# Titles, in the order of the page. What has another name belongs to the last one.
SECTIONS = {
    "build": "Compiling, linking, CMake",
    "stream": "Streams",
    "range": "Arrays, containers and pointers",
    "pointer": "Arrays, containers and pointers",
    "reduce": "`<gpuopt/reduce.cuh>`",
    "map": "`<gpuopt/map.cuh>`",
    "transpose": "`<gpuopt/transpose.cuh>`",
    "permute": "`<gpuopt/permute.cuh>`",
    "rows": "`<gpuopt/rows.cuh>`",
    "map": "`<gpuopt/map.cuh>`",
    "histogram": "`<gpuopt/histogram.cuh>`",
    "struct": "`<gpuopt/struct_io.cuh>`",
    "soa": "`<gpuopt/soa.cuh>`",
    "transfer": "`<gpuopt/transfer.cuh>`",
    "launch": "`<gpuopt/launch.cuh>`",
    "window": "`<gpuopt/window.cuh>`",
    "access": "`<gpuopt/access.cuh>`",
    "tuning": "`<gpuopt/tuning.cuh>`",
    "distributed": "`<gpuopt/distributed.cuh>`",
    "emulation": "The emulated device",
    "common": "All headers",
}
MARK = re.compile(r"^[ \t]*(?://|#) WRITTEN (\w+): (.+)\n(?:[ \t]*(?://|#) DO: (.+)\n)?", re.MULTILINE)
STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"((?:\s*"(?:[^"\\\n]|\\.)*")*)')


class Mistake:
    def __init__(self, section, written, said, advice):
        self.section = section if section in SECTIONS else "common"
        self.written, self.said, self.advice = written, said, advice


def compiled(case):
    """The mistake of what must not compile."""
    said = {compiler: case.expected(compiler) for compiler in ("g++", "nvcc")}
    texts = {compiler: outcome[0] for compiler, outcome in said.items() if outcome}
    if len(set(texts.values())) == 1 and len(texts) == 2:
        texts = {"": next(iter(texts.values()))}
    return Mistake(case.family, case.written, texts, case.get("DO"))


def tested(path):
    """The mistakes that a test marks."""
    text = path.read_text()
    for mark in MARK.finditer(text):
        string = STRING.search(text, mark.end())
        if not string:
            raise ValueError(f"{path}: no message after {mark[0].strip()}")
        said = string[1] + "".join(re.findall(r'"((?:[^"\\\n]|\\.)*)"', string[2]))
        written = mark[2] if "`" in mark[2] else f"`{mark[2]}`"
        yield Mistake(mark[1], written, {"": re.sub(r"\\(.)", r"\1", said).strip()}, mark[3])


def mistakes():
    files = sorted((ROOT / "tests" / "compile_fail").glob("*.cu"))
    found = [compiled(case) for path in files for case in casesOf(path)]
    found = [mistake for mistake in found if "detail::" not in mistake.written]
    for path in sorted((ROOT / "tests").rglob("*")):
        if path.suffix in (".cu", ".cmake", ".py") and path.parent.name != "compile_fail":
            found += tested(path)
    return found


def escaped(text):
    return text.replace("|", "\\|")


def code(text):
    marks = "``" if "`" in text else "`"
    return escaped(f"{marks}{text}{marks}")


def said(mistake):
    return "<br>".join((f"{compiler}: " if compiler else "") + code(text) for compiler, text in mistake.said.items())


def table(heading, rows):
    lines = [heading, ["---"] * len(heading), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def tables(found):
    """A section's mistakes: first those that need advice, then one for each other message."""
    advised = [[escaped(m.written), said(m), escaped(m.advice)] for m in found if m.advice]
    others = {}
    for m in found:
        if not m.advice and said(m) not in [row[1] for row in advised]:
            others.setdefault(said(m), [escaped(m.written), said(m)])
    parts = [table(["you write", "the first line says", "do"], advised)] if advised else []
    return "\n".join([*parts, *([table(["you write", "the first line says"], others.values())] if others else [])])


def generated():
    found = mistakes()
    sections = [(title, [m for m in found if SECTIONS[m.section] == title]) for title in dict.fromkeys(SECTIONS.values())]
    return "\n".join(f"## {title}\n\n{tables(among)}" for title, among in sections if among)


def main(arguments):
    before, begin, rest = PAGE.read_text().partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        print(f"{PAGE}: no lines {BEGIN}and {END}")
        return 1
    text = before + BEGIN + "\n" + generated() + "\n" + END + after
    if "--check" not in arguments:
        PAGE.write_text(text)
        return 0
    if text == PAGE.read_text():
        return 0
    print(f"{PAGE} is not up to date: run scripts/make_errors.py")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
