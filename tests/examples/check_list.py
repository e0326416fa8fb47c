"""README's table of examples and the folders in examples/ agree, and every public header has an example of its own.

Usage: check_list.py <repository>. Prints what disagrees and exits with 1 if something does.
SPDX-License-Identifier: MIT
"""

import re
import sys
from pathlib import Path

SHARED = {"data", "support"}  # folders of examples/ that hold no program
HEADLESS = {"gpuopt.cuh", "version.cuh"}  # public headers that show nothing by themselves
ROW = re.compile(r"^\| \[(\w+)\]\(examples/(\w+)\) \|([^|]*)\|[^|]*\w[^|]*\|$", re.MULTILINE)


def disagreements(repository):
    root = Path(repository)
    folders = {path.name for path in (root / "examples").iterdir() if path.is_dir()} - SHARED
    public = {path.name for path in (root / "include" / "gpuopt").glob("*.cuh")} - HEADLESS
    listed, shown = [], set()
    for name, target, cell in ROW.findall((root / "README.md").read_text()):
        listed.append(name)
        if name != target:
            yield f"README.md: {name} links to examples/{target}"
        sources = "".join(path.read_text() for path in (root / "examples" / name).glob("*.cu*"))
        for header in re.findall(r"`(\w+)`", cell):
            shown.add(f"{header}.cuh")
            if name in folders and f"#include <gpuopt/{header}.cuh>" not in sources:
                yield f"README.md: {name} is said to show {header}, and does not include it"
    for name in sorted({name for name in listed if listed.count(name) > 1}):
        yield f"README.md: {name} is listed more than once"
    for name in sorted(folders - set(listed)):
        yield f"examples/{name}: not in README's table"
    for name in sorted(set(listed) - folders):
        yield f"README.md: examples/{name} does not exist"
    for header in sorted(public - shown):
        yield f"README.md: no example shows gpuopt/{header}"


if __name__ == "__main__":
    found = list(disagreements(sys.argv[1]))
    print("\n".join(found) or "examples: README and examples/ agree")
    sys.exit(1 if found else 0)
