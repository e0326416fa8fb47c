"""Sphinx reads the staged Markdown of build.py with this. SPDX-License-Identifier: MIT"""

project = "gpuopt"
author = "the gpuopt authors"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
exclude_patterns = [".doxygen"]
highlight_language = "text"

myst_enable_extensions = ["deflist"]
myst_heading_anchors = 4

html_theme = "furo"
html_title = "gpuopt"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
pygments_style = "tango"
pygments_dark_style = "github-dark"
