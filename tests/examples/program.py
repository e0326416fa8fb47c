"""The example program that a script of this folder tests: the script's first argument.

SPDX-License-Identifier: MIT
"""

import subprocess
import sys
import unittest
from pathlib import Path

NO_DEVICE = 77
limit = 120  # seconds that the program may take


def path():
    return str(Path(sys.argv[1]).resolve())


def run(*arguments):
    return subprocess.run([path(), *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=limit)


def main(*arguments):
    """Runs the script's tests, unless a trial run with these arguments finds no GPU, or says that it is skipped."""
    trial = run(*arguments)
    if trial.returncode == NO_DEVICE:
        print(trial.stdout, end="")
        sys.exit(NO_DEVICE)
    if trial.returncode == 1 and ("cudaErrorNoDevice" in trial.stderr or "cudaErrorInsufficientDriver" in trial.stderr):
        print("SKIPPED: no GPU")
        sys.exit(NO_DEVICE)
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
