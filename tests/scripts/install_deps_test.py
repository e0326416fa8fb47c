"""install-deps.sh asks for what the features need and for nothing else, and goes on without what is optional. Every
command that it calls is a stub here, so what this machine has is of no account.

SPDX-License-Identifier: MIT
"""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BASICS = ["bash", "dirname", "env", "flock", "grep", "head", "mktemp", "sed", "sleep", "sort", "tail"]
STUBS = {
    "cmake": "echo cmake version 3.25.1",
    "ninja": "true",
    "id": "echo 0",
    # The header that the environment calls absent is not found.
    "c++": '[[ -z $BROKEN ]] || exit 1; source=$(while read -r line; do echo "$line"; done); [[ -z $ABSENT || $source != *"$ABSENT"* ]]',
    "python3": "true",
    "doxygen": "true",
    "ccache": 'shift; c++ "$@"',
    "apt-get": 'echo "apt-get $*" >>"$CALLS"; sleep 0.2; echo end >>"$CALLS"; [[ -n $APT || $1 == update ]]',
}


class InstallDeps(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        for name in BASICS:
            (self.folder / name).symlink_to(shutil.which(name))
        for name, body in STUBS.items():
            stub = self.folder / name
            stub.write_text(f"#!{shutil.which('bash')}\n{body}\n")
            stub.chmod(0o755)

    def start(self, *features, absent="", apt=False, **environment):
        return subprocess.Popen(
            [str(ROOT / "scripts" / "install-deps.sh"), *features], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, env={"PATH": str(self.folder), "CALLS": str(self.folder / "calls"), "ABSENT": absent,
                            "APT": "1" if apt else "", "CUDA_HOME": "/none", **environment})

    def call(self, *features, without=(), **options):
        """The exit status, what was said, and the packages that apt-get was asked for."""
        for name in without:
            (self.folder / name).unlink()
        calls = self.folder / "calls"
        calls.unlink(missing_ok=True)
        done = self.start(*features, **options)
        said = done.communicate()[0]
        asked = [line for line in calls.read_text().splitlines() if " install " in line] if calls.exists() else []
        return done.returncode, said, [line.split()[-1] for line in asked]

    def test_quiet_when_nothing_is_missing(self):
        self.assertEqual(self.call("tests", "examples", "benchmarks", "doxygen"), (0, "", []))

    def test_what_a_feature_does_not_need(self):
        for header in ("catch2", "fmt/", "nlohmann/"):
            self.assertEqual(self.call("examples", absent=header), (0, "", []), header)
        self.assertEqual(self.call("examples", without=["doxygen", "apt-get"]), (0, "", []))

    def test_what_a_feature_needs(self):
        for feature, header, package in (("examples", "CLI/", "libcli11-dev"), ("tests", "catch2", "catch2"),
                                         ("benchmarks", "fmt/", "libfmt-dev"), ("examples", "boost/", "libboost-context-dev")):
            if header != "boost/" or not Path("/dev/nvidia0").exists():
                self.assertEqual(self.call(feature, absent=header, apt=True)[::2], (0, [package]))

    def test_python_where_launches_are_rewritten(self):
        if not Path("/dev/nvidia0").exists():
            status, said, asked = self.call("tests", "examples", without=["python3"], apt=True)
            self.assertEqual((status, said, asked), (0, "gpuopt: installing python3 with apt-get\n", ["python3"]))

    def test_optional_and_not_to_be_had(self):
        status, said, asked = self.call("tests", "doxygen?", without=["doxygen"])
        self.assertEqual((status, asked), (0, ["doxygen"]))
        self.assertIn("going on without doxygen; what needs it is not checked", said)

    def test_optional_without_apt(self):
        status, said, _ = self.call("tests", "doxygen?", without=["doxygen", "apt-get"])
        self.assertEqual(status, 0)
        self.assertIn("going on without doxygen", said)

    def test_required_and_not_to_be_had(self):
        status, said, _ = self.call("doxygen", without=["doxygen"])
        self.assertEqual(status, 1)
        self.assertIn("apt-get could not install doxygen", said)

    def test_required_without_apt(self):
        status, said, _ = self.call("tests", absent="catch2", without=["apt-get"])
        self.assertEqual(status, 1)
        self.assertIn("missing, by their names on Debian: catch2.", said)

    def test_compilers_of_two_words(self):
        for compiler in ("c++ -O2", "ccache c++"):
            self.assertEqual(self.call("tests", "examples", CXX=compiler), (0, "", []), compiler)

    def test_compiler_that_compiles_nothing(self):
        status, said, asked = self.call("examples", CXX="c++ -O2", BROKEN="1")
        self.assertEqual((status, asked), (1, []))
        self.assertEqual(said, 'gpuopt: the compiler c++ -O2 cannot compile "int main() {}": set CXX to one that can\n')

    def test_without_ninja(self):
        status, said, asked = self.call("examples", "ninja?", without=["ninja"])
        self.assertEqual((status, asked), (0, ["ninja-build"]))
        self.assertIn("gpuopt: going on without ninja-build", said)
        self.assertEqual(self.call("tests")[0], 1)

    def test_two_at_a_time(self):
        both = [self.start("tests", absent="catch2", apt=True) for _ in range(2)]
        for one in both:
            one.communicate()
            self.assertEqual(one.returncode, 0)
        calls = (self.folder / "calls").read_text().splitlines()
        self.assertEqual([line == "end" for line in calls], 4 * [False, True], calls)

    def test_old_cmake(self):
        (self.folder / "cmake").write_text(f"#!{shutil.which('bash')}\necho cmake version 3.22.1\n")
        status, said, asked = self.call("examples", apt=True)
        self.assertEqual((status, asked), (1, ["cmake"]))
        self.assertIn("CMake 3.25 or newer is needed, this system's is cmake version 3.22.1", said)

    def test_every_command_names_features_that_there_are(self):
        for line in (ROOT / "Makefile").read_text().splitlines():
            if "install-deps.sh" in line:
                status, said, _ = self.call(*line.split("install-deps.sh")[1].split(), apt=True)
                self.assertEqual(status, 0, f"{line}: {said}")


if __name__ == "__main__":
    unittest.main()
