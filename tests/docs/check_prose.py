"""Holds the prose to what a reader can bear: lines of Markdown have at most 120 columns (but for rows of tables, links
and pictures, which cannot be broken), and neither the documentation nor a comment of a header uses the phrases below.
docs/glossary.md has the words to use instead; the names in its last column are in the headers. README lists every guide,
so that a reader finds it, and the site has it in its table of contents.

Usage: check_prose.py [--count] <repository>. Prints each violation, or with --count how many each file has.
SPDX-License-Identifier: MIT
"""

import re
import sys
from collections import Counter
from pathlib import Path

COLUMNS = 120
GLOSSARY = "docs/glossary.md"
PAGES = ("*.md", "docs/**/*.md", "examples/**/*.md", "benchmarks/**/*.md", "emulation/**/*.md")

# What to look for, and what to say. A blank matches any white space, line ends included.
PHRASES = [(re.compile(pattern.replace(" ", r"\s+")), advice) for pattern, advice in (
    (r"\b[Ss]o many\b", "name the number"),
    (r"\b[Ll](ie|ies|ying)\b(?! between)", "is, starts, is stored"),
    (r"\b[Mm]eets? in\b", "bank conflict; are combined in"),
    (r"\b[Pp]ut(s|ting)? together\b", "built from, assembled"),
    (r"\b([Ll]eaves?|leaving|left)( [\w`]+){0,4} behind\b", "leaves, writes"),
    (r"\b([Bb]efore (and|or|nor)|just|right) behind\b", "after"),
    (r"\bWhat( [\w'-]+,?){1,12} (is|are) (?=\w)(?![^.:;]*\?)", "name the subject"),
    (r"\b([Bb]egins?|[Ss]tarts?|beginning|starting|aligned|address(es)?) anywhere\b", "unaligned, at any alignment"),
    (r"(?<!in\s)\b([Ii]ts|[Tt]heir|whose|which) places?\b", "index, address"),
    (r"\bplaces? (of|in) (the |an? |its |their )?(element|vector|word|column|row|tile|image|lane|run|shared)", "index"),
    (r"\b[Ww]hole (tile|vector)s?\b", "full"),
    (r"\b([Tt]he|[Aa]|[Ii]ts|whose) lead\b(?!-)", "misalignment"),
    (r"\b([Gg]ranules?|[Gg]rains?)\b", "word, vector, atom"),
    (r"\b[Tt]riples?\b", "3-byte elements"),
    (r"\b[Ee]xclusive or\b", "XOR, swizzle"),
    (r"\b[Jj]oin(s|ed|ing)? (the |what |both |two |its |their )?(block|warp|partial|result|value|sum|half|halve)", "combine"),
    (r"\b[Ii]dentities\b|\b(op's|operation's|known|or the|no|an) identity\b", "neutral element"),
    (r"\bof (yours|one's own)\b", "your own"),
    (r"\b[Ss]peaks? of\b", "refers to"),
    (r"\b[Ss]hall\b", "must, should"),
    (r"\b[Ii]n the place of\b", "instead of, for"),
    (r"\b[Nn]obody (tells|knows)\b", "unknown"),
    (r"\b[Ww]here there are one\b", "if there is one"),
)]


def blank(text):
    """The text with all but its line ends replaced by blanks, so that positions stay."""
    return re.sub(r"[^\n]", " ", text)


def comments(text):
    """The comments of C++ source, without their marks; code is blank, as is what a comment quotes as code."""
    token = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
    parts, end = [], 0
    for found in token.finditer(text):
        isString = found[0].startswith('"')
        mark = re.sub(r"//[/!]?<?|/\*\*?|\*/", lambda mark: " " * len(mark[0]), found[0])
        parts += [blank(text[end:found.start()]), blank(found[0]) if isString else mark]
        end = found.end()
    return re.sub(r"`[^`\n]*`", lambda code: "x" * len(code[0]), "".join(parts))


def prose(text):
    """Markdown without code blocks, headings and the targets of links; what is quoted as code is a word."""
    for pattern in (r"^ *```.*?^ *```", r"(?<=\n\n)(?:    [^\n]*\n+)+", r"^#.*?$", r"(?<=\])\([^)\n]*\)"):
        text = re.sub(pattern, lambda found: blank(found[0]), text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`", lambda code: "x" * len(code[0]), text)


def isUnbreakable(line):
    """A row of a table, a link or picture alone, or one long word."""
    return bool(re.match(r"\s*(\||\[!\[|!?\[[^\]]*\]\([^)]*\)[.,;:]?$)", line)) or " " not in line.strip()


def longLines(text):
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > COLUMNS and not isUnbreakable(line):
            yield number, f"{len(line)} columns"


def matches(text, rules):
    for pattern, advice in rules:
        for found in pattern.finditer(text):
            words = re.sub(r"\s+", " ", found[0])
            yield text.count("\n", 0, found.start()) + 1, f'"{words}": {advice}'


def unknownNames(glossary, headers):
    """Names that a glossary's last column gives, and no header has."""
    for number, line in enumerate(glossary.splitlines(), 1):
        for name in re.findall(r"`(\w+)`", line.split("|")[-2] if line.startswith("|") else ""):
            if not re.search(rf"\b{name}\b", headers):
                yield number, f"{name} is in no header"


def unlistedGuides(root):
    """Pages of docs/ to which README has no link."""
    listed = set(re.findall(r"\]\((docs/\w+\.md)", (root / "README.md").read_text()))
    return sorted({f"docs/{page.name}" for page in root.glob("docs/*.md")} - listed)


def violations(repository):
    """(file, line, message) of each."""
    root = Path(repository)
    for guide in unlistedGuides(root):
        yield guide, 1, "README does not list it"
    headers = {path: path.read_text() for path in sorted((root / "include" / "gpuopt").rglob("*.cuh"))}
    if (root / GLOSSARY).exists():
        for line, message in unknownNames((root / GLOSSARY).read_text(), "".join(headers.values())):
            yield GLOSSARY, line, message
    for path in sorted({path for pattern in PAGES for path in root.glob(pattern)}):
        text, name = path.read_text(), str(path.relative_to(root))
        for line, message in sorted([*longLines(text), *matches(prose(text), PHRASES)]):
            yield name, line, message
    for path, text in headers.items():
        for line, message in matches(comments(text), PHRASES):
            yield str(path.relative_to(root)), line, message


def main(arguments):
    found = list(violations(arguments[-1]))
    if "--count" in arguments:
        for name, count in Counter(name for name, _, _ in found).items():
            print(f"{count:4} {name}")
    else:
        for name, line, message in found:
            print(f"{name}:{line}: {message}")
    print(f"prose: {len(found)} violations")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
