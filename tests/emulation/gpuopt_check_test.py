"""What gpuopt-check says of kernels that are right, wrong and slow.

Usage: gpuopt_check_test.py [<compiler> [<folder of libboost_context>]]
SPDX-License-Identifier: MIT
"""

import importlib.machinery
import importlib.util
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "tests" / "emulation" / "judged.cu"
loader = importlib.machinery.SourceFileLoader("gpuopt_check", str(ROOT / "emulation" / "gpuopt-check"))
gpuopt_check = importlib.util.module_from_spec(importlib.util.spec_from_loader("gpuopt_check", loader))
sys.dont_write_bytecode = True
loader.exec_module(gpuopt_check)
COMPILER = sys.argv[1:2]
OPTIONS = [word for compiler in COMPILER for word in ("-ccbin", compiler)] + ["-L" + folder for folder in sys.argv[2:3]]


def line_of(mark):
    return next(i for i, line in enumerate(SOURCE.read_text().splitlines(), 1) if line.endswith("// " + mark))


class Verdicts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        command = gpuopt_check.gpuopt_emulate.Command([*OPTIONS, str(SOURCE)])
        cls.programs = {name: gpuopt_check.build(command, name, Path(cls.folder.name)) for name in ("check", "profile")}

    def judge(self, case, *options):
        """The status, the verdict and the SARIF file of a case, and what is printed."""
        files = [Path(self.folder.name) / name for name in ("verdict.json", "verdict.sarif")]
        printed = io.StringIO()
        words = [*OPTIONS, str(SOURCE), "--json", str(files[0]), f"--sarif={files[1]}", *options, "--", case]
        with mock.patch.object(gpuopt_check, "build", lambda command, purpose, folder: self.programs[purpose]):
            with redirect_stdout(printed), redirect_stderr(io.StringIO()):
                status = gpuopt_check.check(words)
        verdict, sarif = (json.loads(file.read_text()) for file in files)
        self.check_shape(sarif)
        return status, verdict, sarif["runs"][0]["results"], printed.getvalue()

    def check_shape(self, sarif):
        self.assertEqual(sarif["version"], "2.1.0")
        driver = sarif["runs"][0]["tool"]["driver"]
        rules = {rule["id"] for rule in driver["rules"]}
        for result in sarif["runs"][0]["results"]:
            self.assertIn(result["ruleId"], rules)
            self.assertIn(result["level"], ("error", "warning"))
            self.assertTrue(result["message"]["text"])
            for location in result["locations"] + result["relatedLocations"]:
                place = location["physicalLocation"]
                self.assertTrue(place["artifactLocation"]["uri"])
                self.assertGreater(place["region"]["startLine"], 0)
            self.assertEqual(len(result["locations"]), 1)

    def check_case(self, case, rule, level, status):
        got, verdict, results, printed = self.judge(case)
        self.assertEqual(got, status, printed)
        self.assertEqual([one["rule"] for one in verdict["findings"]], [rule])
        self.assertEqual(verdict["counts"][rule], 1)
        place = verdict["findings"][0]["lines"][0]
        self.assertEqual((Path(place["file"]).resolve(), place["line"]), (SOURCE, line_of(case_mark(case))))
        place = results[0]["locations"][0]["physicalLocation"]
        self.assertTrue(place["artifactLocation"]["uri"].endswith("tests/emulation/judged.cu"))
        self.assertEqual((results[0]["level"], place["region"]["startLine"]), (level, line_of(case_mark(case))))
        self.assertIn(f"judged.cu:{line_of(case_mark(case))}: {level} [{rule}]: ", printed)
        return verdict

    def test_clean(self):
        status, verdict, results, printed = self.judge("clean", "--strict")
        self.assertEqual((status, verdict["status"], verdict["findings"], results), (0, 0, [], []))
        self.assertEqual([(kernel["sectors"], kernel["idealSectors"], kernel["bankConflicts"], kernel["activeLanes"])
                          for kernel in verdict["kernels"]], [(64, 64, 0, 1)])
        self.assertIn("exited with the status 0; nothing is wrong", printed)

    def test_a_missing_barrier(self):
        verdict = self.check_case("race", "race", "error", 1)
        self.assertEqual(verdict["findings"][0]["lines"][1]["line"], line_of("race") - 2)
        self.assertEqual(verdict["status"], 0)  # the program's own: it does not notice

    def test_launches_of_two_streams(self):
        verdict = self.check_case("streams", "race", "error", 1)
        text = verdict["findings"][0]["text"]
        self.assertRegex(text, rf"launched in stream \d+ at \S*judged.cu:{line_of('first launch')}\n")
        self.assertRegex(text, rf"launched in stream \d+ at \S*judged.cu:{line_of('first launch') + 1}\n")

    def test_a_shuffle_orders_memory_unless_the_check_is_strict(self):
        for setting, status in (("races", 0), ("races,strict", 66), ("races,equal", 0)):
            ended = subprocess.run([str(self.programs["check"]), "shuffle"], capture_output=True, text=True,
                                   env={**os.environ, "GPUOPT_EMULATION_CHECK": setting})
            self.assertEqual(ended.returncode, status, ended.stderr)
        self.assertEqual(self.judge("shuffle")[0], 0)

    def test_an_access_out_of_bounds(self):
        self.check_case("outOfBounds", "outOfBounds", "error", 1)

    def test_memory_that_nothing_has_written(self):
        self.check_case("uninitialised", "uninitialised", "error", 1)

    def test_a_failed_assertion(self):
        verdict = self.check_case("error", "error", "error", 1)
        self.assertIn("assertion", verdict["findings"][0]["text"])

    def test_threads_that_left_before_a_barrier(self):
        verdict = self.check_case("diverged", "warning", "warning", 0)
        self.assertEqual(verdict["findings"][0]["kernel"], "diverge()")
        self.assertTrue(verdict["findings"][0]["text"].startswith("kernel diverge()"))

    def test_uncoalesced_access(self):
        verdict = self.check_case("stride", "sectors", "warning", 0)
        self.assertEqual([(kernel["sectors"], kernel["idealSectors"]) for kernel in verdict["kernels"]], [(256 + 32, 64)])
        self.assertEqual(self.judge("stride", "--strict")[0], 1)

    def test_a_program_that_fails_by_itself(self):
        for case, ending in (("status", "exited with the status 3"), ("crash", "was ended by SIGABRT")):
            status, verdict, results, _ = self.judge(case)
            self.assertEqual((status, verdict["counts"]["error"]), (1, 1))
            self.assertIn(ending, verdict["findings"][0]["text"])
            self.assertEqual(results[0]["locations"][0]["physicalLocation"]["region"], {"startLine": 1})

    def test_a_program_that_does_not_end(self):
        status, verdict, _, printed = self.judge("endless", "--timeout", "0.5")
        self.assertEqual((status, verdict["status"], verdict["counts"]["error"]), (1, None, 1))
        self.assertIn("did not end in time", printed)

    def test_instances_of_a_template_are_one_line(self):
        def kernel(name, executions, active):
            return {"name": name, "sectors": 4, "idealSectors": 2, "bankConflicts": 1, "executions": executions,
                    "activeLanes": active}
        kernels = [kernel("void space::sum<float, (Kind)1, Pair<int, int> >(float*, Pair<int, int>)", 3, 1.0),
                   kernel("copy(int*)", 1, 1.0), kernel("void (anonymous namespace)::sum<int>(int*)", 1, 0.25),
                   kernel("void space::sum<int>(int*)", 1, 0.0), kernel("Scan<int>::run(int*)", 0, 1.0)]
        self.assertEqual(list(gpuopt_check.text_of_kernels(kernels)), [
            "space::sum<...>: 8 sectors where 4 would do, 2 bank conflicts, 75 % of the lanes active",
            "copy(int*): 4 sectors where 2 would do, 1 bank conflicts, 100 % of the lanes active",
            "{anonymous}::sum<...>: 4 sectors where 2 would do, 1 bank conflicts, 25 % of the lanes active",
            "Scan<...>::run: 4 sectors where 2 would do, 1 bank conflicts, 100 % of the lanes active"])

    def test_the_kernel_of_a_slow_line_is_named(self):
        self.assertIn(" In stride(int const*, int*).", self.judge("stride")[3])

    def test_the_same_answer_each_time(self):
        for case in ("race", "outOfBounds"):
            self.assertEqual(self.judge(case), self.judge(case))


