#!/usr/bin/env python3
"""Tests, examples and ladders under the emulated device's check for races, as many at a time as there are cores.

scripts/check_races.py [options] [part of a path]...

Each test is a program of its own, and each of its cases a process. Each is listed as clean, found (a race), failed, slow,
unbuilt or unrun, with its seconds, and what it printed if it is not clean. Programs that are there to make mistakes, cases
tagged [mistake], and tests of the emulated device itself are left out. Status 1 if one is not clean.

--leave-out tests the check: each barrier, fence and wait of the library that cases reach orders nothing in turn, and is
listed as found, found in a strict check alone (races,strict, by a case that is clean under it), or missed.
"""
# SPDX-License-Identifier: MIT
import argparse
import glob
import heapq
import itertools
import os
import re
import signal
import subprocess
import sys
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = "build/check-races"
FLAGS = ["-std=c++17", "-Wno-unknown-pragmas", "-Iemulation/include", "-Iinclude", "-Itests", "-Iexamples",
         "-Iexamples/support"]
# Lines of instructions are all that reports need of the debugger's information.
CHECKED = ["@emulation/check/options", "-O1", "-g1"]
LIBRARIES = ["-lboost_context", "-lpthread", "-lbacktrace"]
FOUND_STATUS, SKIPPED_STATUS = 66, 77
STRICT_CASES = 12  # the shortest ones, of those that reach a line
# A marked word is set to zero behind a shuffle that needs what all lanes have read of it.
STRICT = {"GPUOPT_EMULATION_CHECK": "races,strict", "GPUOPT_EMULATION_CHECK_IGNORE": "gpuopt::detail::loadMarkedWord"}


