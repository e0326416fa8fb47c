"""Checks what nvcc makes of the kernels of a source against the expectations in its comments, without a GPU:

    // CODEGEN: kernel=<regex> contains=<regex> absent=<regex> no-local no-spill max-registers=64 max-shared=1024

kernel: the demangled names that the line speaks of (at least one must match); contains, absent, count=<number>*<regex>
(exactly so many times): of the kernel's PTX, may be repeated; no-local: no stack frame; no-spill, max-registers,
max-shared (static, in bytes): from ptxas. A regex holds no blanks. `arch=90` restricts the line to one architecture.

Usage: check_codegen.py <source> <architecture> <nvcc> <argument>...
SPDX-License-Identifier: MIT
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}")
    return done.stdout


def demangle(names):
    return dict(zip(names, run(["c++filt", *names]).splitlines())) if names else {}


def ptx_bodies(ptx):
    """The PTX of each kernel by its mangled name."""
    return dict(re.findall(r"^\.(?:visible |weak )?\.?entry (\w+)\((.*?)^}", ptx, re.MULTILINE | re.DOTALL))


def resources(report):
    """What ptxas -v says of each kernel by its mangled name."""
    found = {}
    for name, text in re.findall(r"Compiling entry function '(\w+)'(.*?)(?=Compiling entry function|\Z)", report, re.DOTALL):
        def number(pattern):
            match = re.search(pattern, text)
            return int(match.group(1)) if match else 0
        found[name] = {
            "registers": number(r"Used (\d+) registers"),
            "stack": number(r"(\d+) bytes stack frame"),
            "spill": number(r"(\d+) bytes spill stores") + number(r"(\d+) bytes spill loads"),
            "shared": number(r"(\d+) bytes smem"),
        }
    return found


def expectations(text):
    """(line number, [(key, value)]) of each CODEGEN comment."""
    for number, line in enumerate(text.splitlines(), 1):
        if "// CODEGEN:" in line:
            words = line.split("// CODEGEN:", 1)[1].split()
            yield number, [tuple(word.split("=", 1)) if "=" in word else (word, "") for word in words]


def problem(key, value, body, used):
    """None if the kernel meets the expectation, else what it does instead."""
    if key == "contains":
        return None if re.search(value, body) else f"PTX lacks {value}"
    if key == "absent":
        return f"PTX has {value}" if re.search(value, body) else None
    if key == "count":
        number, pattern = value.split("*", 1)
        have = len(re.findall(pattern, body))
        return f"PTX has {pattern} {have} times, not {number}" if have != int(number) else None
    if key == "no-local":
        return f"{used['stack']} bytes of local memory" if used["stack"] else None
    if key == "no-spill":
        return f"spills {used['spill']} bytes" if used["spill"] else None
    if key in ("max-registers", "max-shared"):
        have = used[key[len("max-"):]]
        return f"{have} {key[len('max-'):]}, more than {value}" if have > int(value) else None
    return f"unknown expectation {key}"


def check(text, architecture, bodies, used):
    names = demangle(list(bodies))
    for line, words in expectations(text):
        keys = [key for key, _ in words]
        if keys.count("kernel") != 1:
            yield f"line {line}: needs one kernel=<regex>"
            continue
        if "arch" in keys and dict(words)["arch"] != architecture:
            continue
        kernels = [name for name, readable in names.items() if re.search(dict(words)["kernel"], readable)]
        if not kernels:
            yield f"line {line}: no kernel matches {dict(words)['kernel']}; there are: {', '.join(names.values())}"
        for name in kernels:
            for key, value in words:
                wrong = None if key in ("kernel", "arch") else problem(key, value, bodies[name], used[name])
                if wrong:
                    yield f"line {line}: {names[name]}: {wrong}"


def main(source, architecture, nvcc):
    with tempfile.TemporaryDirectory() as folder:
        report = run([*nvcc, f"-arch=sm_{architecture}", "-cubin", "-Xptxas", "-v", "--keep", "--keep-dir", folder,
                      "-o", f"{folder}/out.cubin", source])
        ptx = next(Path(folder).glob("*.ptx")).read_text()
    used = resources(report)
    bodies = ptx_bodies(ptx)
    text = Path(source).read_text()
    found = list(check(text, architecture, bodies, used))
    if not any(expectations(text)):
        found.append("no // CODEGEN: line")
    for name, readable in demangle(list(used)).items():
        print(f"sm_{architecture} {readable}: {used[name]}")
    print("\n".join(f"FAILED {line}" for line in found) or "ok")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
