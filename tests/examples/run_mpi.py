"""Runs a program with a process for each GPU; on the emulated device with one.

Usage: run_mpi.py <mpiexec> <emulated|native> <program>. Exits as the program does, with 77 where there is no GPU.
SPDX-License-Identifier: MIT
"""

import os
import subprocess
import sys


def gpus():
    try:
        listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=False)
    except OSError:
        return 0
    return len(listed.stdout.splitlines()) if listed.returncode == 0 else 0


mpiexec, variant, program = sys.argv[1:]
count = gpus() if variant == "native" else 1
if count == 0:
    sys.exit(77)
allowed = {f"OMPI_ALLOW_RUN_AS_ROOT{end}": "1" for end in ("", "_CONFIRM")}  # as in a container
sys.exit(subprocess.run([mpiexec, "-n", str(count), program], env={**os.environ, **allowed}, check=False).returncode)
