"""The public names of the headers, as Doxygen reads them: what the reference is made of and what the test of the
documentation checks.

SPDX-License-Identifier: MIT
"""

import re
import subprocess
import textwrap
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from pathlib import Path

# Namespaces, and what stands before their names: `distributed` has names that gpuopt has, too.
NAMESPACES = {"gpuopt": "", "gpuopt::emulation": "", "gpuopt::distributed": "distributed::"}
MACROS = ("GPUOPT_DEPRECATED", *(f"GPUOPT_VERSION{part}" for part in ("", "_MAJOR", "_MINOR", "_PATCH")))


@dataclass
class Doc:
    """A comment: its parts as Doxygen's XML."""

    parts: list

    def __bool__(self):
        return any("".join(part.itertext()).strip() for part in self.parts)


@dataclass
class Section:
    """A `\\name` group of names in one header."""

    title: str
    doc: Doc


@dataclass
class Entry:
    """One public name: a function, type, variable or macro, or a public member of a class."""

    id: str
    kind: str
    name: str  # within its namespace: StagedStructs::Tile
    header: str
    line: int
    doc: Doc
    template: list  # (kind, name, default) of each template parameter that has a name
    signature: str  # the declaration without its template line
    params: list = field(default_factory=list)  # (type, name)
    section: Section = None
    owner: "Entry" = None
    members: list = field(default_factory=list)
    isSpecial: bool = False  # a constructor, destructor or assignment that every class has

    def __post_init__(self):
        for member in self.members:
            member.owner = self

    @property
    def isType(self):
        return self.kind in ("class", "struct")

    @property
    def declaration(self):
        """The signature with its template line."""
        named = [f"{kind} {name}" + (f" = {default}" if default else "") for kind, name, default in self.template]
        return (templateLine(named) if named else "") + broken(self.signature)


def text(element):
    return " ".join("".join(element.itertext()).split()) if element is not None else ""


def tidy(code):
    """C++ as Doxygen prints it, spaced as in the headers."""
    code = re.sub(r"<\s+", "<", re.sub(r"\s+>", ">", " ".join(code.split())))
    if "operator" not in code:
        code = re.sub(r"(?<=\w)\s*=\s*(?=[\w{])", " = ", code)
    return re.sub(r"\s([&*]+)(?=[\w.])", r"\1 ", re.sub(r"(?<=\w)\((?=[&*])", " (", code)).replace("gpuopt::", "")


def splitArguments(arguments):
    """The parts between the commas outside of brackets."""
    parts, depth = [""], 0
    for character in arguments:
        depth += (character in "<([{") - (character in ">)]}")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


def templateLine(parameters):
    """The template line, broken between parameters where it is too long."""
    line = f"template <{', '.join(parameter.replace(' ', chr(0)) for parameter in parameters)}>"
    lines = textwrap.wrap(line, 72, subsequent_indent=" " * 10, break_on_hyphens=False)
    return "\n".join(lines).replace("\0", " ") + "\n"


def broken(declaration):
    """A declaration, with a line for each parameter where it is too long for one."""
    opening, closing = declaration.find("("), declaration.rfind(")")
    parts = splitArguments(declaration[opening + 1 : closing])
    if len(declaration) <= 72 or opening < 0 or not parts:
        return declaration
    return declaration[: opening + 1] + "\n    " + ",\n    ".join(parts) + declaration[closing:]


def isForMessage(member):
    """Whether a function is there for its static_assert alone: then its parameters have no names."""
    params = member.findall("param")
    isNamed = not params or any(text(param.find("declname")).strip(".") for param in params)
    isSpecial = re.search("=(default|delete)", text(member.find("argsstring")))
    return not isNamed and not isSpecial and "operator" not in text(member.find("name"))


def docOf(element):
    return Doc([part for tag in ("briefdescription", "detaileddescription", "description")
                for part in element.findall(tag)])


def templateOf(element):
    parameters = []
    for param in element.findall("templateparamlist/param"):
        kind, _, name = text(param.find("type")).rpartition(" ")
        name = text(param.find("declname")) or name
        if param.find("declname") is not None:
            kind = text(param.find("type"))
        if kind:  # the others are conditions
            parameters.append((kind, name, tidy(text(param.find("defval")))))
    return parameters


def signatureOf(member, kind, name):
    type = re.sub(r"\s([&*]+)$", r"\1", tidy(text(member.find("type"))))
    arguments = tidy(text(member.find("argsstring")))
    isStatic = member.get("static") == "yes" and "static" not in type
    value = re.sub(r"\s*<<\s*", " << ", text(member.find("initializer")))
    if kind == "define":
        return f"#define {name} {value}"
    if kind == "typedef":
        return f"using {name} = {'/* see below */' if 'detail::' in type else type.removeprefix('typedef ')}"
    if kind == "enum":
        values = ", ".join(text(value.find("name")) for value in member.findall("enumvalue"))
        return f"enum class {name} {{ {values} }}"
    if kind == "variable":
        arguments += f" {value}" if len(value) < 50 and "detail::" not in value else ""
    arguments = re.sub(r"\s*=\s*(default|delete|0)$", r" = \1", arguments)
    return f"{'static ' if isStatic else ''}{type} {name}{arguments}".strip()