def case_mark(case):
    return {"race": "race", "outOfBounds": "out of bounds", "uninitialised": "uninitialised", "error": "error",
            "diverged": "warning", "stride": "sectors", "streams": "streams"}[case]


class Refusals(unittest.TestCase):
    def refused(self, words, reason, backtrace=True):
        with mock.patch.object(gpuopt_check.gpuopt_emulate, "has_backtrace", lambda compiler: backtrace):
            with self.assertRaisesRegex((gpuopt_check.NotJudged, gpuopt_check.gpuopt_emulate.Refused), reason):
                gpuopt_check.check([*OPTIONS, *words])

    def test_what_is_missing_is_named(self):
        self.refused([], "no input files")
        self.refused(["nowhere.cu"], "nowhere.cu: no such file")
        self.refused(["program.cu", "--json"], "--json needs a value")
        self.refused(["program.cu", "--timeout", "soon"], "--timeout soon: not a number")
        self.refused(["program.cu"], "without libbacktrace", backtrace=False)
        with tempfile.TemporaryDirectory() as folder:
            other = Path(folder) / "other"
            other.write_text("#!/bin/sh\necho '#define __GNUC__ 4'\necho '#define __clang__ 1'\n")
            other.chmod(0o755)
            self.refused(["-ccbin", str(other), "program.cu"], "is not g\\+\\+ 12 or later")


class Objects(unittest.TestCase):
    def built(self, object, folder):
        """What is compiled and linked, in this order, where the environment names an object."""
        outputs = []
        with mock.patch.dict(os.environ, {"GPUOPT_CHECK_OBJECT": str(object)}):
            with mock.patch.object(gpuopt_check, "must_build", lambda command: outputs.append(Path(command.output))):
                gpuopt_check.build(gpuopt_check.gpuopt_emulate.Command([str(SOURCE)]), "check", folder)
        return outputs

    def test_only_an_object_that_is_there_is_used(self):
        with tempfile.TemporaryDirectory() as name:
            folder, object = Path(name), Path(name) / "of_the_build.o"
            own = [folder / "check.o", folder / "check0.o", folder / "checked"]
            self.assertEqual(self.built(object, folder), own)
            object.touch()
            self.assertEqual(self.built(object, folder), own[1:])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
