"""Finds public names without documentation. A function, type, variable, macro or public member has a comment of its
own, or is in a `\\name` group: of one name whose comment speaks for all, or with a commented overload. Each parameter,
and each template parameter that no argument tells, has a line of documentation (`\\param`, `\\tparam`) or is named in
one of those comments, or in that of the class, of the header, or of a header to which that refers. The comment of a
member with one parameter is about it.

Usage: check_reference.py <repository>
SPDX-License-Identifier: MIT
"""

import re
import shutil
import sys
import tempfile
from pathlib import Path

SKIPPED = 77

# Names of parameters that are English words: only code says them.
WORDS = {"a", "in", "out", "base", "It", "In", "Out", "to", "by", "first", "second", "other", "function"}


def prose(element):
    """A comment's text without that of its lists of parameters: one says nothing about another."""
    if element.tag == "parameterlist":
        return element.tail or ""
    return (element.text or "") + "".join(prose(child) for child in element) + (element.tail or "")


def isNamed(name, docs):
    """Whether a parameter is documented, or named, in one of some comments."""
    for part in (part for doc in docs for part in doc.parts):
        if any("".join(element.itertext()).strip() == name for element in part.iter("parametername")):
            return True
        code = [element for tag in ("computeroutput", "verbatim") for element in part.iter(tag)]
        told = " ".join("".join(element.itertext()) for element in code) if name in WORDS else prose(part)
        if re.search(rf"\b{re.escape(name)}\b", told) or re.search(rf"\b{re.escape(name)}[\[(]", prose(part)):
            return True
    return False


def family(entry):
    return entry.name.removesuffix("Into")


class Check:
    """What is wrong with the documentation of the names."""

    def __init__(self, api):
        self.api = api
        self.wrong = []

    def siblings(self, entry):
        """The overloads of a function, and what else its group tells in one comment."""
        among = entry.owner.members if entry.owner else [e for e in self.api.entries if e.header == entry.header]
        return [other for other in among if family(other) == family(entry) and other.section == entry.section]

    def speaking(self, entry):
        """The comments that may document an entry's parameters."""
        docs = [other.doc for other in self.siblings(entry)]
        if entry.section:
            docs.append(entry.section.doc)
        while entry.owner:
            entry = entry.owner
            docs.append(entry.doc)
        return [*docs, *self.ofHeader(entry.header)]

    def ofHeader(self, header):
        """A header's comment, and those of the headers to which it refers."""
        doc = self.api.fileDocs[header]
        text = " ".join("".join(part.itertext()) for part in doc.parts)
        others = [self.api.fileDocs[name] for name in re.findall(r"<(gpuopt/\w+\.cuh)>", text) if name in self.api.fileDocs]
        return [doc, *others]

    def isDocumented(self, entry):
        if entry.doc or entry.isSpecial:
            return True
        if entry.owner and entry.name == "operator()" and len(entry.owner.members) == 1:
            return bool(entry.owner.doc)  # a function object is its call
        if entry.section and entry.section.doc:
            among = [other for other in self.api.entries if other.section == entry.section]
            if len({family(other) for other in among}) == 1:
                return True
        overloads = [other for other in self.siblings(entry) if other.name == entry.name]
        return entry.section is not None and any(overload.doc for overload in overloads)

    def check(self, entry):
        where = f"{entry.header}:{entry.line}: {entry.owner.name + '::' if entry.owner else ''}{entry.name}"
        if not self.isDocumented(entry):
            self.wrong.append(f"{where}: no comment")
            return
        if entry.isSpecial or entry.name == "operator()":
            return
        docs = self.speaking(entry)
        least = 2 if entry.owner and not entry.isType else 1
        types = " ".join(type for type, _ in entry.params)
        for type, name in entry.params if len(entry.params) >= least else ():
            isPack = type.endswith("...")  # stands for the parameters of another overload
            if name and not isPack and not isNamed(name, docs):
                self.wrong.append(f"{where}: nothing about the parameter {name}")
        for _, name, _ in entry.template if len(entry.template) >= least else ():
            if not re.search(rf"\b{name}\b", types) and not isNamed(name, docs):
                self.wrong.append(f"{where}: nothing about the template parameter {name}")


def main(repository):
    sys.path.insert(0, str(Path(repository) / "docs/site"))
    from api import runDoxygen

    if shutil.which("doxygen") is None:
        print("doxygen not found: nothing checked")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        try:
            check = Check(runDoxygen(repository, folder))
        except RuntimeError as error:
            print(error)
            return 1
        names = list(check.api.all())
        for entry in names:
            check.check(entry)
    print(*check.wrong, f"{len(names)} public names, {len(check.wrong)} failures", sep="\n")
    return 1 if check.wrong or len(names) < 100 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
