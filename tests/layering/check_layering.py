"""Includes go downward only: public > device > types > soa > block > warp > grid > thread > host > core. Types are public
headers of nothing but what callers choose, get or catch. No header of device/ has a public name: who opens the public
headers finds all. And no tuning file reaches a reduction, which would then have other bits on another machine. The
tables of docs/architecture.md name every kernel, and no plan, kernel or explanation that does not exist.

Usage: check_layering.py <repository>. Prints each violation and exits with 1 if there is one.
SPDX-License-Identifier: MIT
"""

import re
import sys
from pathlib import Path

# A file may include its own layer and those further down. version.cuh lies below all of them.
LAYERS = ["version", "core", "host", "thread", "grid", "warp", "block", "soa", "types", "device", "public", "umbrella"]
KERNELS = {"device"}
SEPARATE = "distributed"  # begins the names of the public headers that need NCCL: not in the umbrella
TUNED = Path("host/tuning/tunable.cuh")  # the constants of tuning files
UNTUNED = re.compile(r"(distributed_)?(reduce\w*|histogram|statistics|columns)\.cuh")
PUBLIC_PART = re.compile(r"^GPUOPT_(NAMESPACE|TYPES)_BEGIN$(.*?)^GPUOPT_\1_END$", re.MULTILINE | re.DOTALL)
DETAIL_PART = re.compile(r"^namespace detail \{$.*?^\}  // namespace detail$", re.MULTILINE | re.DOTALL)
# A name that is defined or documented; neither declared alone, nor deprecated, nor a specialisation.
PUBLIC_NAME = re.compile(r"^///[^\n]*$|^(?:struct|class|enum class|using) (\w+)(?! \[\[deprecated)[^;<\n]*[{=:]", re.MULTILINE)
KERNEL = re.compile(r"^GPUOPT_KERNEL void[^;{]*?\b(\w+Kernel)\(", re.MULTILINE)
TABLED = re.compile(r"`(?:distributed::)?((?:plan|explain)[A-Z]\w+|\w+Kernel)`")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def layer(header):
    """The layer of a header, given relative to include/gpuopt; None outside the layers."""
    if header.parent == Path("."):
        named = "types" if header.name.endswith("_types.cuh") else "public"
        return {"version.cuh": "version", "gpuopt.cuh": "umbrella"}.get(header.name, named)
    return header.parts[0] if header.parts[0] in LAYERS else None


def includes(root, header):
    """What a header includes of gpuopt, relative to include/gpuopt; and the other names."""
    own, other = [], []
    for bracket, name in INCLUDE.findall((root / header).read_text()):
        beside = (root / header).parent / name
        if name.startswith("gpuopt/"):
            own.append(Path(name[len("gpuopt/"):]))
        elif bracket == '"' and beside.exists():
            own.append(beside.resolve().relative_to(root.resolve()))
        else:
            other.append(name)
    return own, other


def reached(root, header, seen):
    """All headers that a header includes, and those that they include."""
    for name in includes(root, header)[0]:
        if name not in seen and (root / name).exists():
            seen.add(name)
            reached(root, name, seen)
    return seen


def public_name(text):
    """The first public name of a header, or its documentation; empty without one."""
    for part in PUBLIC_PART.findall(text):
        found = PUBLIC_NAME.search(DETAIL_PART.sub("", part[1]))
        if found:
            return found.group(1) or found.group(0)
    return ""


def untabled(repository, texts):
    """Where the tables of the architecture and the headers differ."""
    page = (Path(repository) / "docs" / "architecture.md").read_text()
    tabled = {name for line in page.splitlines() if line.startswith("|") for name in TABLED.findall(line)}
    words = set(re.findall(r"\w+", " ".join(texts)))
    kernels = {name for text in texts for name in KERNEL.findall(text)}
    yield from (f"docs/architecture.md: names {name}, which does not exist" for name in sorted(tabled - words))
    yield from (f"docs/architecture.md: its tables lack {name}" for name in sorted(kernels - tabled))


def violations(repository):
    root = Path(repository) / "include" / "gpuopt"
    headers = sorted(path.relative_to(root) for path in root.rglob("*.cuh"))
    yield from untabled(repository, [(root / header).read_text() for header in headers])
    for header in headers:
        mine = layer(header)
        if mine is None:
            yield f"{header}: not in a layer"
            continue
        own, other = includes(root, header)
        for name in own:
            if name not in headers:
                yield f"{header}: includes gpuopt/{name}, which does not exist"
            elif layer(name) and LAYERS.index(layer(name)) > LAYERS.index(mine):
                yield f"{header}: includes upward, gpuopt/{name}"
        if mine == "public" and UNTUNED.fullmatch(header.name) and TUNED in reached(root, header, set()):
            yield f"{header}: a reduction, reaches gpuopt/{TUNED}"
        for name in other:
            if "emulation" in name or name.startswith("catch2") or ".." in name:
                yield f"{header}: includes {name}"
        text = (root / header).read_text()
        if "GPUOPT_EMULATION" in text:
            yield f"{header}: mentions GPUOPT_EMULATION"
        if re.search(r'^[^/"\n#]*\b(__global__|GPUOPT_KERNEL)\b', text, re.MULTILINE) and mine not in KERNELS:
            yield f"{header}: holds a kernel, which belongs in device/"
        if mine == "device" and public_name(text):
            yield f"{header}: has a public name, which belongs in a public header: {public_name(text)}"

    umbrella = includes(root, Path("gpuopt.cuh"))[0] if Path("gpuopt.cuh") in headers else []
    for header in headers:
        is_separate = header.name.startswith(SEPARATE)
        if layer(header) in ("public", "version") and is_separate == (header in umbrella):
            yield f"gpuopt.cuh: {'includes' if is_separate else 'does not include'} gpuopt/{header}"


if __name__ == "__main__":
    found = list(violations(sys.argv[1]))
    print("\n".join(found) or "layering: ok")
    sys.exit(1 if found else 0)
