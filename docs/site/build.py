"""Builds the site in build/docs: stages the guides as they are, the reference from the headers, and a page for each
source that a guide links to, then runs Sphinx on them. A link that leads nowhere is an error.

Usage: build.py <output>
SPDX-License-Identifier: MIT
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from api import runDoxygen
from reference import Reference

ROOT = Path(__file__).resolve().parents[2]
NAMES = ".names.json"  # links.py reads it
LINK = re.compile(r"(!?\[[^\]]*\]\()([^)#\s]+)((?:#[^)]*)?\))")
CODE = re.compile(r"^(?:```.*?^```|    .*?$)|`[^`\n]*`", re.MULTILINE | re.DOTALL)
ORPHAN = "---\norphan: true\n---\n"
LANGUAGES = {".cu": "cuda", ".cuh": "cuda", ".cpp": "cpp", ".hpp": "cpp", ".py": "python", ".sh": "bash"}
HOME = Path("README.md")
# A picture in two versions, and what shows the one that suits the theme.
PICTURE = re.compile(r'<picture>\s*<source[^>]*srcset="(.*?)">\s*<img src="(.*?)" alt="(.*?)">\s*</picture>')
GROUP = re.compile(r"^\*\*([\w ]+)\*\*(.*?)(?=^\*\*|\Z)", re.MULTILINE | re.DOTALL)
# {title: pages} of the README's list.
GROUPS = {title: re.findall(r"\]\(([^)]*\.md)\)", pages)
          for title, pages in GROUP.findall((ROOT / HOME).read_text().partition("\n## Read on\n")[2])}
LISTED = [page for pages in GROUPS.values() for page in pages]
EXAMPLES = Path("examples/README.md")
LESSONS = re.findall(r"^\| \[\w+\]\((\w+)\)", (ROOT / EXAMPLES).read_text(), re.MULTILINE)


class Stage:
    """Copies pages, and whatever they link to, into a folder of the same shape. Guides and examples are in the table
    of contents, for Sphinx to check; of other pages, those that the README lists."""

    def __init__(self, folder):
        self.folder = folder
        self.done = set()

    def target(self, path):
        """The page that shows a file or folder of the repository."""
        if path == HOME:
            return Path("index.md")
        if (ROOT / path).is_dir():
            return path / ("README.md" if (ROOT / path / "README.md").exists() else "index.md")
        return path if path.suffix in (".md", ".svg", ".png") else Path(f"{path}.md")

    def add(self, path, extra=""):
        path = self.target(path) if (ROOT / self.target(path)).is_file() and path != HOME else path
        if path in self.done:
            return
        self.done.add(path)
        source, page = ROOT / path, self.folder / self.target(path)
        page.parent.mkdir(parents=True, exist_ok=True)
        if not source.exists():
            raise FileNotFoundError(f"{path}: linked to, and not there")
        if source.is_dir():
            page.write_text(self.listing(path))
        elif path.suffix == ".md":
            isListed = path.parts[0] == "docs" or path in (HOME, EXAMPLES) or str(path) in LISTED
            page.write_text(("" if isListed else ORPHAN) + self.relinked(path) + extra + parts(path))
        elif page.suffix == ".md":
            page.write_text(f"{ORPHAN}# {path.name}\n\n{self.code(source)}")
        else:
            shutil.copy(source, page)

    @staticmethod
    def code(source):
        return f"````{LANGUAGES.get(source.suffix, 'text')}\n{source.read_text()}````\n"

    def listing(self, path):
        """A page with a folder's only source, or with links to all of its sources."""
        isLesson = path.parent == EXAMPLES.parent and path.name in LESSONS
        sources = [file for file in (ROOT / path).rglob("*") if file.suffix in LANGUAGES]
        lines = [f"{'' if isLesson else ORPHAN}# {path.name}"]
        if len(sources) == 1:
            return f"{lines[0]}\n\n`{sources[0].relative_to(ROOT)}`\n\n{self.code(sources[0])}"
        for folder in sorted({file.parent for file in sources}):
            lines.append(f"## {folder.relative_to(ROOT / path)}" if folder != ROOT / path else "")
            for file in sorted(file for file in sources if file.parent == folder):
                self.add(file.relative_to(ROOT))
                lines.append(f"- [{file.name}]({file.relative_to(ROOT / path)}.md)")
        return "\n".join(lines) + "\n"

    def relinked(self, path):
        """A page's text, with links to the pages that show what it links to."""
        text = (ROOT / path).read_text()
        pieces, end = [], 0
        for hidden in CODE.finditer(text):
            pieces += [LINK.sub(lambda link: self.link(path, link), text[end:hidden.start()]), hidden[0]]
            end = hidden.end()
        pieces.append(LINK.sub(lambda link: self.link(path, link), text[end:]))
        return PICTURE.sub(lambda picture: self.picture(path, *picture.groups()), "".join(pieces))

    def picture(self, page, dark, light, words):
        parts = []
        for theme, name in (("light", light), ("dark", dark)):
            self.add(Path(os.path.normpath(page.parent / name)))
            parts.append(f"```{{image}} {name}\n:class: only-{theme}\n:alt: {words}\n```")
        return "\n\n".join(parts)

    def link(self, page, link):
        if "://" in link[2]:
            return link[0]
        path = Path(os.path.normpath(page.parent / link[2]))
        self.add(path)
        return f"{link[1]}{os.path.relpath(self.target(path), page.parent)}{link[3]}"


def toctree(pages, caption=""):
    options = f":hidden:\n:caption: {caption}\n" if caption else ":hidden:\n"
    return f"\n```{{toctree}}\n{options}\n" + "\n".join(pages) + "\n```\n"


def parts(page):
    """The contents of a guide that has a folder of pages, or nothing."""
    pages = sorted((ROOT / page).with_suffix("").glob("*.md")) if page.parent == Path("docs") else []
    return toctree([f"{page.stem}/{part.stem}" for part in pages]) if pages else ""


def contents():
    """The table of contents: the README's groups, and the reference after the first one."""
    first, *others = (toctree(pages, title) for title, pages in GROUPS.items())
    return first + toctree(["reference/index"], "Reference") + "".join(others)


def main(output):
    shutil.rmtree(output, ignore_errors=True)
    source = output / ".source"
    stage = Stage(source)
    stage.add(EXAMPLES, toctree([f"{lesson}/index" for lesson in LESSONS]))
    stage.add(HOME, contents())
    for guide in sorted((ROOT / "docs").glob("*.md")):
        stage.add(guide.relative_to(ROOT))
    reference = Reference(runDoxygen(ROOT, source / ".doxygen"))
    reference.write(source / "reference")
    (source / NAMES).write_text(json.dumps(reference.publicNames()))
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", "-c", ROOT / "docs/site",
               "-d", output / ".doctrees", source, output]
    return subprocess.run(command).returncode


if __name__ == "__main__":
    try:
        sys.exit(main(Path(sys.argv[1]).resolve()))
    except (OSError, RuntimeError, ValueError) as error:
        sys.exit(f"docs: {error}")
