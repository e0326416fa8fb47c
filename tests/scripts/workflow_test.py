"""workflow.sh goes on without Ninja, and says what to do in a folder that is read-only. CMake is a stub here.

SPDX-License-Identifier: MIT
"""

import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STUBS = {"cmake": 'echo "cmake $*"', "ninja": "true", "nproc": "echo 3"}


class Workflow(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        (self.folder / "scripts").mkdir()
        shutil.copy(ROOT / "scripts" / "workflow.sh", self.folder / "scripts")
        self.path = self.folder / "path"
        self.path.mkdir()
        for name in ("bash", "dirname", "mkdir"):
            (self.path / name).symlink_to(shutil.which(name))
        for name, body in STUBS.items():
            stub = self.path / name
            stub.write_text(f"#!{shutil.which('bash')}\n{body}\n")
            stub.chmod(0o755)

    def call(self):
        done = subprocess.run([str(self.folder / "scripts" / "workflow.sh"), "demo"], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, env={"PATH": str(self.path)})
        return done.returncode, done.stdout.splitlines()

    def test_with_ninja(self):
        self.assertEqual(self.call(), (0, ["cmake --workflow --preset demo"]))

    def test_without_ninja(self):
        (self.path / "ninja").unlink()
        self.assertEqual(self.call(), (0, ["gpuopt: no Ninja, so make builds",
                                           "cmake --preset examples -G Unix Makefiles -B build/examples-make",
                                           "cmake --build build/examples-make --target demo --parallel 3"]))

    def test_read_only(self):
        (self.folder / "build").write_text("")  # also for root, no folder can be made here
        status, said = self.call()
        self.assertEqual(status, 1)
        self.assertEqual(said, [
            f"gpuopt: {self.folder} is read-only: build in another folder, such as the demo by",
            f"  cmake -S '{self.folder}' -B <folder> -DGPUOPT_BUILD_TESTS=OFF -DGPUOPT_BUILD_BENCHMARKS=OFF && "
            "cmake --build <folder> --target demo"])


if __name__ == "__main__":
    unittest.main()
