"""Sites of several versions: each is built from its own sources, and all know of all.

SPDX-License-Identifier: MIT
"""

import contextlib
import io
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import make_docs_versions  # noqa: E402

# What a version's own build.py writes here: which sources it is of, and whether it shall load the list.
BUILD = """import os, sys
from pathlib import Path
out = Path(sys.argv[1])
out.mkdir(parents=True)
(out / "index.html").write_text("%s " + os.environ["GPUOPT_DOCS_VERSIONS"])
"""


class DocsVersions(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.repository, self.into = Path(folder.name) / "repository", Path(folder.name) / "docs"
        self.repository.mkdir()
        self.git("init", "--quiet")
        for version in ("0.2.0", "0.10.0", "0.9.1"):
            self.release(version)

    def git(self, *arguments):
        identity = ["-c", "user.name=n", "-c", "user.email=e@e", "-c", "commit.gpgsign=false"]
        return subprocess.run(["git", "-C", self.repository, *identity, *arguments], check=True, capture_output=True,
                              text=True).stdout

    def release(self, version):
        header, build = self.repository / "include/gpuopt/version.cuh", self.repository / "docs/site/build.py"
        for file in (header, build):
            file.parent.mkdir(parents=True, exist_ok=True)
        parts = zip(("MAJOR", "MINOR", "PATCH"), version.split("."))
        header.write_text("".join(f"#define GPUOPT_VERSION_{name} {number}\n" for name, number in parts))
        build.write_text(BUILD % version)
        self.git("add", ".")
        self.git("commit", "--quiet", "-m", version)
        self.git("tag", f"v{version}")

    def build(self, *tags):
        with contextlib.redirect_stdout(io.StringIO()):
            return make_docs_versions.main(["--into", str(self.into), *tags], self.repository)

    def test_sites(self):
        self.assertEqual(self.build("v0.2.0", "v0.10.0", "v0.9.1"), 0)
        for version in ("0.2.0", "0.9.1", "0.10.0"):
            self.assertEqual((self.into / version / "index.html").read_text(), f"{version} 1")
        self.assertIn('["0.10.0", "0.9.1", "0.2.0"]', (self.into / "versions.js").read_text())
        self.assertIn("url=0.10.0/index.html", (self.into / "index.html").read_text())
        self.assertEqual(len(self.git("worktree", "list").splitlines()), 1)

    def test_failure_leaves_no_tree(self):
        (self.repository / "docs/site/build.py").write_text("raise SystemExit(1)")
        self.git("commit", "--quiet", "-am", "broken")
        with self.assertRaises(subprocess.CalledProcessError):
            self.build("v0.2.0", "HEAD")
        self.assertEqual(len(self.git("worktree", "list").splitlines()), 1)
        self.assertFalse((self.into / "versions.js").exists())


if __name__ == "__main__":
    unittest.main()
