"""Compiles and runs the complete programs in the documentation: the ```cuda and ```cpp blocks that hold `int main`.

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


def main(repository, command):
    split = command.index("--") if "--" in command else len(command)
    failures = count = 0
    for page, line, source in programs(repository):
        count += 1
        with tempfile.TemporaryDirectory() as folder:
            wrong = failure(source, Path(folder), command[:split], command[split + 1:])
        print(f"{page}:{line}: {wrong or 'ok'}")
        failures += wrong is not None
    print(f"{count} programs, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
