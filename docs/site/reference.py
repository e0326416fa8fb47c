"""Writes the reference: a page of Markdown for each capability, from what Doxygen reads in the headers.

SPDX-License-Identifier: MIT
"""

import re
from itertools import groupby

# The pages: name, title, the header to include, the guide, and the headers of each part. Names of a `\\name` group
# come under its title, policies last.
PAGES = (
    ("reductions", "Reductions", "reduce.cuh", "reductions", {
        "Folds": "reduce.cuh reduce_transform.cuh",
        "Extremes, mean and variance": "reduce_statistics.cuh",
        "Results, initial values, policies": "reduce_types.cuh",
        "Operations and accumulators": "thread/operators.cuh"}),
    ("reduce_rows", "Reductions of rows", "reduce_rows.cuh", "reductions", {"Rows": "reduce_rows.cuh"}),
    ("reduce_columns", "Reductions of columns", "reduce_columns.cuh", "reductions", {"Columns": "reduce_columns.cuh"}),
    ("reduce_segments", "Reductions of segments", "reduce_segments.cuh", "reductions",
     {"Segments": "reduce_segments.cuh"}),
    ("device_functions", "Device functions", "reduce.cuh", "getting_started", {
        "Reductions of a warp": "warp/reduce.cuh", "Reductions of a block": "block/reduce.cuh",
        "Scans of a warp": "warp/scan.cuh", "Scans of a block": "block/scan.cuh",
        "Lanes and shuffles": "warp/shuffle.cuh"}),
    ("transposition", "Transposition", "transpose.cuh", "transpose", {
        "Matrices": "transpose.cuh", "Views": "core/matrix_view.cuh",
        "Tiles in your own kernels": "block/transpose.cuh", "In the registers of a thread": "thread/transpose.cuh"}),
    ("windows", "Windows", "window.cuh", "launching", {"Windows in your own kernels": "thread/window.cuh"}),
    ("permutation", "Permutation of axes", "permute.cuh", "permute", {
        "Tensors": "permute.cuh", "Views": "core/tensor_view.cuh"}),
    ("rows", "Rows", "rows.cuh", "rows", {
        "By index": "rows_gather.cuh rows_types.cuh",
        "Combined": "rows_combine.cuh",
        "Added": "rows_add.cuh"}),
    ("rows_transform", "Rows normalised and quantised", "rows_transform.cuh", "rows_transform", {
        "Transforms of rows": "rows_transform.cuh"}),
    ("rows_scan", "Scans of rows and columns", "rows_scan.cuh", "rows_scan", {"Rows and columns": "rows_scan.cuh"}),
    ("histograms", "Histograms", "histogram.cuh", "histogram", {
        "Arrays": "histogram.cuh", "Channels": "histogram_channels.cuh", "Weights": "histogram_weighted.cuh",
        "Pairs": "histogram_2d.cuh",
        "Limits of the elements' own": "histogram_automatic.cuh", "In your own kernels": "block/histogram.cuh",
        "Policies, axes": "histogram_types.cuh"}),
    ("map", "A function of each element", "map.cuh", "map", {"Arrays": "map.cuh"}),
    ("structures", "Arrays of structures", "struct_io.cuh", "structs", {
        "Arrays": "struct_io.cuh",
        "In your own kernels": "block/struct_io.cuh block/struct_pipeline.cuh",
        "Exchanges in a warp": "warp/exchange.cuh"}),
    ("columns", "Structures of arrays", "soa.cuh", "soa", {
        "Vectors and views": "soa/vector.cuh soa/view.cuh", "Layouts": "soa/layout.cuh",
        "A function of each structure": "soa_transform.cuh", "Conversions": "soa_convert.cuh",
        "Elements": "soa/reference.cuh",
        "Iterators, also over one member of an array": "soa/iterator.cuh"}),
    ("pipelines", "Pipelines", "transfer_pipeline.cuh", "pipelines", {
        "Arrays and files": "transfer_pipeline.cuh transfer_chunks.cuh",
        "Options, chunks, latency": "pipeline_types.cuh", "Frames": "transfer_frames.cuh"}),
    ("transfers", "Transfers", "transfer.cuh", "transfers", {
        "Arrays": "transfer_array.cuh transfer_types.cuh",
        "Blocks": "transfer_blocks.cuh", "Memory of the device": "device_vector.cuh", "Pinned memory": "host/pinned.cuh"}),
    ("launching", "Launching", "launch.cuh", "launching", {
        "Configurations": "host/launch_config.cuh host/occupancy.cuh", "Launches": "host/launch.cuh",
        "Dynamic shared memory": "block/shared.cuh"}),
    ("access", "Access patterns", "access.cuh", "access", {"Patterns": "core/access.cuh"}),
    ("tuning", "Tuning", "tuning.cuh", "tuning", {
        "Experiments": "tuning.cuh", "Options and reports": "host/tuning/candidates.cuh host/tuning/measure.cuh host/tuning/store.cuh"}),
    ("distributed", "Several GPUs", "distributed.cuh", "distributed", {
        "Teams": "distributed_team.cuh", "Reductions": "distributed_reduce.cuh",
        "Extremes, mean and variance": "distributed_statistics.cuh",
        "Columns": "distributed_columns.cuh", "Matrices": "distributed_transpose.cuh", "Slabs, errors": "distributed_types.cuh",
        "Symmetric memory": "distributed_symmetric.cuh"}),
    ("common", "Errors, workspaces, devices", "gpuopt.cuh", "getting_started", {
        "Errors": "host/error.cuh", "Streams": "host/stream.cuh", "Workspaces": "host/workspace.cuh",
        "Values for the host": "host/result.cuh", "Memory": "host/memory.cuh",
        "Devices": "host/device.cuh", "Functions": "core/identity.cuh", "Version": "version.cuh"}),
    ("emulation", "The emulated device", "../cuda_runtime.h", "emulation", {
        "Order of the lanes": "../gpuopt_emulation/settings.hpp",
        "Several devices": "../gpuopt_emulation/current_device.hpp", "Reports": "../gpuopt_emulation/report.hpp",
        "Profiles": "../gpuopt_emulation/profile.hpp", "Races": "../gpuopt_emulation/check.hpp",
        "Lines": "../gpuopt_emulation/source_line.hpp"}),
)


