"""Each case must fail to compile, and the first error that a user sees must be the one it expects (case.py has the
form of a file of cases). Few errors may follow it.

All cases are compiled at once, each in a namespace of its own: most of the time would go into starting the compiler.
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

from case import casesOf

MOST_ERRORS, MOST_LINES = 4, 40

CONTEXT = re.compile(r"^In file included from|^ +from |: In |: At |: +(recursively )?required |: +in .constexpr. expansion")
ERROR = re.compile(r": (fatal )?error( #\d+(-D)?)?: ")


def combined(cases):
    """One source made of all: their includes, then each in its namespace."""
    includes = {case.includes: None for case in cases}
    parts = [f'namespace {case.name} {{\n#line {case.first} "{case.path}"\n{case.text}\n}}\n' for case in cases]
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


def linesOf(path, text):
    """The lines of a file that a text names: file:3:1 of g++, file(3) and line 3 of file of nvcc."""
    file = re.escape(path)
    found = re.findall(rf"{file}[:(](\d+)\b|\bline (\d+) of {file}", text)
    return [int(one or other) for one, other in found]


def owner(error, cases):
    """The case that an error names: by a line of its file, or by its namespace."""
    text = "\n".join(error)
    lines = {path: linesOf(path, text) for path in {case.path for case in cases}}
    for case in cases:
        if any(case.hasLine(line) for line in lines[case.path]):
            return case.name
    return next((case.name for case in cases if re.search(rf"\b{case.name}::", text)), None)


class Compiler:
    """`g++`, `nvcc` or `clang++`: a name that says what to expect, and a command."""

    def __init__(self, name, file, command):
        self.name, self.file, self.command = name, file, command

    def compile(self, cases):
        """The errors of each case, by its name. An error that names no case belongs to the one before it."""
        Path(self.file).write_text(combined(cases))
        run = subprocess.run([*self.command, self.file], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                             env={**os.environ, "LC_ALL": "C"})
        found, last = {}, cases[0].name if len(cases) == 1 else None
        for error in errors(run.stdout):
            last = owner(error, cases) or last
            found.setdefault(last, []).append(error)
        return found

    def compileAll(self, cases):
        found, left = {}, cases
        while left and None not in found:
            new = self.compile(left)
            found.update(new)
            left = [case for case in left if case.name not in found] if new else []
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
        yield "an error belongs to no case:\n" + "\n".join(found[None][0])
        return
    for case in cases:
        own = found.get(case.name, [])
        problem = verdict(case, compiler.name, own)
        if problem:
            shown = "\n".join("\n".join(error) for error in own)
            yield f"{case.path}:{case.first}: {problem}\n{shown[:4000]}"


def main(arguments):
    end = arguments.index("--")
    name, file, sources, command = arguments[0], arguments[1], arguments[2:end], arguments[end + 1:]
    cases = [case for path in sources for case in casesOf(path)]
    wrong = [f"{case.path}:{case.first}: no line '// EXPECT: text'" for case in cases if not case.isReadable]
    cases = [case for case in cases if case.expected(name)]
    wrong += problems(cases, Compiler(name, file, command))
    print(*wrong, f"{name}: {len(cases)} cases, {len(wrong)} wrong", sep="\n")
    return 1 if wrong or not cases else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
