"""The tables of examples/README.md and the folders in examples/ agree, and every public header has an example.

Usage: check_list.py <repository>. Prints what disagrees and exits with 1 if something does.
SPDX-License-Identifier: MIT
"""

import re
import sys
from pathlib import Path

SHARED = {"data", "support"}  # folders of examples/ that hold no program
# Public headers that show nothing by themselves, or are shown by those that include them.
HEADLESS = {"gpuopt.cuh", "distributed.cuh", "version.cuh", "transfer_array.cuh", "transfer_chunks.cuh",
            "soa_convert.cuh", "soa_transform.cuh"}
LIST = "examples/README.md"
ROW = re.compile(r"^\| \[(\w+)\]\((\w+)\) \|([^|]*)\|[^|]*\w[^|]*\|$", re.MULTILINE)


def disagreements(repository):
    root = Path(repository)
    folders = {path.name for path in (root / "examples").iterdir() if path.is_dir()} - SHARED
    public = {path.name for path in (root / "include" / "gpuopt").glob("*.cuh") if not path.name.endswith("_types.cuh")} - HEADLESS
    listed, shown = [], set()
    for name, target, cell in ROW.findall((root / LIST).read_text()):
        listed.append(name)
        if name != target:
            yield f"{LIST}: {name} links to {target}"
        sources = "".join(path.read_text() for path in (root / "examples" / name).glob("*.cu*"))
        for header in re.findall(r"`(\w+)`", cell):
            shown.add(f"{header}.cuh")
            if name in folders and f"#include <gpuopt/{header}.cuh>" not in sources:
                yield f"{LIST}: {name} is said to show {header}, and does not include it"
    for name in sorted({name for name in listed if listed.count(name) > 1}):
        yield f"{LIST}: {name} is listed more than once"
    for name in sorted(folders - set(listed)):
        yield f"{LIST}: {name} is not listed"
    for name in sorted(set(listed) - folders):
        yield f"{LIST}: {name} does not exist"
    for header in sorted(public - shown):
        yield f"{LIST}: no example shows gpuopt/{header}"


if __name__ == "__main__":
    found = list(disagreements(sys.argv[1]))
    print("\n".join(found) or f"examples: {LIST} and the folders agree")
    sys.exit(1 if found else 0)
