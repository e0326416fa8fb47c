"""A source whose first line is `// EXPECT: text` must fail to compile, and the compiler must say the text.
One whose first line is `// EXPECT-SUCCESS` must compile: it shows that the others fail for their own reason.

Usage: check_compile_fail.py <source> <compiler> <argument>...
SPDX-License-Identifier: MIT
"""

import subprocess
import sys


def verdict(first_line, compiled, output):
    """None if the outcome is the expected one, else what is wrong with it."""
    if first_line == "// EXPECT-SUCCESS":
        return None if compiled else "does not compile"
    marker, _, text = first_line.partition(": ")
    if marker != "// EXPECT" or not text:
        return "the first line is neither '// EXPECT: text' nor '// EXPECT-SUCCESS'"
    if compiled:
        return f"compiles, but should fail with: {text}"
    return None if text in output else f"fails, but not with: {text}"


def main(source, command):
    with open(source) as file:
        first_line = file.readline().strip()
    run = subprocess.run([*command, source], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    wrong = verdict(first_line, run.returncode == 0, run.stdout)
    print(f"{source}: {wrong}\n{run.stdout[:4000]}" if wrong else "ok")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
