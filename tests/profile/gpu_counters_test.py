"""The profile of the library's, the ladders' and the experiments' kernels against the counters of a GPU, as recorded.

Usage: gpu_counters_test.py <profile_counters_profiled>
SPDX-License-Identifier: MIT
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parents[1] / "scripts"))
import compare_profile

LEAST = 0.98  # of the counts agree; with g++ 12 it is 0.992

with tempfile.TemporaryDirectory() as folder:
    profile = Path(folder) / "profile.csv"
    with profile.open("w") as out:  # one block at a time: how often blocks look whether others are done is then the same
        subprocess.run([sys.argv[1]], env={**os.environ, "GPUOPT_EMULATION_THREADS": "1"}, stdout=out, check=True)
    cases = compare_profile.read_profile(profile)
counted = compare_profile.read_counts(FOLDER / "counters_h200.csv", cases)
rows = list(compare_profile.compare(cases, counted, 0.01))
differing = [row for row in rows if not row[5]]
compare_profile.print_rows(differing)
print(f"{len(rows) - len(differing)} of {len(rows)} agree")
sys.exit(len(differing) > (1 - LEAST) * len(rows))
