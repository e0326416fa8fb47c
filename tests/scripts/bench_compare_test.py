"""scripts/bench_compare.py on runs whose times are made up: what is slower is found, and noise is not.

SPDX-License-Identifier: MIT
"""

import random
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import bench_compare  # noqa: E402

PEER = "cub::DeviceReduce::Reduce"


def run(times, gpu="NVIDIA X200", cccl="3.5.0", spread=0.01, mode="cold-write"):
    """The text of a CSV file: {(n, candidate): us}."""
    lines = [f"# program: reduce_bench\n# gpu: {gpu}\n# driver: 1\n# cuda: 13.0\n# cccl: {cccl}",
             "case,type,n,bytes,candidate,mode,us,us_p10,us_p90,gbps,copy_share,ratio"]
    lines += [f"sum,float,{n},{4 * n},{candidate},{mode},{us:.4f},{us * (1 - spread):.4f},{us * (1 + spread):.4f},1,1,1"
              for (n, candidate), us in times.items()]
    return "\n".join(lines) + "\n"


def times(seed, drift=1.0, noise=0.01, slower=(), factor=1.2):
    """Two candidates of 40 cases, of which those of gpuopt in `slower` take longer."""
    random.seed(seed)
    found = {}
    for n in range(40):
        for candidate in ("gpuopt", PEER):
            own = factor if candidate == "gpuopt" and n in slower else 1.0
            found[n, candidate] = 100.0 * (1 + n) * own * drift * random.gauss(1, noise)
    return found


class Compare(unittest.TestCase):
    def call(self, old, new, *options):
        with tempfile.TemporaryDirectory() as folder:
            paths = [Path(folder) / name for name in ("old.csv", "new.csv")]
            for path, text in zip(paths, (old, new)):
                path.write_text(text)
            return subprocess.run([sys.executable, "-B", ROOT / "scripts/bench_compare.py", *paths, *options],
                                  capture_output=True, text=True)

    def test_noise_is_no_change(self):
        for seed in range(10):
            done = self.call(run(times(seed)), run(times(seed + 100)))
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn("new: 40 cases, 0 slower, 0 faster", done.stdout)

    def test_slower_is_found(self):
        done = self.call(run(times(1)), run(times(2, slower={7, 30})))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("40 cases, 2 slower, 0 faster", done.stdout)
        self.assertRegex(done.stdout, r"(?m)^ +\+\d+\.\d % .* sum float 7 cold-write$")

    def test_faster_passes(self):
        done = self.call(run(times(1, slower={7})), run(times(2)))
        self.assertEqual(done.returncode, 0)
        self.assertIn("0 slower, 1 faster", done.stdout)

    def test_drift_of_the_machine_is_no_change(self):
        done = self.call(run(times(1)), run(times(2, drift=1.1)))
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, r"cold-write: 40 peers, \+(9|10)\.\d %")

    def test_small_changes_need_quiet_runs(self):
        quiet = self.call(run(times(1, noise=0.001), spread=0.001), run(times(2, noise=0.001, slower={5}, factor=1.05),
                                                                      spread=0.001))
        self.assertEqual(quiet.returncode, 1, quiet.stdout)
        noisy = self.call(run(times(1, noise=0.03)), run(times(2, noise=0.03, slower={5}, factor=1.05)))
        self.assertEqual(noisy.returncode, 0, noisy.stdout)
        below = self.call(run(times(1, noise=0.001), spread=0.001), run(times(2, noise=0.001, slower={5}, factor=1.05),
                                                                      spread=0.001), "--least", "10")
        self.assertEqual(below.returncode, 0, below.stdout)

    def test_other_version_of_the_peer_is_no_drift(self):
        new = {key: us * (0.5 if key[1] == PEER else 1) for key, us in times(2).items()}
        done = self.call(run(times(1)), run(new, cccl="3.6.0"))
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("cold-write: 0 peers, +0.0 % +- 2.0", done.stdout)
        self.assertEqual(self.call(run(times(1)), run(new)).returncode, 1)

    def test_ticks_of_the_clock(self):
        """A kernel of 1.2 us may take one tick longer."""
        self.assertGreater(4 * bench_compare.standard_error(1.2, 1.2, 1.2, "us"), 0.03)
        self.assertEqual(bench_compare.standard_error(1200, 1200, 1200, "cycles"), 0)

    def test_other_gpu(self):
        done = self.call(run(times(1)), run(times(1), gpu="NVIDIA Y100"))
        self.assertEqual((done.returncode, done.stderr), (2, "bench_compare: gpu: NVIDIA X200 and NVIDIA Y100\n"))

    def test_missing_cases(self):
        fewer = {key: us for key, us in times(1).items() if key[0] != 3}
        self.assertIn("1 cases of the old run are not in the new one, such as sum float 3",
                      self.call(run(times(1)), run(fewer)).stdout)
        self.assertEqual(self.call(run(times(1)), run({})).returncode, 2)

    def test_every_result_has_columns_that_are_known(self):
        for file in [*(ROOT / "benchmarks/results").rglob("*_bench.csv"),
                     *(ROOT / "tests/scripts/bench_samples/x200").glob("*_bench.csv")]:
            if file.name == "torch_distributed_bench.csv":  # of peers alone
                continue
            changes, _ = bench_compare.compare(bench_compare.Run(file), bench_compare.Run(file))
            self.assertTrue(changes, file)
            self.assertFalse([it for it in changes if it.change != 0], file)


if __name__ == "__main__":
    unittest.main()
