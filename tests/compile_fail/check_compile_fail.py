"""Sources whose first line is `// EXPECT: text` must fail to compile, and the compiler must say the text.

All are compiled at once, each in a namespace of its own: most of the time would go into starting the compiler. So an
error counts for the source that it names, and what fails in one source must be no instantiation of another's.

Usage: check_compile_fail.py <combined file to write> <source>... -- <compiler> <argument>...
SPDX-License-Identifier: MIT
"""

import re
import subprocess
import sys
from pathlib import Path

INCLUDE = re.compile(r"^#include .*$", re.MULTILINE)
CONTEXT = re.compile(r"^In file included from|^ +from |: In |: At |: +(recursively )?required |: +in .constexpr. expansion")


def combined(sources):
    """One source made of all: their includes, then each in its namespace."""
    texts = {path: Path(path).read_text() for path in sources}
    includes = {line: None for text in texts.values() for line in INCLUDE.findall(text)}
    parts = [f'namespace {Path(path).stem} {{\n#line 1 "{path}"\n{INCLUDE.sub("", text)}\n}}\n'
             for path, text in texts.items()]
    return "\n".join([*includes, *parts])


def errors(output):
    """The errors of a compiler's output, each with the lines that say where it comes from."""
    found, context = [], []
    for line in output.splitlines():
        if CONTEXT.search(line):
            context.append(line)
        elif " error: " in line:
            found.append("\n".join([*context, line]))
            context = []
        elif found:
            found[-1] += "\n" + line  # notes; those of clang++ say where the error comes from
    return found


def verdict(source, errors):
    """None if the outcome is the expected one, else what is wrong with it."""
    marker, _, text = Path(source).read_text().partition("\n")[0].partition(": ")
    if marker != "// EXPECT" or not text:
        return "the first line is not '// EXPECT: text'"
    own = [error for error in errors if source in error]
    if any(text in error for error in own):
        return None
    return f"does not fail with: {text}\n" + "\n".join(own)[:4000]


def main(arguments):
    end = arguments.index("--")
    file, sources, compiler = arguments[0], arguments[1:end], arguments[end + 1:]
    Path(file).write_text(combined(sources))
    run = subprocess.run([*compiler, file], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    found = errors(run.stdout)
    wrong = [f"{source}: {problem}" for source in sources if (problem := verdict(source, found))]
    print(*wrong, f"{len(sources)} sources, {len(wrong)} wrong", sep="\n")
    return 1 if wrong or not sources else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