def memberEntry(member, section=None, className=None, prefix=""):
    name, kind = prefix + text(member.find("name")), member.get("kind")
    location = member.find("location")
    params = [(text(param.find("type")), text(param.find("declname"))) for param in member.findall("param")]
    entry = Entry(member.get("id"), kind, name, location.get("file"), int(location.get("line")), docOf(member),
                  templateOf(member), signatureOf(member, kind, name), params, section)
    if kind == "enum":
        entry.members = [Entry(value.get("id"), "enumerator", text(value.find("name")), entry.header, entry.line,
                               docOf(value), [], text(value.find("name")), owner=entry)
                         for value in member.findall("enumvalue")]
    ownClass = [type for type, _ in params if className and re.search(rf"\b{className}\b(?! *<).*&", type)]
    entry.isSpecial = (name.startswith("~") or "=delete" in text(member.find("argsstring")) or
                       name in (className, "operator=") and len(params) == len(ownClass) == 1)
    return entry


class Api:
    """All public names: entries in the order of header and line, and what each id refers to."""

    def __init__(self, xml):
        self.xml = Path(xml)
        self.fileDocs = {}
        entries = [entry for namespace in NAMESPACES for entry in self.namespaceEntries(namespace)]
        entries += self.macros()
        self.entries = sorted(entries, key=lambda entry: (entry.header, entry.line))

    def compound(self, id):
        return ET.parse(self.xml / f"{id}.xml").getroot().find("compounddef")

    def namespaceEntries(self, namespace):
        compound = self.compound("namespace" + namespace.replace("::", "_1_1"))
        for sectiondef in compound.findall("sectiondef"):
            section = None
            if sectiondef.get("kind") == "user-defined":
                section = Section(text(sectiondef.find("header")), docOf(sectiondef))
            for member in sectiondef.findall("memberdef"):
                isGuide = not text(member.find("type")) and "->" in text(member.find("argsstring"))
                if not isGuide and not isForMessage(member):
                    yield memberEntry(member, section, prefix=NAMESPACES[namespace])
        for inner in compound.findall("innerclass"):
            if "<" not in text(inner):  # a specialisation says what its template says
                yield self.classEntry(inner.get("refid"), namespace)

    def classEntry(self, id, namespace):
        compound = self.compound(id)
        location = compound.find("location")
        kind, name = compound.get("kind"), text(compound.find("compoundname")).removeprefix(namespace + "::")
        name = NAMESPACES[namespace] + name
        bases = [tidy(text(base)) for base in compound.findall("basecompoundref") if base.get("prot") == "public"]
        shown = ", ".join(base for base in bases if "detail::" not in base)
        members = [memberEntry(member, className=name.rpartition("::")[2])
                   for sectiondef in compound.findall("sectiondef") for member in sectiondef.findall("memberdef")
                   if member.get("prot") == "public" and not isForMessage(member) and (
                       member.get("kind") != "friend" or text(member.find("argsstring")))]
        members += [self.classEntry(inner.get("refid"), namespace) for inner in compound.findall("innerclass")
                    if inner.get("prot") == "public"]
        return Entry(id, kind, name, location.get("file"), int(location.get("line")), docOf(compound),
                     templateOf(compound), f"{kind} {name}" + (f" : {shown}" if shown else ""),
                     members=sorted(members, key=lambda member: member.line))

    def macros(self):
        """The macros that users may ask for. Goes through the files, whose comments it keeps."""
        for path in [*self.xml.glob("*_8cuh.xml"), *self.xml.glob("*_8hpp.xml")]:
            compound = self.compound(path.stem)
            self.fileDocs[compound.find("location").get("file")] = docOf(compound)
            for member in compound.iter("memberdef"):
                if member.get("kind") == "define" and member.find("name").text in MACROS:
                    yield memberEntry(member)

    def all(self):
        """Every entry and member, depth first."""
        pending = list(self.entries)
        while pending:
            entry = pending.pop(0)
            yield entry
            pending[:0] = entry.members


def runDoxygen(root, output):
    """Reads the headers of a repository; the Api, or an exception with Doxygen's warnings."""
    settings = (Path(root) / "docs/site/Doxyfile").read_text() + f'\nOUTPUT_DIRECTORY = "{output}"\n'
    done = subprocess.run(["doxygen", "-"], input=settings, cwd=root, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"doxygen:\n{done.stdout}{done.stderr}")
    return Api(Path(output) / "xml")