class Queue:
    """Tasks, the most urgent first, by several threads until all are done or time is up."""

    def __init__(self, seconds):
        self.end = time.monotonic() + seconds
        self.tasks, self.running, self.numbers = [], 0, itertools.count()
        self.changed = threading.Condition()

    def add(self, urgency, task):
        with self.changed:
            heapq.heappush(self.tasks, (urgency, next(self.numbers), task))
            self.changed.notify()

    def left(self):
        return self.end - time.monotonic()

    def work(self):
        while True:
            with self.changed:
                while not self.tasks and self.running and self.left() > 0:
                    self.changed.wait(1)
                if not self.tasks or self.left() <= 0:
                    self.changed.notify_all()
                    return
                task = heapq.heappop(self.tasks)[2]
                self.running += 1
            try:
                task()
            finally:
                with self.changed:
                    self.running -= 1
                    self.changed.notify_all()

    def run(self, jobs):
        threads = [threading.Thread(target=self.work) for _ in range(jobs)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def execute(command, seconds, environment=None):
    """The status, None if it took too long, and the output."""
    with subprocess.Popen(command, env={**os.environ, **(environment or {})}, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          start_new_session=True) as process:
        try:
            output = process.communicate(timeout=max(seconds, 0.1))[0]
            return process.returncode, output
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return None, process.communicate()[0]


class Program:
    def __init__(self, path):
        self.path = path
        self.name = re.sub("[/.]", "_", path)
        self.isTest = path.startswith("tests/")
        folder = os.path.dirname(path)
        self.sources = [path]
        if path.startswith("examples/ladders/"):
            self.sources += glob.glob("examples/ladders/*.cpp")
        elif not self.isTest:
            self.sources = glob.glob(folder + "/*.cu") + glob.glob(folder + "/*.cpp")
        # What an example needs besides; the others run without arguments.
        self.arguments = {"picture_equalise": ["examples/data/lake.pgm", f"{BUILD}/equalised.pgm"],
                          "picture_rotate": ["examples/data/lake.pgm", f"{BUILD}/rotated.pgm"]}.get(
                              os.path.basename(folder), [])
        self.environment = {"GPUOPT_EMULATION_DEVICES": "3" if "distributed" in path else "1"}

    def command(self, case):
        # Names are patterns: commas and brackets have meanings there.
        pattern = [re.sub(r"([\\,\[\]\"])", r"\\\1", case)] if case else []
        return [f"{BUILD}/{self.name}", *self.arguments, *pattern]

    def weight(self):
        """The more, the longer it takes to compile and run, roughly."""
        lines = sum(1 for _ in open(self.path, encoding="utf-8"))
        return lines * (3 if "/device/" in self.path else 2 if "/ladders/" in self.path else 1)


class Case:
    def __init__(self, program, name):
        self.program, self.name = program, name
        self.verdict, self.seconds, self.output, self.lines = "unrun", 0.0, "", []
        self.isStrictlyClean = None

    def run(self, queue, limit, environment):
        start = time.monotonic()
        status, output = execute(self.program.command(self.name), min(limit, queue.left()),
                                 {**self.program.environment, **environment})
        return status, output, time.monotonic() - start


def verdictOf(status, output):
    if re.search("GPUOPT_EMULATION_CHECK: [0-9]+ mistakes", output):
        return "found"
    if status is None:
        return "slow"
    return "clean" if status in (0, SKIPPED_STATUS) else "failed"


class Mutant:
    """A line that orders nothing: the cases that reach it try it, the shortest first."""

    def __init__(self, line):
        self.line, self.verdict, self.tried, self.by = line, "missed", 0, ""
        self.isTried, self.waiting, self.strict = False, [], []


class Check:
    def __init__(self, options):
        self.options = options
        self.queue = Queue(options.total)
        self.lock = threading.Lock()
        self.cases, self.mutants, self.support = [], {}, []
        self.libraries = []

    def compile(self, source, output):
        """The output of the compiler if it fails."""
        compiler = [os.environ.get("CXX", "g++")] + FLAGS
        rewrite = [sys.executable, "-B", "emulation/rewrite_launches.py", "-I", "include", "-I", "tests", "-I",
                   "examples/support", source]
        rewritten = output[:-2] + ".cpp"
        with open(rewritten, "w", encoding="utf-8") as file:
            if subprocess.run(rewrite, stdout=file, check=False).returncode != 0:
                return "rewrite_launches.py failed"
        command = compiler + CHECKED + ["-I" + os.path.dirname(source), "-c", rewritten, "-o", output]
        status, text = execute(command, self.queue.left())
        return None if status == 0 else f"time was up\n{text}" if status is None else text

    def build(self, program):
        objects = []
        for number, source in enumerate(program.sources):
            objects.append(f"{BUILD}/{program.name}.{number}.o")
            problem = self.compile(source, objects[-1])
            if problem is not None:
                return problem
        support = [f"{BUILD}/main.o"] if program.isTest else self.support
        status, text = execute([os.environ.get("CXX", "g++"), f"{BUILD}/check.o", *objects, *support, *LIBRARIES,
                                *self.libraries, "-o", f"{BUILD}/{program.name}"], self.queue.left())
        for file in objects:
            os.remove(file)
        return None if status == 0 else text

    def namesOf(self, program, pattern):
        """Test cases, as Catch2 3 lists them, or 2."""
        for listing in (["--list-tests", "--verbosity", "quiet"], ["--list-test-names-only"]):
            names = execute([f"{BUILD}/{program.name}", *pattern, *listing], 60)[1].splitlines()
            if not any(name.startswith(("Matching test", "All available test")) for name in names):
                return [name.strip() for name in names if name.strip() and not name.startswith("device: ")]
        return []

    def begin(self, program):
        problem = self.build(program)
        if problem is not None:
            case = Case(program, "")
            case.output = problem
            case.verdict = "unrun" if problem.startswith("time was up") else "unbuilt"
            self.cases.append(case)
            return
        usual = self.namesOf(program, ["~[mistake]~[sweep]~[large]"]) if program.isTest else [""]
        others = [name for name in self.namesOf(program, ["~[mistake]"]) if name not in usual] if program.isTest else []
        for urgency, names in ((1, usual), (4, others)):
            for name in names:
                case = Case(program, name)
                self.cases.append(case)
                if urgency == 1 or self.options.all:
                    self.queue.add((urgency, 0), lambda case=case: self.check(case))

    def check(self, case):
        status, output, case.seconds = case.run(self.queue, self.options.limit,
                                                {"GPUOPT_EMULATION_CHECK_WITHOUT": "none"})
        case.verdict = verdictOf(status, output)
        if case.verdict == "slow" and self.queue.left() <= 0:
            case.verdict = "unrun"
        if case.verdict != "clean":
            case.output = output
        elif self.options.leave_out:
            for line in sorted(set(re.findall(r"synchronises at .*include/(gpuopt/\S+)", output))):
                self.reach(line, case)

    def reach(self, line, case):
        with self.lock:
            mutant = self.mutants.setdefault(line, Mutant(line))
            heapq.heappush(mutant.waiting, (case.seconds, id(case), case))
            if mutant.verdict == "found" or mutant.isTried:
                return
            mutant.isTried = True
        self.queue.add((2, mutant.tried), lambda: self.attempt(mutant))

    def attempt(self, mutant):
        with self.lock:
            case = heapq.heappop(mutant.waiting)[2]
        without = {"GPUOPT_EMULATION_CHECK_WITHOUT": mutant.line}
        limit = 4 * case.seconds + 20
        isFound = case.run(self.queue, limit, without)[0] == FOUND_STATUS  # others: ranks that are too slow
        isStrict = not isFound and self.findsStrictly(mutant, case, without, limit)
        with self.lock:
            mutant.tried += 1
            if isFound or (isStrict and mutant.verdict == "missed"):
                mutant.verdict, mutant.by = "found" if isFound else "strict", f"{case.program.path}: {case.name}"
            mutant.isTried = not isFound and len(mutant.waiting) > 0
        if mutant.isTried:
            self.queue.add((2 if mutant.tried < 10 else 3, mutant.tried), lambda: self.attempt(mutant))

    def findsStrictly(self, mutant, case, without, limit):
        if mutant.verdict == "strict" or len(mutant.strict) >= STRICT_CASES:
            return False
        mutant.strict.append(case)
        if case.isStrictlyClean is None:
            case.isStrictlyClean = case.run(self.queue, limit, STRICT)[0] == 0
        return case.isStrictlyClean and case.run(self.queue, limit, {**STRICT, **without})[0] == FOUND_STATUS

    def prepare(self):
        compiler = [os.environ.get("CXX", "g++")] + FLAGS
        subprocess.run(compiler + ["-O2", "-DGPUOPT_EMULATION_BACKTRACE", "-c", "emulation/check/check.cpp", "-o",
                                   f"{BUILD}/check.o"], check=True)
        subprocess.run(compiler + ["-O0", "-c", "tests/support/main.cpp", "-o", f"{BUILD}/main.o"], check=True)
        isCatch3 = subprocess.run(compiler + ["-E", "-x", "c++", "-", "-o", os.devnull], check=False, text=True,
                                  input="#include <catch2/catch_test_macros.hpp>", stderr=subprocess.DEVNULL)
        self.libraries = ["-lCatch2"] if isCatch3.returncode == 0 else []
        for source in glob.glob("examples/support/*.cpp"):
            self.support.append(f"{BUILD}/support_{os.path.basename(source)[:-4]}.o")
            problem = self.compile(source, self.support[-1])
            if problem is not None:
                sys.exit(problem)


def programPaths():
    for path in sorted(glob.glob("tests/**/*_test.cu", recursive=True)):
        if not path.startswith(("tests/check/", "tests/profile/", "tests/emulation/")):
            yield path
    for path in sorted(glob.glob("examples/*/*.cu")):
        folder, name = os.path.split(path)
        if folder == "examples/ladders" or name[:-3] == os.path.basename(folder):
            if not folder.startswith(("examples/interop_", "examples/profile_")):  # not for the emulated device
                yield path


def parseArguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="part", help="of a path: the programs to check; all by default")
    parser.add_argument("--all", action="store_true", help="cases tagged [sweep] and [large], too")
    parser.add_argument("--leave-out", action="store_true", help="test the check")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--limit", type=float, default=300, help="seconds of a case")
    parser.add_argument("--total", type=float, default=1e6, help="seconds of everything")
    return parser.parse_args()


