#!/usr/bin/env python3
"""Draws what a terminal shows of a kernel and of what the emulated device says about it: compiles and runs
docs/images/divergent_barrier.cu and race.cu, and writes the .svg files beside them.

Usage: picture_report.py [--check] [divergent_barrier|race]... With --check it writes nothing, and fails if a picture is
not up to date; it exits with 77 where the compiler comes without libbacktrace, which finds the report's line.
SPDX-License-Identifier: MIT
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs/images"
SKIPPED = 77
NO_BREAK = "\u00a0"
COLUMNS, LINE, WIDTH, EDGE = 84, 19, 8.0, 18
COLORS = {"prompt": "#3fb950", "number": "#6e7681", "code": "#e6edf3", "report": "#ffa657"}


def hasBacktrace(compiler):
    return subprocess.run([*compiler, "-x", "c++", "-fsyntax-only", "-"], input="#include <backtrace.h>\n", text=True,
                          capture_output=True).returncode == 0


def reportOfRun(source, compiler):
    """What the program writes to stderr."""
    flags = ["-std=c++17", "-g", "-DGPUOPT_EMULATION_BACKTRACE", "-Wno-unknown-pragmas"]
    with tempfile.TemporaryDirectory() as folder:
        rewritten, program = Path(folder) / "program.cpp", Path(folder) / "program"
        subprocess.run([sys.executable, "-B", ROOT / "emulation/rewrite_launches.py", source, "-o", rewritten], check=True)
        subprocess.run([*compiler, *flags, "-I", ROOT / "emulation/include", "-I", ROOT / "include", rewritten, "-o",
                        program, "-lboost_context", "-lbacktrace", "-lpthread"], check=True)
        return subprocess.run([program], capture_output=True, text=True).stderr


def reportOfCheck(source, _):
    """What gpuopt-check writes."""
    return subprocess.run([sys.executable, "-B", ROOT / "emulation/gpuopt-check", source.name], cwd=source.parent,
                          capture_output=True, text=True).stdout


# What is drawn: the command of the terminal, what runs it, and what the report must say.
PICTURES = {"divergent_barrier": ("./divergent_barrier", reportOfRun, "divergent barrier"),
            "race": ("gpuopt-check race.cu", reportOfCheck, r"\[race\]")}


def kernel(source):
    """(number, text) of the lines of the kernel."""
    lines = list(enumerate(source.read_text().splitlines(), 1))
    first = next(i for i, (_, line) in enumerate(lines) if "__global__" in line)
    last = next(i for i, (_, line) in enumerate(lines) if i > first and line == "}")
    return lines[first:last + 1]


def screen(source, command, said):
    """[[(kind, text)]] of each line of the terminal."""
    first, last = kernel(source)[0][0], kernel(source)[-1][0]
    lines = [[("prompt", "$ "), ("code", f"cat -n {source.name} | sed -n {first},{last}p")]]
    lines += [[("number", f"{number:6}  "), ("code", line)] for number, line in kernel(source)]
    lines.append([("prompt", "$ "), ("code", f"{command}    # no GPU in this machine")])
    for line in said.splitlines():
        lines += [[("report", part)] for part in textwrap.wrap(line, COLUMNS, drop_whitespace=False)]
    return lines


def svg(lines):
    width, height = COLUMNS * WIDTH + 2 * EDGE, len(lines) * LINE + 2 * EDGE
    text = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height}" font-size="13.3" '
            f'font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, \'DejaVu Sans Mono\', monospace">',
            f'<rect width="{width:g}" height="{height}" fill="#0d1117" stroke="#30363d"/>']
    for row, line in enumerate(lines):
        # Blanks that do not collapse in any program that draws this.
        spans = "".join(f'<tspan fill="{COLORS[kind]}">{escape(part).replace(" ", NO_BREAK)}</tspan>' for kind, part in line)
        text.append(f'<text x="{EDGE}" y="{EDGE + LINE * row + 14}">{spans}</text>')
    return "\n".join([*text, "</svg>"]) + "\n"


def problem(name, isCheck, compiler):
    """Draws a picture, or compares it; what is wrong, or None."""
    source, (command, run, expected) = IMAGES / f"{name}.cu", PICTURES[name]
    said = run(source, compiler).replace(f"{source.parent}/", "")
    if not re.search(expected, said):
        return f"{source.relative_to(ROOT)}: the report does not say {expected}:\n{said}"
    target, picture = source.with_suffix(".svg"), svg(screen(source, command, said))
    if not isCheck:
        target.write_text(picture)
    elif not target.exists() or target.read_text() != picture:
        return f"{target.relative_to(ROOT)} is not up to date: call scripts/picture_report.py {name}"
    return None


def main(arguments):
    compiler = shlex.split(os.environ.get("CXX", "c++"))
    if not hasBacktrace(compiler):
        print("no libbacktrace: the report would have no line of the source")
        return SKIPPED
    names = [name for name in arguments if name != "--check"] or PICTURES
    wrong = [text for text in (problem(name, "--check" in arguments, compiler) for name in names) if text]
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
