"""Each source must fail to compile, and the first error that a user sees must be the one it expects (case.py has the
form of a source). Few errors may follow it.

All sources are compiled at once, each in a namespace of its own: most of the time would go into starting the compiler.
Those that no error belongs to are then compiled again without the others, since a compiler may leave out later steps
after an error: nvcc instantiates no function templates then, and compiles nothing for the device.

With clang++ for the emulated device the text may come later, follow-up errors are not counted, and what is expected of
g++ alone is not tested.

Usage: check_compile_fail.py g++|nvcc|clang++ <combined file to write> <source>... -- <compiler> <argument>...
SPDX-License-Identifier: MIT
"""

import os
import re
import subprocess
import sys
from pathlib import Path

from case import Case

MOST_ERRORS, MOST_LINES = 4, 40

INCLUDE = re.compile(r"^#include .*$", re.MULTILINE)
CONTEXT = re.compile(r"^In file included from|^ +from |: In |: At |: +(recursively )?required |: +in .constexpr. expansion")
ERROR = re.compile(r": (fatal )?error( #\d+(-D)?)?: ")


def combined(cases):
    """One source made of all: their includes, then each in its namespace."""
    includes = {line: None for case in cases for line in INCLUDE.findall(case.text)}
    parts = [f'namespace {case.stem} {{\n#line 1 "{case.path}"\n{INCLUDE.sub("", case.text)}\n}}\n' for case in cases]
    return "\n".join([*includes, *parts])


def errors(output):
    """The errors of a compiler's output, each a list of lines with the message first and then what belongs to it."""
    found, context = [], []
    for line in output.splitlines():
        if CONTEXT.search(line):
            context.append(line)
        elif ERROR.search(line):
            found.append([line, *context])
            context = []
        elif found and line.strip():
            found[-1] += [*context, line]
            context = []
    return found


def owner(error, cases):
    """The case that an error names: by its path, or by its namespace."""
    text = "\n".join(error)
    for form in (lambda case: re.escape(case.path), lambda case: rf"\b{case.stem}::"):
        for case in cases:
            if re.search(form(case), text):
                return case.stem
    return None


class Compiler:
    """`g++`, `nvcc` or `clang++`: a name that says what to expect, and a command."""

    def __init__(self, name, file, command):
        self.name, self.file, self.command = name, file, command

    def compile(self, cases, options=()):
        """The errors of each case, by its name. An error that names no case belongs to the one before it."""
        Path(self.file).write_text(combined(cases))
        folders = [option for option in options if option.startswith("-I")]  # the first one wins, of others the last
        command = [self.command[0], *folders, *self.command[1:], *[o for o in options if o not in folders], self.file]
        run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                             env={**os.environ, "LC_ALL": "C"})
        found, last = {}, cases[0].stem if len(cases) == 1 else None
        for error in errors(run.stdout):
            last = owner(error, cases) or last
            found.setdefault(last, []).append(error)
        return found

    def compileAll(self, cases):
        found, left = {}, [case for case in cases if not case.options]
        while left and None not in found:
            new = self.compile(left)
            found.update(new)
            left = [case for case in left if case.stem not in found] if new else []
        for case in cases:
            if case.options:
                found.update(self.compile([case], case.options))
        return found


def namesLine(error, case):
    """Whether an error says where in the source of a case the mistake is."""
    path, line = re.escape(case.path), case.line
    return re.search(rf"{path}(:{line}:|\({line}\))|at line {line}( of {path}|$)", "\n".join(error), re.MULTILINE)


def verdict(case, compiler, own):
    """What is wrong with the errors of a case, or None."""
    if not own:
        return "compiles"
    text, isFirst = case.expected(compiler)
    isFirst = isFirst and compiler != "clang++"
    if not (text in own[0][0] if isFirst else any(text in line for error in own for line in error)):
        return f"does not {'begin' if isFirst else 'fail'} with: {text}"
    if isFirst and not namesLine(own[0], case):
        return f"the first error does not name line {case.line}"
    lines = sum(map(len, own))
    isNoisy = compiler != "clang++" and (len(own) > MOST_ERRORS or lines > MOST_LINES)
    if isNoisy and not case.get("NOISY", compiler):
        return f"{len(own)} errors in {lines} lines, at most {MOST_ERRORS} in {MOST_LINES} are wanted"
    if not isNoisy and compiler != "clang++" and case.get("NOISY", compiler):
        return "few errors follow: take the line NOISY out"
    return None


def problems(cases, compiler):
    """What is wrong, and whose it is."""
    found = compiler.compileAll(cases)
    if None in found:  # in a header: nothing else can be judged
        yield "an error belongs to no source:\n" + "\n".join(found[None][0])
        return
    for case in cases:
        own = found.get(case.stem, [])
        problem = verdict(case, compiler.name, own)
        if problem:
            shown = "\n".join("\n".join(error) for error in own)
            yield f"{case.path}: {problem}\n{shown[:4000]}"


def main(arguments):
    end = arguments.index("--")
    name, file, sources, command = arguments[0], arguments[1], arguments[2:end], arguments[end + 1:]
    cases = [Case(path) for path in sources]
    wrong = [f"{case.path}: no line '// EXPECT: text'" for case in cases if not case.isReadable]
    cases = [case for case in cases if case.expected(name)]
    wrong += problems(cases, Compiler(name, file, command))
    print(*wrong, f"{name}: {len(cases)} sources, {len(wrong)} wrong", sep="\n")
    return 1 if wrong or not cases else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