def pathOf(header):
    return header.removeprefix("../") if header.startswith("../") else f"gpuopt/{header}"


def escaped(text):
    """Text without meaning for Markdown, but with links to the guides it names."""
    text = re.sub(r"([\\`*_\[\]<>{}$|#~])", r"\\\1", text)
    return re.sub(r"docs/((?:\w|\\_)+)\.md", lambda guide: f"[{guide[0]}](../{guide[0].replace(chr(92), '')})", text)


class Markdown:
    """Comments in Doxygen's XML as Markdown."""

    def __init__(self, anchors):
        self.anchors = anchors

    def children(self, element):
        return escaped(element.text or "") + "".join(
            self.inline(child) + escaped(child.tail or "") for child in element)

    def inline(self, element):
        tag = element.tag
        if tag == "computeroutput":
            return self.linked(element, f"`{''.join(element.itertext())}`")
        if tag == "ref":
            return self.linked(element, self.children(element))
        if tag in ("bold", "emphasis"):
            mark = "**" if tag == "bold" else "*"
            return f"{mark}{self.children(element)}{mark}"
        if tag == "ulink":
            return f"[{self.children(element)}]({element.get('url')})"
        if tag == "linebreak":
            return "\n"
        symbols = {"ndash": "--", "mdash": "---", "nonbreakablespace": " ", "sp": " "}
        if tag in symbols:
            return symbols[tag]
        return f"\n\n{self.block(element)}\n\n"

    def linked(self, element, text):
        """The text, as a link if the element is or holds the name of an entry."""
        ref = element if element.tag == "ref" else element.find("ref")
        anchor = self.anchors.get(ref.get("refid")) if ref is not None else None
        return f"[{text}](#{anchor})" if anchor else text

    def block(self, element):
        tag = element.tag
        if tag == "para":
            return self.paragraph(element)
        if tag == "verbatim":
            return f"```cuda\n{element.text.strip(chr(10)).rstrip()}\n```"
        if tag == "itemizedlist":
            return "\n".join(indented(self.blocks(item), "- ") for item in element)
        if tag == "parameterlist":
            return "\n".join(self.parameter(item) for item in element)
        if tag == "simplesect" and element.get("kind") == "return":
            return indented("*Returns* " + self.blocks(element), "- ")
        if tag == "orderedlist":
            raise ValueError(f"a line of a comment begins like a numbered list: {''.join(element.itertext())[:80]}")
        raise ValueError(f"Doxygen's <{tag}> has no translation in docs/site/reference.py")

    def parameter(self, item):
        names = ", ".join(f"`{''.join(name.itertext())}`" for name in item.iter("parametername"))
        return indented(f"{names}: {self.blocks(item.find('parameterdescription'))}", "- ")

    def paragraph(self, element):
        parts = [part.strip() for part in re.split(r"\n{2,}(?=\S|$)", self.fenced(self.children(element)))]
        return "\n\n".join(part.replace("\0", "\n") for part in parts if part)

    @staticmethod
    def fenced(text):
        """Code blocks with their line ends hidden, for their blank lines separate no paragraphs."""
        return re.sub(r"```cuda\n.*?\n```", lambda code: code[0].replace("\n", "\0"), text, flags=re.DOTALL)

    def blocks(self, element):
        return "\n\n".join(filter(None, (self.block(child) for child in element)))

    def doc(self, doc):
        return "\n\n".join(filter(None, (self.blocks(part) for part in doc.parts)))


def indented(text, mark):
    return mark + text.replace("\n", "\n" + " " * len(mark)).replace("\n" + " " * len(mark) + "\n", "\n\n")


def code(text):
    return f"```cuda\n{text}\n```"


def isPolicy(entry):
    return entry.isType and bool(re.search(r"Policy|: ByLength", entry.signature))


