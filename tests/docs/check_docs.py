"""Compiles and runs the complete programs in the documentation: the ```cuda and ```cpp blocks that hold `int main`.
All of them include cuda_runtime.h, directly or not, so that is compiled once. Those that take a profile are left out
unless the first argument is --profile.

Usage: check_docs.py [--profile] <repository> <compiler> <argument>... [-- <argument after the source>...]
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


def commands(folder, before, after):
    """Those that build a program and run it."""
    return [*before, folder / "program.cu", "-o", folder / "program", *after], [folder / "program"]


def profiled(repository, folder, before, after):
    """The same for programs that take a profile."""
    source = Path(repository) / "emulation" / "profile"
    return ([*before, f"@{source / 'options'}", "-x", "c++", "-c", folder / "program.cu", "-o", folder / "program.o"],
            [*before, "-O2", "-DGPUOPT_EMULATION_BACKTRACE", source / "profile.cpp", folder / "program.o",
             "-o", folder / "program", *after, "-lbacktrace"], [folder / "program"])


def failure(source, folder, commands):
    """What goes wrong with a program, or None."""
    (folder / "program.cu").write_text(source)
    for command in commands:
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


def main(repository, command, hasProfiles):
    split = command.index("--") if "--" in command else len(command)
    failures = count = 0
    with tempfile.TemporaryDirectory() as folder:
        folder, before, after = Path(folder), command[:split], command[split + 1:]
        plain = commands(folder, precompiled(folder, before), after)
        for page, line, source in programs(repository):
            takesProfile = "gpuopt_emulation/profile.hpp" in source
            if takesProfile and not hasProfiles:
                print(f"{page}:{line}: left out: no profiles here")
                continue
            count += 1
            wrong = failure(source, folder, profiled(repository, folder, before, after) if takesProfile else plain)
            print(f"{page}:{line}: {wrong or 'ok'}")
            failures += wrong is not None
    print(f"{count} programs, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    arguments = [argument for argument in sys.argv[1:] if argument != "--profile"]
    sys.exit(main(arguments[0], arguments[1:], "--profile" in sys.argv))
