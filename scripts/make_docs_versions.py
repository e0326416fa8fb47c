#!/usr/bin/env python3
"""Builds the sites of several versions side by side, each from its own sources: <into>/<version>, versions.js, which
links the pages of each to the others, and index.html, which leads to the newest.

Usage: make_docs_versions.py [--into build/docs] <tag or commit>...
The Python that runs it has what docs/site/requirements.txt lists; `make docs VERSIONS="v0.1.0 v0.2.0"` sees to that.
SPDX-License-Identifier: MIT
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Each site loads this from the folder above its own, so that old ones know of new ones.
SCRIPT = """// The versions beside this one, newest first. Written by scripts/make_docs_versions.py.
addEventListener("DOMContentLoaded", () => {
  const root = document.documentElement.dataset.content_root ?? "./";
  const list = document.createElement("p");
  list.style.margin = "0 var(--sidebar-item-spacing-horizontal)";
  for (const version of %s) {
    const link = document.createElement("a");
    link.href = `${root}../${version}/index.html`;
    link.textContent = version;
    list.append(link, " ");
  }
  document.querySelector(".sidebar-brand")?.after(list);
});
"""
INDEX = '<!doctype html>\n<meta http-equiv="refresh" content="0; url=%s/index.html">\n<title>gpuopt</title>\n'


def versionOf(folder):
    """The version that a tree of sources names."""
    header = (folder / "include/gpuopt/version.cuh").read_text()
    return ".".join(re.findall(r"#define GPUOPT_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header))


def newestFirst(versions):
    return sorted(set(versions), key=lambda version: [int(part) for part in version.split(".")], reverse=True)


def buildTag(tag, into, repository):
    """Builds the site of a tag from a work tree of its own; returns its version."""
    git = ["git", "-C", repository, "worktree"]
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "sources"
        subprocess.run([*git, "add", "--quiet", "--detach", tree, tag], check=True)
        try:
            version = versionOf(tree)
            subprocess.run([sys.executable, "-B", tree / "docs/site/build.py", into / version], check=True,
                           env={**os.environ, "GPUOPT_DOCS_VERSIONS": "1"})
        finally:
            subprocess.run([*git, "remove", "--force", tree], check=True)
    return version


def main(arguments, repository=ROOT):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--into", type=Path, default=ROOT / "build/docs")
    parser.add_argument("tags", nargs="+")
    options = parser.parse_args(arguments)
    into = options.into.resolve()
    into.mkdir(parents=True, exist_ok=True)
    versions = newestFirst(buildTag(tag, into, repository) for tag in options.tags)
    (into / "versions.js").write_text(SCRIPT % json.dumps(versions))
    (into / "index.html").write_text(INDEX % versions[0])
    print(*(into / version / "index.html" for version in versions), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
