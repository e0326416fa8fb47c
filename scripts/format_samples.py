#!/usr/bin/env python3
"""Lays out those ```cuda and ```cpp blocks of pages that have lines of more than 80 columns, so that they do not scroll on
the site: by clang-format, with the layout of the sources otherwise. Other blocks stay as they are.

Usage: format_samples.py [<page>...]    all of README.md and docs/ without names
SPDX-License-Identifier: MIT
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COLUMNS = 80
BLOCK = re.compile(r"^```(cuda|cpp)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def formatted(code, folder):
    if all(len(line) <= COLUMNS for line in code.splitlines()):
        return code
    return subprocess.run(["clang-format", f"--assume-filename={folder}/sample.cu", "--style=file"], input=code,
                          capture_output=True, text=True, check=True).stdout


def main(names):
    pages = [Path(name) for name in names] or [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    style = re.sub(r"^ColumnLimit:.*\n", "", (ROOT / ".clang-format").read_text(), flags=re.MULTILINE)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / ".clang-format").write_text(f"{style}ColumnLimit: {COLUMNS}\n")
        for page in pages:
            text = page.read_text()
            new = BLOCK.sub(lambda block: f"```{block[1]}\n{formatted(block[2], folder)}```", text)
            if new != text:
                page.write_text(new)
                print(page)


if __name__ == "__main__":
    main(sys.argv[1:])
