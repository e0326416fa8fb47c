"""benchmarks/torch_distributed_bench.py, as far as it needs neither PyTorch nor a GPU.

SPDX-License-Identifier: MIT
"""

import contextlib
import io
import sys
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

import torch_distributed_bench as bench  # noqa: E402


class TorchDistributedBench(unittest.TestCase):
    def test_a_row_has_all_columns(self):
        ranks = [bench.Bench(rank, 2, SimpleNamespace()) for rank in range(2)]
        with contextlib.redirect_stdout(io.StringIO()) as said:
            for rank in ranks:
                rank.record("sum", "float", 256, 1, 1024, "it", "graph", SimpleNamespace(median=2, low=1, high=3))
        self.assertEqual(ranks[0].rows, ['sum,float,256,1,1024,"it",graph,2.000,1.000,3.000'])
        self.assertEqual(ranks[0].rows[0].count(","), bench.COLUMNS.count(","))
        self.assertEqual(said.getvalue().count("\n"), 1)

    def test_without_pytorch(self):
        with mock.patch.object(bench, "torch", None), mock.patch.object(sys, "argv", ["torch_distributed_bench.py"]), \
                contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(bench.main(), bench.MISSING)

    def test_a_free_port(self):
        self.assertGreater(bench.free_port(), 0)


if __name__ == "__main__":
    unittest.main()
