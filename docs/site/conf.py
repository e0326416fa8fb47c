"""Sphinx reads the staged Markdown of build.py with this. SPDX-License-Identifier: MIT"""

import os
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

header = (HERE.parents[1] / "include/gpuopt/version.cuh").read_text()
project = "gpuopt"
author = "the gpuopt authors"
version = release = ".".join(re.findall(r"#define GPUOPT_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header))
extensions = ["myst_parser", "sphinx_copybutton", "links"]
source_suffix = {".md": "markdown"}
exclude_patterns = [".doxygen"]
highlight_language = "text"

myst_enable_extensions = ["deflist"]
myst_heading_anchors = 4

html_theme = "furo"
html_title = f"gpuopt {version}"
html_static_path = ["static"]
html_css_files = ["site.css"]
if "GPUOPT_DOCS_VERSIONS" in os.environ:  # of scripts/make_docs_versions.py
    html_js_files = ["../../versions.js"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
pygments_style = "tango"
pygments_dark_style = "github-dark"
