#!/usr/bin/env python3
"""Draws what a terminal shows of a kernel and of the emulated device's report about it: compiles and runs
docs/images/divergent_barrier.cu for the emulated device, and writes docs/images/divergent_barrier.svg.

Usage: picture_report.py [--check]. With --check it writes nothing, and fails if the picture is not up to date; it exits
with 77 where the compiler comes without libbacktrace, which finds the report's line.
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
SOURCE = ROOT / "docs/images/divergent_barrier.cu"
PICTURE = SOURCE.with_suffix(".svg")
SKIPPED = 77
NO_BREAK = "\u00a0"
COLUMNS, LINE, WIDTH, EDGE = 84, 19, 8.0, 18
COLORS = {"prompt": "#3fb950", "number": "#6e7681", "code": "#e6edf3", "report": "#ffa657"}


def report():
    """What the program writes to stderr; None where there is no libbacktrace."""
    compiler = [*shlex.split(os.environ.get("CXX", "c++")), "-std=c++17", "-g", "-DGPUOPT_EMULATION_BACKTRACE",
                "-Wno-unknown-pragmas"]
    with tempfile.TemporaryDirectory() as folder:
        has = subprocess.run([*compiler, "-x", "c++", "-fsyntax-only", "-"], input="#include <backtrace.h>\n", text=True,
                             capture_output=True)
        if has.returncode != 0:
            return None
        source, program = Path(folder) / "sum.cpp", Path(folder) / "sum"
        subprocess.run([sys.executable, "-B", ROOT / "emulation/rewrite_launches.py", SOURCE, "-o", source], check=True)
        subprocess.run([*compiler, "-I", ROOT / "emulation/include", "-I", ROOT / "include", source, "-o", program,
                        "-lboost_context", "-lbacktrace", "-lpthread"], check=True)
        text = subprocess.run([program], capture_output=True, text=True).stderr
        return text.replace(f"{SOURCE.parent}/", "")


def kernel():
    """(number, text) of the lines of the kernel."""
    lines = list(enumerate(SOURCE.read_text().splitlines(), 1))
    first = next(i for i, (_, line) in enumerate(lines) if "__global__" in line)
    last = next(i for i, (_, line) in enumerate(lines) if i > first and line == "}")
    return lines[first:last + 1]


def screen(said):
    """[[(kind, text)]] of each line of the terminal."""
    first, last = kernel()[0][0], kernel()[-1][0]
    lines = [[("prompt", "$ "), ("code", f"cat -n {SOURCE.name} | sed -n {first},{last}p")]]
    lines += [[("number", f"{number:6}  "), ("code", line)] for number, line in kernel()]
    lines.append([("prompt", "$ "), ("code", "./divergent_barrier    # no GPU in this machine")])
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


def main():
    said = report()
    if said is None:
        print("no libbacktrace: the report would have no line of the source")
        return SKIPPED
    if not re.search("divergent barrier", said):
        sys.exit(f"no report of a divergent barrier:\n{said}")
    picture = svg(screen(said))
    if "--check" not in sys.argv[1:]:
        PICTURE.write_text(picture)
    elif PICTURE.read_text() != picture:
        sys.exit(f"{PICTURE.relative_to(ROOT)} is not up to date: call scripts/picture_report.py")
    return 0


if __name__ == "__main__":
    sys.exit(main())
