#!/usr/bin/env bash
# Builds the site in build/docs: guides and reference, with Doxygen for the headers and Sphinx, which comes from PyPI
# into build/docs-venv. Warnings and links that lead nowhere are errors. With tags, the site of each in a folder.
# Usage: make-docs.sh [tag]...
# SPDX-License-Identifier: MIT
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/venv.sh build/docs-venv docs/site/requirements.txt || { echo "docs: no environment (needs PyPI)" >&2; exit 1; }
if [ $# -gt 0 ]; then exec build/docs-venv/bin/python -B scripts/make_docs_versions.py --into build/docs "$@"; fi
build/docs-venv/bin/python docs/site/build.py build/docs
echo "docs: build/docs/index.html"