def report(check, isLeftOut):
    """Prints the results; whether all are clean, or found."""
    counts = {verdict: sum(case.verdict == verdict for case in check.cases)
              for verdict in ("clean", "found", "failed", "slow", "unbuilt", "unrun")}
    print("cases: " + ", ".join(f"{count} {verdict}" for verdict, count in counts.items()))
    missed = sum(mutant.verdict == "missed" for mutant in check.mutants.values())
    if isLeftOut:
        print(f"{len(check.mutants) - missed} of {len(check.mutants)} were found")
    for mutant in sorted(check.mutants.values(), key=lambda mutant: mutant.line):
        rest = f", {len(mutant.waiting)} not tried" if mutant.verdict != "found" and mutant.waiting else ""
        print(f"{mutant.verdict:6} {mutant.line} after {mutant.tried} cases{rest} {mutant.by}")
    for case in sorted(check.cases, key=lambda case: (case.program.path, case.name)):
        print(f"{case.verdict:7} {case.seconds:6.1f} {case.program.path}: {case.name}")
        if case.verdict not in ("clean", "unrun"):
            lines = [line for line in case.output.splitlines() if "synchronises at" not in line]
            print("\n".join("    " + line[:400] for line in lines[-25:]))
    return counts["clean"] == len(check.cases) and missed == 0


def main():
    options = parseArguments()
    os.chdir(ROOT)
    os.makedirs(BUILD, exist_ok=True)
    for name, value in (("CHECK", "races"), ("ORDER", "random"), ("THREADS", "1")):
        os.environ.setdefault("GPUOPT_EMULATION_" + name, value)
    os.environ.setdefault("GPUOPT_TEST_EVERY", "7")
    check = Check(options)
    check.prepare()
    programs = [Program(path) for path in programPaths()
                if not options.parts or any(part in path for part in options.parts)]
    for program in sorted(programs, key=Program.weight, reverse=True):
        check.queue.add((0, 0), lambda program=program: check.begin(program))
    check.queue.run(options.jobs)
    sys.exit(0 if report(check, options.leave_out) else 1)


if __name__ == "__main__":
    main()
