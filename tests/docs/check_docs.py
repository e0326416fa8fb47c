"""Compiles and runs the complete programs in the documentation: the ```cuda and ```cpp blocks that hold `int main`.
All of them include cuda_runtime.h, directly or not, so that is compiled once. Most of the time goes into code that
programs have in common: those that include the same of gpuopt are compiled as one, each in a namespace of its own, and
one by one only to find out which of them is wrong. Those that take a profile are left out unless --profile is given;
with --plain, another compiler compiles all of the others.

Usage: check_docs.py [--profile] [--plain=<compiler>] <repository> <compiler> <argument>... [-- <argument after the
source>...]
SPDX-License-Identifier: MIT
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

BLOCK = re.compile(r"^```(?:cuda|cpp)\n(.*?)^```", re.MULTILINE | re.DOTALL)
INCLUDE = re.compile(r"^#include .*$", re.MULTILINE)
MAIN = re.compile(r"^(int main\(.*?)^}$", re.MULTILINE | re.DOTALL)
GLOBAL = re.compile(r"^(?:template <>|namespace|struct gpuopt::|#define)", re.MULTILINE)  # in no other namespace
CALLS = """
static int call(int (*program)()) { return program(); }
[[maybe_unused]] static int call(int (*program)(int, char**)) {
  char name[] = "program";
  char* arguments[] = {name, nullptr};
  return program(1, arguments);
}
int main(int, char** arguments) {
  switch (*arguments[1]) {
"""


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


def takesProfile(program):
    return "gpuopt_emulation/profile.hpp" in program[2]


def batches(programs):
    """Lists of programs that can be compiled as one."""
    found = {}
    for program in programs:
        source = program[2]
        isAlone = takesProfile(program) or GLOBAL.search(source)
        key = len(found) if isAlone else frozenset(re.findall(r"#include (<gpuopt/.*)", source))
        found.setdefault(key, []).append(program)
    return list(found.values())


def joined(batch):
    """One program of several: its argument, a letter from A on, says which of them runs."""
    includes = dict.fromkeys(line for _, _, source in batch for line in INCLUDE.findall(source))
    parts, calls = [], []
    for i, (_, _, source) in enumerate(batch):
        inside = MAIN.sub(r"\1return 0;\n}", INCLUDE.sub("", source))
        parts.append(f"namespace program{i} {{\n{inside}\n}}\n")
        calls.append(f"    case '{chr(ord('A') + i)}': return call(program{i}::main);\n")
    return "\n".join([*includes, *parts]) + CALLS + "".join(calls) + "    default: return 1;\n  }\n}\n"


def failures(batch, folder, commands):
    """What is wrong with each program of a batch, or None."""
    build, run = commands
    if len(batch) > 1 and failure(joined(batch), folder, [build]) is None:
        return [failure(joined(batch), folder, [[*run, chr(ord("A") + i)]]) for i in range(len(batch))]
    return [failure(source, folder, commands) for _, _, source in batch]


def precompiled(folder, command):
    """The command that compiles a program, with cuda_runtime.h precompiled in a folder."""
    header = folder / "precompiled.hpp"
    header.write_text("#include <cuda_runtime.h>\n")
    subprocess.run([*command, "-x", "c++-header", header, "-o", f"{header}.gch"], check=True)
    return [*command, "-include", header, "-x", "c++"]


def main(repository, command, plainCompiler, hasProfiles):
    split = command.index("--") if "--" in command else len(command)
    wrong = count = 0
    with tempfile.TemporaryDirectory() as folder:
        folder, before, after = Path(folder), command[:split], command[split + 1:]
        plain = commands(folder, precompiled(folder, [plainCompiler or before[0], *before[1:]]), after)
        for batch in batches(programs(repository)):
            if not takesProfile(batch[0]):
                said = failures(batch, folder, plain)
            elif hasProfiles:
                said = [failure(batch[0][2], folder, profiled(repository, folder, before, after))]
            else:
                said = ["left out: no profiles here"]
                wrong -= 1
            for (page, line, _), problem in zip(batch, said):
                print(f"{page}:{line}: {problem or 'ok'}")
                wrong += problem is not None
            count += len(batch)
    print(f"{count} programs, {wrong} failures")
    return 1 if wrong else 0


if __name__ == "__main__":
    count = next(i for i, word in enumerate(sys.argv[1:]) if not word.startswith("--"))
    options, arguments = sys.argv[1:count + 1], sys.argv[count + 1:]
    compilers = [word.removeprefix("--plain=") for word in options if word.startswith("--plain=")]
    sys.exit(main(arguments[0], arguments[1:], "".join(compilers), "--profile" in options))
