"""Each header needs no other than those that it includes. One by one, hundreds of files would read the same again and
again. So a file has many headers, each behind what it includes, in such orders that no header is behind another one in
all files, unless it includes that. Headers of the standard library count, too.

Usage: check_alone.py <include folder> <compiler> <argument>...
SPDX-License-Identifier: MIT
"""

import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

INCLUDE = re.compile(r"^ *# *include [<\"]([^>\"]*)", re.MULTILINE)


def read(folder):
    """{header: what it includes}, of the library and of others."""
    return {str(path.relative_to(folder)): INCLUDE.findall(path.read_text()) for path in sorted(folder.rglob("*.cuh"))}


def closures(includes):
    """{header: all that comes with it, itself too}."""
    found = {}

    def closure(header):
        if header not in found:
            found[header] = {header}.union(*map(closure, includes.get(header, [])))
        return found[header]

    for header in includes:
        closure(header)
    return found


def orders(includes):
    """Lists of headers, each behind those that it includes, until each header has been without each of the others."""
    brings = closures(includes)
    everything = {None}.union(*brings.values())  # None: each header is in one list at least
    missing = {header: everything - brings[header] for header in includes}  # never been without
    while any(missing.values()):
        order, seen = [], set()

        def add(header):
            if header in includes and header not in order:
                for other in includes[header]:
                    add(other)
                order.append(header)
                missing[header] &= seen
                seen.update(brings[header])

        while left := [it for it in includes if missing[it] - seen and it not in order]:
            add(max(left, key=lambda it: (len(missing[it] - seen), -len(brings[it] - seen))))
        yield order


def failure(order, command):
    """What the compiler says of one order, or nothing."""
    with tempfile.NamedTemporaryFile("w", suffix=".cu") as file:
        file.write("".join(f"#include <{header}>\n" for header in order))
        file.flush()
        done = subprocess.run([*command, file.name], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.stdout if done.returncode else ""


def main(folder, command):
    found = list(orders(read(Path(folder))))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        said = list(filter(None, pool.map(lambda order: failure(order, command), found)))
    print("\n".join([*said, f"{len(set().union(*found))} headers in {len(found)} files, {len(said)} failures"]))
    return len(said) > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
