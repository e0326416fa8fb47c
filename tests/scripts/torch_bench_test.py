"""benchmarks/torch_bench.py, as far as it needs neither PyTorch nor a GPU.

SPDX-License-Identifier: MIT
"""

import contextlib
import io
import re
import sys
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

import torch_bench  # noqa: E402


class TorchBench(unittest.TestCase):
    def test_columns_are_those_of_the_other_benchmarks(self):
        self.assertIn(f'"{torch_bench.COLUMNS}\\n"', (ROOT / "benchmarks/support/report.cuh").read_text())

    def test_lines(self):
        case = torch_bench.Case("sum", "float", 256, 1024, None, "torch.sum", None, None, None)
        found = list(torch_bench.lines(case, [[3, 1, 2], [4, 5, 6]], copy_gbps=1.0))
        self.assertEqual(found, ["sum,float,256,1024,gpuopt,cold-write,2.000,1.000,3.000,0.5,0.5120,1.0000",
                                 "sum,float,256,1024,torch.sum,cold-write,5.000,4.000,6.000,0.2,0.2048,2.5000"])
        self.assertEqual({len(line.split(",")) for line in found}, {len(torch_bench.COLUMNS.split(","))})

    def test_alternation(self):
        calls = []
        timer = SimpleNamespace(repetitions=2, sample=lambda call, number: calls.append((call, number)) or number)
        self.assertEqual(torch_bench.Timer.measure(timer, ["a", "b"]), [[2, 3], [2, 3]])
        self.assertEqual(calls, [(call, number) for number in range(4) for call in "ab"])

    def test_without_pytorch(self):
        with mock.patch.object(torch_bench, "torch", None), mock.patch.object(sys, "argv", ["torch_bench.py", "it.so"]), \
                contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(torch_bench.main(), torch_bench.MISSING)

    def test_calls_of_the_library(self):
        """Every function that is called is there, with one argument more: the stream."""
        script = (ROOT / "benchmarks/torch_bench.py").read_text()
        source = (ROOT / "benchmarks/torch_calls.cu").read_text()
        called = re.findall(r'library\.call\(f?"([A-Za-z{}]+)", ([^)]*)\)', script)
        self.assertEqual(len(called), 14)
        for name, arguments in called:
            for it in ("Floats", "Halves") if "{" in name else ("",):
                declared = re.search(rf"EXPORTED int {name.replace('{name}', it)}\(([^)]*)\)", source)
                self.assertEqual(declared.group(1).count(","), arguments.count(",") + 1)


if __name__ == "__main__":
    unittest.main()
