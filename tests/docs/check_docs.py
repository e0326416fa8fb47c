"""Compiles and runs the complete programs in the documentation: the ```cuda and ```cpp blocks that hold `int main`.
All of them include cuda_runtime.h, directly or not, so that is compiled once.

Usage: check_docs.py <repository> <compiler> <argument>... [-- <argument after the source>...]
SPDX-License-Identifier: MIT
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

BLOCK = re.compile(r"^```(?:cuda|cpp)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def programs(repository):
    """(file, line, source) of each complete program."""
    root = Path(repository)
    for page in [root / "README.md", *sorted((root / "docs").glob("**/*.md"))]:
        text = page.read_text() if page.exists() else ""
        for block in BLOCK.finditer(text):
            if "int main" in block.group(1):
                yield page.relative_to(root), text.count("\n", 0, block.start()) + 1, block.group(1)


def failure(source, folder, before, after):
    """What goes wrong with a program, or None."""
    (folder / "program.cu").write_text(source)
    for command in ([*before, folder / "program.cu", "-o", folder / "program", *after], [folder / "program"]):
        done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
        if done.returncode != 0:
            return f"{Path(command[0]).name} fails ({done.returncode}):\n{done.stdout[:4000]}"
    return None


def precompiled(folder, command):
    """The command that compiles a program, with cuda_runtime.h precompiled in a folder."""
    header = folder / "precompiled.hpp"
    header.write_text("#include <cuda_runtime.h>\n")
    subprocess.run([*command, "-x", "c++-header", header, "-o", f"{header}.gch"], check=True)
    return [*command, "-include", header, "-x", "c++"]


def main(repository, command):
    split = command.index("--") if "--" in command else len(command)
    failures = count = 0
    with tempfile.TemporaryDirectory() as folder:
        before = precompiled(Path(folder), command[:split])
        for page, line, source in programs(repository):
            count += 1
            wrong = failure(source, Path(folder), before, command[split + 1:])
            print(f"{page}:{line}: {wrong or 'ok'}")
            failures += wrong is not None
    print(f"{count} programs, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
