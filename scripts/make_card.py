#!/usr/bin/env python3
"""Writes docs/reference_card.md: every public call on one page, the members of what they return and take, and the units of
all numbers, from the comments of the headers. Needs Doxygen.

Usage: make_card.py [--check]. With --check it writes nothing, and fails if the page is not up to date; it exits with 77
where there is no Doxygen. Either way it fails if a call takes a number whose unit UNITS does not say.
SPDX-License-Identifier: MIT
"""

import re
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "docs/site"))
from api import runDoxygen, splitArguments  # noqa: E402
from reference import PAGES, isPolicy, pathOf  # noqa: E402

CARD = ROOT / "docs/reference_card.md"
SKIPPED = 77
HEAD = """# Reference card

Every public call on one page; `make docs` builds the reference with all of their comments. Written by
`scripts/make_card.py`, from the headers.

- `[, x]` may be left out. `v` and `w` are containers or spans of memory that the device can access, `in` and the like
  pointers, iterators or containers, `matrix` is a MatrixView or an mdspan.
- Calls take a `stream` after these arguments, and a `workspace` after that, where the last column says so.
- What returns a value waits for it; calls whose names end in `Into` leave it in device memory. Results are
  `[[nodiscard]]`. Errors are exceptions: `CudaError`, `std::invalid_argument`.
- All names are in namespace `gpuopt`, those of the emulated device in `gpuopt::emulation`.
"""
TRAILING = ["stream", "workspace"]
# What numbers among the arguments count. Those of one call alone are named with it.
UNITS = {
    "n": "elements, or structures, of the input", "count": "blocks",
    "rows": "rows of a matrix", "cols": "elements of a row", "ld": "elements from one row to the next, cols or more",
    "inLd": "the same, of the input", "outLd": "the same, of the output", "segments": "segments", "k": "rows of the input that make one of the output",
    "inCount": "elements of a frame", "outCount": "elements of the results of a frame",
    "eps": "what keeps a root, or a length, from 0",
    "bins": "bins, or keys", "offsets": "of `gatherBlocks` and `scatterBlocks`: bytes from the begin of the host's memory, "
    "in host memory; of `reduceSegments`: elements, in device memory", "sizes": "bytes of each block, in host memory",
    "blockBytes": "bytes of each block", "bytes": "bytes", "sharedBytes": "bytes of dynamic shared memory of a block",
    "items": "items of the whole launch", "itemsPerThread": "items", "block": "threads of a block",
    "BLOCK": "threads of a block", "device": "the runtime's number of a device", "begin": "bytes from the file's begin",
    "descriptor": "the system's number of an open file",
    "base": "bytes from a boundary of 128, where the array begins", "globalBase": "the same, in global memory",
    "sharedBase": "the same, in shared memory", "delta": "lanes", "laneMask": "bits that change in a lane's number", "mask": "a bit for each lane",
    "width": "lanes that exchange with each other: a power of two up to 32", "source": "a lane", "validLanes": "lanes, the first ones",
    "validThreads": "threads, the first ones", "seed": "any number",
    "x": "a column", "y": "a row",
}
NUMBER = re.compile(r"(const )?((std::)?(size_t|ptrdiff_t|u?int\d+_t)|int|unsigned|double|Offset|Size)( ?\*)?")


def words(element):
    return " ".join("".join(element.itertext()).split())


def sentence(doc):
    """The first sentence of a comment, without its lists of parameters."""
    for part in doc.parts:
        for para in part.iter("para"):
            text = para.text or ""
            for child in para:
                if child.tag not in ("parameterlist", "simplesect", "verbatim"):
                    text += f"`{words(child)}`" if child.tag == "computeroutput" else words(child)
                    text += child.tail or ""
                else:
                    break
            text = " ".join(text.split())
            if text:
                return re.split(r"(?<=[.;:]) (?=[A-Z`]|$)|(?<=;) ", text)[0].rstrip(".;:")
    return ""


def arguments(entry):
    """(names, how many are needed) of a function, without stream and workspace; None for one that takes a pack."""
    parameters = splitArguments(entry.signature[entry.signature.find("(") + 1:entry.signature.rfind(")")])
    if any("..." in parameter for parameter in parameters):
        return None
    named = [(name, " = " in text) for (_, name), text in zip(entry.params, parameters) if name and name not in TRAILING]
    return tuple(name for name, _ in named), sum(not optional for _, optional in named)


def merged(forms):
    """Forms (template, names, needed) that differ in what may be left out at the end, as one."""
    found = []
    for template, names, needed in sorted(dict.fromkeys(forms), key=lambda form: (len(form[1]), form[2])):
        for i, (same, other, least) in enumerate(found):
            if template == same and names[:len(other)] == other and needed <= len(other) + 1:
                found[i] = template, names, min(least, needed)
                break
        else:
            found.append((template, names, needed))
    return found