class Reference:
    """The pages, and what each name's anchor is."""

    def __init__(self, api):
        self.api = api
        byHeader = groupby(api.entries, lambda entry: entry.header)
        self.byHeader = {header: list(entries) for header, entries in byHeader}
        self.anchors = {}
        holders = {}  # of each anchor: a page
        pages = {pathOf(header): page for page, *_, parts in PAGES for headers in parts.values() for header in headers.split()}
        for entry in api.all():
            shown = entry.owner if entry.owner and not entry.isType else entry
            kind = "type" if shown.isType else "name"  # TransposeTile is a type, transposeTile a function
            anchor = f"{kind}-{re.sub(r'[^a-z0-9]+', '-', shown.name.lower()).strip('-')}"
            page = pages.get(shown.header)
            isTaken = holders.setdefault(anchor, page) != page  # forEach of elements, and that of columns
            self.anchors[entry.id] = f"{anchor}-{page}" if isTaken else anchor
        self.markdown = Markdown(self.anchors)
        self.requireComplete()

    def requireComplete(self):
        placed = {pathOf(header) for *_, parts in PAGES for headers in parts.values() for header in headers.split()}
        missing = {header for header in self.byHeader if header not in placed}
        if missing:
            raise ValueError(f"on no page of docs/site/reference.py: {', '.join(sorted(missing))}")

    def write(self, folder):
        folder.mkdir(parents=True)
        index = ["# Reference", "Every public name, from the comments of the headers. Those of the emulated device are "
                 "in the namespace `gpuopt::emulation`, all others in `gpuopt`."]
        for name, title, header, guide, parts in PAGES:
            (folder / f"{name}.md").write_text(self.page(title, header, guide, parts) + "\n")
            index.append(f"## [{title}]({name}.md)\n\n{self.names(parts)}")
        toctree = "\n".join(page[0] for page in PAGES)
        index.append(f"```{{toctree}}\n:hidden:\n\n{toctree}\n```")
        (folder / "index.md").write_text("\n\n".join(index) + "\n")

    def entriesOf(self, parts):
        return [entry for headers in parts.values() for header in headers.split()
                for entry in self.byHeader.get(pathOf(header), [])]

    def names(self, parts):
        names = dict.fromkeys((entry.name, self.anchors[entry.id]) for entry in self.entriesOf(parts))
        return ",\n".join(f"[`{name}`](#{anchor})" for name, anchor in names)

    def publicNames(self):
        """The anchor of each name."""
        return {entry.name: self.anchors[entry.id] for entry in self.api.entries if entry.name.isidentifier()}

    def page(self, title, header, guide, parts):
        self.seen = set()
        text = [f"# {title}", f"`#include <{pathOf(header)}>` · [Guide](../docs/{guide}.md)"]
        intro = None if header == "gpuopt.cuh" else self.api.fileDocs.get(pathOf(header))
        if intro:
            text.append(self.markdown.doc(intro))
        policies = [entry for entry in self.entriesOf(parts) if isPolicy(entry)]
        for part, headers in parts.items():
            entries = [entry for header in headers.split() for entry in self.byHeader.get(pathOf(header), [])
                       if not isPolicy(entry)]
            text += self.part(part, sorted(entries, key=lambda entry: entry.section is None))
        if policies:
            text += self.part("Policies", policies)
        return "\n\n".join(text)

    def part(self, title, entries):
        text = []
        opened = None
        for section, among in groupby(entries, lambda entry: entry.section):
            heading = section.title if section else title
            if heading != opened:
                text.append(f"## {heading}")
            opened = heading
            if section and section.doc:
                text.append(self.markdown.doc(section.doc))
            for overloads in self.overloads(list(among)):
                text += self.entry(overloads)
        return text

    @staticmethod
    def overloads(entries):
        """Lists of entries of one name, in the order of the first ones."""
        byName = {}
        for entry in entries:
            byName.setdefault(entry.name, []).append(entry)
        return byName.values()

    def entry(self, overloads, level=3):
        """Heading, declarations and comments of a name; behind each comment's declaration those without one."""
        anchor = self.anchors[overloads[0].id]
        text = [] if anchor in self.seen else [f"({anchor})="]
        self.seen.add(anchor)
        text = ["\n".join([*text, f"{'#' * level} {escaped(overloads[0].name)}"])]
        declarations, doc = [], None
        for entry in overloads:
            if entry.doc and declarations:
                text += self.described(declarations, doc)
                declarations = []
            doc = entry.doc or doc if declarations else entry.doc
            declarations.append(entry.declaration)
        text += self.described(declarations, doc)
        return text + self.members(overloads[0], level)

    def described(self, declarations, doc):
        text = self.markdown.doc(doc) if doc else ""
        return [code(";\n\n".join(declarations) + ";"), *([text] if text else [])]

    def members(self, entry, level):
        plain = [member for member in entry.members if not member.isType]
        text = [self.member(member) for member in plain if member.doc]
        for member in entry.members:
            if member.isType:
                text += self.entry([member], level + 1)
        return text

    def member(self, member):
        template = ", ".join(f"{kind} {name}" for kind, name, _ in member.template)
        before = f"template <{template}> " if template else ""
        return f"`{before}{member.signature}`\n{indented(self.markdown.doc(member.doc), ': ')}"
