#!/usr/bin/env python3
"""amalgamate.py [-o <file>] [<header>...]: one file in place of the headers, for where there is room for one file only,
such as a compiler on a web page. It holds the headers named, such as gpuopt/reduce.cuh, and all that they include;
without a name all of gpuopt. By default it is written to build/gpuopt_all.cuh.

SPDX-License-Identifier: MIT
"""

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
INCLUDE = ROOT / "include"
OWN = re.compile(r"\s*#\s*include\s*<(gpuopt/[^>]+)>")
OTHER = re.compile(r"\s*#\s*include\s*(<[^>]+>)")
GUARD = "GPUOPT_AMALGAMATION"


class Amalgamation:
    """Headers in the order of their inclusion, each of them once."""

    def __init__(self):
        self.headers = []  # what has been inlined
        self.others = []   # what is included of the standard library and of CUDA, outside of any #if
        self.lines = []

    def add(self, name):
        if name in self.headers:
            return
        self.headers.append(name)
        body, depth = [], 0
        for line in (INCLUDE / name).read_text().splitlines():
            own, other = OWN.match(line), OTHER.match(line)
            depth += bool(re.match(r"\s*#\s*if", line)) - bool(re.match(r"\s*#\s*endif", line))
            if own and depth:
                raise ValueError(f"{name}: #include <{own.group(1)}> depends on a condition")
            if own:
                self.add(own.group(1))
            elif other and depth == 0:
                self.others.append(other.group(1))
            elif not re.match(r"#pragma once|// SPDX-License-Identifier|/// \\file", line):
                body.append(line)
        text = re.sub(r"\n{3,}", "\n\n", "\n".join(body)).strip()
        self.lines += ["", f"// ---- {name}", text]

    def text(self):
        licence = [f"// {line}".rstrip() for line in (ROOT / "LICENSE").read_text().splitlines()]
        others = sorted(set(self.others), key=lambda name: (name != "<cuda_runtime.h>", name))
        return "\n".join([
            "// gpuopt in one file, made by scripts/amalgamate.py: change the headers, not this.",
            "// SPDX-License-Identifier: MIT", "//", *licence, f"#ifndef {GUARD}", f"#define {GUARD}", "",
            *(f"#include {name}" for name in others), *self.lines, "", f"#endif  // {GUARD}", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("headers", nargs="*", default=["gpuopt/gpuopt.cuh"])
    parser.add_argument("-o", dest="out", type=Path, default=ROOT / "build" / "gpuopt_all.cuh")
    options = parser.parse_args()
    result = Amalgamation()
    for name in options.headers:
        if not (INCLUDE / name).is_file():
            sys.exit(f"amalgamate: there is no header {name}")
        result.add(name)
    try:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(result.text())
    except OSError as error:
        sys.exit(f"amalgamate: {options.out} cannot be written: {error.strerror}; -o <file> names another")
    print(f"amalgamate: {len(result.headers)} headers in {options.out}")


if __name__ == "__main__":
    main()
