"""What shared libraries that use gpuopt export: no kernel, nothing that is given one, no variable; and libraries of
different versions or architectures have no name of gpuopt's in common.

Usage: check_symbols.py <nm> <library>...
SPDX-License-Identifier: MIT
"""

import re
import subprocess
import sys

OWN = re.compile(r"^((typeinfo|typeinfo name|vtable|guard variable) for )?[^<(]*\bgpuopt::v\d+_\d+_\d+")
BUILD = re.compile(r"\bgpuopt::(v\d+_\d+_\d+_\w+)::")
TYPES = re.compile(r"^((typeinfo|typeinfo name|vtable) for )?gpuopt::v\d+_\d+_\d+::")


def exported(nm, library):
    """(name, type) of the functions (FUNC), variables (OBJECT) and thread-local ones (TLS) of gpuopt's."""
    command = [nm, "--dynamic", "--defined-only", "--demangle", "--format=sysv", library]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    rows = [line.rsplit("|", 6) for line in lines if line.count("|") >= 6]
    return {(row[0].strip(), row[3].strip()) for row in rows if OWN.search(row[0])}


def problem(name, type, isEmulated):
    """What is wrong with an exported symbol, or None."""
    if re.search(r"::(__device_stub__\w*|(?!launch)\w*[kK]ernel)<", name):
        return "a kernel"
    if type == "FUNC" and "(*)(" in name:
        return "what is given a kernel"
    isShared = isEmulated and type == "TLS"  # __shared__ on the emulated device
    if type != "FUNC" and not isShared and not TYPES.search(name):
        return "a variable"
    return None


def check(nm, libraries):
    names = {library: exported(nm, library) for library in libraries}
    builds = {library: {build for name, _ in names[library] for build in BUILD.findall(name)} for library in libraries}
    for library in libraries:
        if len(builds[library]) != 1:
            yield f"{library}: builds {sorted(builds[library])} instead of one"
        isEmulated = any("_emulated" in build for build in builds[library])
        for name, type in sorted(names[library]):
            if wrong := problem(name, type, isEmulated):
                yield f"{library}: exports {wrong}: {name}"
    for a in libraries:
        for b in libraries:
            if a < b and builds[a] != builds[b]:
                for name, _ in sorted(names[a] & names[b]):
                    if not TYPES.search(name):
                        yield f"{a} and {b} share {name}"
    if len({*map(frozenset, builds.values())}) == 1:
        yield "all libraries are of one version and for the same architectures"


if __name__ == "__main__":
    found = list(check(sys.argv[1], sys.argv[2:]))
    print("\n".join(found) or "ok")
    sys.exit(1 if found else 0)
