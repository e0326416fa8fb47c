"""Sphinx reads the guides with this: inline code that is a public name becomes a link to the reference, and so does
`gpuopt::name` in code. Code that says no language gets one.

build.py writes the names and their anchors to the file NAMES.

SPDX-License-Identifier: MIT
"""

import json
import re
from pathlib import Path

from docutils import nodes
from sphinx.util import logging

NAMES = ".names.json"

NAME = re.compile(r"(?:gpuopt::)?(?:emulation::)?(\w+)(?=$|[<({*&]|::)")
PEER = re.compile(r"\b(CUB|Thrust|cuBLAS|cuTENSOR|trove|Eigen|Kokkos|PyTorch)\b")
QUALIFIED = re.compile(r'(<span class="n">gpuopt</span><span class="o">::</span>'
                       r'(?:<span class="n">emulation</span><span class="o">::</span>)?)(<span class="\w+">(\w+)</span>)')
SHELL = re.compile(r"\s*(\w+=\S* )*(\./|build/|scripts/|(nvcc|g\+\+|clang\+\+|make|cmake|ctest|conan|vcpkg|git|pip|python3?|for"
                   r"|docker|cuobjdump|ncu|pre-commit)(?= |$))", re.MULTILINE)
CODE = re.compile(r"[;{}]\s*($|//)|::|#include|template <", re.MULTILINE)
UNTOUCHED = ("reference/", "CHANGELOG", "docs/glossary")  # the first has its links, the second names that are gone


def isPeers(literal):
    """Whether a literal is in a table's column of another library, which may have a function of the same name."""
    cell = next((node for node in ancestors(literal) if isinstance(node, nodes.entry)), None)
    if cell is None:
        return False
    table = next(node for node in ancestors(cell) if isinstance(node, nodes.tgroup))
    heads = list(table.findall(nodes.thead))
    head = heads[0][0][cell.parent.index(cell)].astext() if heads else ""
    return bool(PEER.search(head)) and "gpuopt" not in head


def ancestors(node):
    while node.parent is not None:
        node = node.parent
        yield node


def guessLanguages(app, doctree):
    for block in doctree.findall(nodes.literal_block):
        if block.get("language", "none") in ("none", "default"):
            text = block.astext()
            block["language"] = "bash" if SHELL.match(text) else "cuda" if CODE.search(text) else "none"
            block["force"] = True  # excerpts may hold an ellipsis


def addressOf(app, page, name):
    """The address of a public name in the reference, as a page writes it; or None."""
    label = app.env.get_domain("std").anonlabels.get(app.gpuopt_names.get(name))
    return f"{app.builder.get_relative_uri(page, label[0])}#{label[1]}" if label else None


def linkNames(app, doctree, page):
    if page.startswith(UNTOUCHED):
        return
    for literal in list(doctree.findall(nodes.literal)):
        name = NAME.match(literal.astext())
        address = addressOf(app, page, name[1]) if name else None
        isPlain = not any(isinstance(node, (nodes.reference, nodes.title)) for node in ancestors(literal))
        if address and isPlain and not isPeers(literal):
            link = nodes.reference("", "", internal=True, refuri=address, classes=["name"])
            literal.replace_self(link)
            link += literal


def linkCode(app, page, template, context, doctree):
    """Links the qualified names in code blocks."""
    def linked(found):
        address = addressOf(app, page, found[3])
        return f'{found[1]}<a class="name" href="{address}">{found[2]}</a>' if address else found[0]

    if "body" in context:
        context["body"] = QUALIFIED.sub(linked, context["body"])


def requireAnchors(app, env):
    for name, anchor in app.gpuopt_names.items():
        if anchor not in env.get_domain("std").anonlabels:
            logging.getLogger(__name__).warning("%s is not in the reference", name)


def setup(app):
    app.gpuopt_names = json.loads((Path(app.srcdir) / NAMES).read_text())
    app.connect("doctree-read", guessLanguages)
    app.connect("env-check-consistency", requireAnchors)
    app.connect("doctree-resolved", linkNames)
    app.connect("html-page-context", linkCode)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
