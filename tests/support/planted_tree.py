"""For tests of the rules that hold for a whole tree: a good one, with faults planted in it.

SPDX-License-Identifier: MIT
"""

import tempfile
from pathlib import Path


def check(rule, tree):
    """What a rule finds in a folder that holds these files: {name: text}."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in tree.items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return list(rule(folder))