def listed(names, needed):
    """a, b[, c[, d]], of which the first `needed` have to be given."""
    rest = "".join(f"[{', ' if i else ''}{name}" for i, name in enumerate(names) if i >= needed)
    return ", ".join(names[:needed]) + rest + "]" * (len(names) - needed)


def template(entry):
    """The template arguments that a caller names; those with defaults may be left out."""
    types = " ".join(type for type, _ in entry.params)
    own = [(name, default) for _, name, default in entry.template if not re.search(rf"\b{name}\b", types)
           and not name.endswith("...")]
    names, needed = [name for name, _ in own], sum(not default for _, default in own)
    if not own:
        return ""
    return f"<{listed(names, needed)}>" if needed else f"[<{listed(names, len(names))}>]"


def ofContainers(entry):
    """The forms that the comment of a function with a pack writes: reduce(v[, op]...)."""
    found = [words(code) for part in entry.doc.parts for code in part.iter("computeroutput")]
    return [re.sub(r"(\[, stream(\[, workspace\])?\])|(, stream\b)", "", text) for text in found
            if text.startswith(entry.name + "(")]


def escaped(text):
    return text.replace("|", "\\|")


def row(overloads):
    first = overloads[0]
    plain = [entry for entry in overloads if arguments(entry) is not None]
    packs = [entry for entry in overloads if entry not in plain]
    forms = [f"{first.name}{template}({listed(names, needed)})"
             for template, names, needed in merged((template(entry), *arguments(entry)) for entry in plain)]
    forms += [form for entry in packs for form in ofContainers(entry)]
    forms = list(dict.fromkeys(forms)) or [f"{first.name}({', '.join(name for _, name in first.params)}...)"]
    said = next((text for text in (sentence(entry.doc) for entry in overloads) if text), "")
    if not said and first.section:
        said = sentence(first.section.doc)
    last = [name for name in TRAILING if any(name == parameter for entry in overloads for _, parameter in entry.params)]
    return f"| {'<br>'.join(f'`{escaped(form)}`' for form in forms)} | {escaped(said)} | {', '.join(last)} |"


def members(entry):
    """The members of a structure, and the calls of a class."""
    plain = [member for member in entry.members if not member.isType and not member.isSpecial and member.kind != "typedef"
             and not member.name.startswith("operator") and member.name != entry.name.rpartition("::")[2]]
    told = dict.fromkeys((member.name, sentence(member.doc) if member.kind == "variable" else "") for member in plain)
    parts = {}
    for name, said in told:
        parts.setdefault(name, said)
    isCall = {member.name for member in plain if member.kind == "function"}
    return "; ".join(f"`{name}{'()' if name in isCall else ''}`{' ' + said if said else ''}" for name, said in parts.items())


def section(entries):
    """The tables of a page of the reference."""
    calls, types = {}, []
    for entry in entries:
        if entry.kind == "function" and not entry.name.startswith("operator"):
            calls.setdefault(entry.name, []).append(entry)
        elif entry.isType and not isPolicy(entry):
            types.append(entry)
    text = []
    if calls:
        text += ["", "| call | | takes |", "|---|---|---|", *map(row, calls.values())]
    if types:
        text += ["", "| type | | members |", "|---|---|---|"]
        for entry in types:
            names = ", ".join(name for _, name, _ in entry.template)
            text.append(f"| `{entry.name}{f'<{names}>' if names else ''}` | {escaped(sentence(entry.doc))} | "
                        f"{escaped(members(entry))} |")
    return text


def numbers(api):
    """(function, name) of each number among the arguments."""
    for entry in api.entries:
        for type, name in entry.params if entry.kind == "function" else ():
            if NUMBER.fullmatch(type) and name and not entry.name.startswith("operator"):
                yield entry, name


def unknownUnits(api):
    for entry, name in numbers(api):
        if name not in UNITS:
            yield f"{entry.header}:{entry.line}: {entry.name}: UNITS of scripts/make_card.py does not say what {name} counts"


def card(api):
    byHeader = {}
    for entry in api.entries:
        byHeader.setdefault(entry.header, []).append(entry)
    text = [HEAD]
    for _, title, header, guide, parts in PAGES:
        entries = [entry for headers in parts.values() for one in headers.split() for entry in byHeader.get(pathOf(one), [])]
        lines = section(entries)
        if lines:
            text += [f"## {title}", "", f"`#include <{pathOf(header)}>`, [guide]({guide}.md)", *lines, ""]
    used = {name for _, name in numbers(api)}
    text += ["## Numbers", "", "| argument | counts |", "|---|---|",
             *(f"| `{name}` | {unit} |" for name, unit in UNITS.items() if name in used)]
    return "\n".join(text) + "\n"


def main():
    if shutil.which("doxygen") is None:
        print("doxygen not found: nothing done")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        api = runDoxygen(ROOT, folder)
        text = card(api)
    wrong = list(unknownUnits(api))
    if "--check" not in sys.argv[1:]:
        CARD.write_text(text)
    elif CARD.read_text() != text:
        wrong.append(f"{CARD.relative_to(ROOT)} is not up to date: call scripts/make_card.py")
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
