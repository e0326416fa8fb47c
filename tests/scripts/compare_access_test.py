"""scripts/compare_access.py on logs as Nsight Compute writes them, with counts that are made up.

SPDX-License-Identifier: MIT
"""

import csv
import io
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "compare_access.py"

PREDICTIONS = """# program: access_bench
launch,kernel,case,type,warps,requests,sectors,wavefronts,conflicts,utilisation,degree
0,globalLoad,stride 2,float,128,1,8,,,0.500000,
1,globalStore,in order,12 bytes,128,3,36,,,0.333333,
2,sharedLoad,stride 2,float4,128,1,,8,4,,2
3,asyncCopy,from 0 to 2,float4,128,1,,8,,,
"""
REQUESTS, SECTORS = "l1tex__t_requests_pipe_lsu_mem_global_op_%s.sum", "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_%s.ratio"
LAUNCHES = [
    ("void <unnamed>::globalLoad<float>(const T1 *, <unnamed>::Pattern, float *)", {REQUESTS % "ld": "128", SECTORS % "ld": "8"}),
    ("void <unnamed>::globalStore<<unnamed>::Floats<(unsigned int)3>>(T1 *)", {REQUESTS % "st": "384", SECTORS % "st": "12.00"}),
    ("void detail::copyVectors(const uint4 *, uint4 *)", {REQUESTS % "ld": "1"}),
    ("void <unnamed>::sharedLoad<float4>(<unnamed>::Pattern, float *)", {
        "smsp__inst_executed_op_shared_ld.sum": "128", "smsp__inst_executed_op_shared_st.sum": "4,096",
        "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum": "1,024", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum": "512"}),
    ("void <unnamed>::asyncCopy<float4>(const T1 *, <unnamed>::Pattern, <unnamed>::Pattern, float *)", {
        "smsp__inst_executed_op_ldgsts.sum": "128",
        "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum": "1,024"}),
]


def log(launches):
    """What ncu --csv writes: remarks, then a row for each metric of each launch."""
    text = io.StringIO()
    text.write("==PROF== Connected to process 7\nprogram: access_bench\n")
    writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerow(["ID", "Process ID", "Kernel Name", "Block Size", "Metric Name", "Metric Unit", "Metric Value"])
    for number, (kernel, counts) in enumerate(launches):
        for metric, value in counts.items():
            writer.writerow([number, 7, kernel, "(32, 1, 1)", metric, "", value])
    return text.getvalue()


class CompareAccess(unittest.TestCase):
    def run_script(self, counts, *options):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "predictions.csv").write_text(PREDICTIONS)
            (Path(folder) / "ncu.csv").write_text(counts)
            return subprocess.run([sys.executable, "-B", SCRIPT, *options, "predictions.csv", "ncu.csv"], cwd=folder,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def changed(self, launch, metric, value):
        launches = [(kernel, dict(counts)) for kernel, counts in LAUNCHES]
        launches[launch][1][metric] = value
        return self.run_script(log(launches))

    def test_agreement(self):
        done = self.run_script(log(LAUNCHES))
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", "9 of 9 agree\n"))
        shown = self.run_script(log(LAUNCHES), "--all").stdout
        self.assertIn("| globalStore | 12 bytes | in order | sectors | 12 | 12 |  |", shown)
        self.assertIn("| sharedLoad | float4 | stride 2 | wavefronts | 8 | 8 |  |", shown)

    def test_each_difference_is_shown(self):
        changes = {
            "| globalLoad | float | stride 2 | sectors | 8 | 8.5 | differs |": (0, SECTORS % "ld", "8.5"),
            "| globalStore | 12 bytes | in order | all requests | 384 | 128 | differs |": (1, REQUESTS % "st", "128"),
            "| sharedLoad | float4 | stride 2 | conflicts | 4 | 5 | differs |":
                (3, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", "640"),
            "| asyncCopy | float4 | from 0 to 2 | wavefronts | 8 | 4 | differs |":
                (4, "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum", "512"),
        }
        for line, change in changes.items():
            with self.subTest(line):
                done = self.changed(*change)
                self.assertEqual((done.returncode, done.stderr), (1, "8 of 9 agree\n"))
                self.assertIn(line, done.stdout)

    def test_files_that_do_not_fit(self):
        for counts, message in ((log(LAUNCHES[:2]), "4 predictions, but 2 launches"), (log([LAUNCHES[1], LAUNCHES[0], *LAUNCHES[3:]]), "launch 0 is"),
                                ("no table", 'no line begins with "ID"'), (log(LAUNCHES)[:-9], "ends too early"),
                                (log([LAUNCHES[0], LAUNCHES[1], (LAUNCHES[3][0], {"other": "1"}), LAUNCHES[4]]), "smsp__inst")):
            with self.subTest(message):
                done = self.run_script(counts)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(message, done.stderr)
                self.assertNotIn("Traceback", done.stderr)

    def test_metrics(self):
        done = subprocess.run([sys.executable, "-B", SCRIPT, "--metrics"], stdout=subprocess.PIPE, text=True)
        self.assertIn(SECTORS % "ld" + "," + SECTORS % "st", done.stdout)


if __name__ == "__main__":
    unittest.main()
