"""Proves on planted trees that check_layering.py finds what it is for.

SPDX-License-Identifier: MIT
"""

import sys
import unittest
from pathlib import Path

from check_layering import violations

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import planted_tree

GOOD = {
    "version.cuh": "",
    "gpuopt.cuh": "#include <gpuopt/reduce.cuh>\n#include <gpuopt/version.cuh>\n",
    "reduce.cuh": "#include <gpuopt/device/reduce.cuh>\n",
    "device/reduce.cuh": '#include <gpuopt/block/reduce.cuh>\n#include "kernel.cuh"\n__global__ void k() {}\n',
    "device/kernel.cuh": "#include <gpuopt/host/error.cuh>\n",
    "block/reduce.cuh": "#include <gpuopt/warp/reduce.cuh>\n",
    "warp/reduce.cuh": "#include <gpuopt/thread/operators.cuh>\n/// Callable from a __global__ function.\n",
    "thread/operators.cuh": "#include <cuda_runtime.h>\n",
    "host/error.cuh": "#include <gpuopt/version.cuh>\n",
    "docs/architecture.md": "`planNothing` is prose\n\n| `sum` | `planSum`: `sum/plan.cuh` | `sumKernel` |\n",
    "device/sum.cuh": "void planSum();\ntemplate <int N>\nGPUOPT_KERNEL void __launch_bounds__(N)\n    sumKernel(int n) {\n}\n",
}


PUBLIC = "GPUOPT_NAMESPACE_BEGIN\n{}GPUOPT_NAMESPACE_END\n"
DETAILS = "namespace detail {\n/// Ours.\nstruct Plan {\n};\n}  // namespace detail\n"


class Layering(unittest.TestCase):
    def check(self, changes):
        tree = {**GOOD, **changes}
        files = {name if name.startswith("docs/") else f"include/gpuopt/{name}": text for name, text in tree.items()}
        return planted_tree.check(violations, files)

    def test_good_tree(self):
        self.assertEqual(self.check({}), [])

    def test_names_that_a_device_header_may_have(self):
        for text in (DETAILS, "class Team;\n", "template <>\nstruct Trait<Sum> {\n};\n"):
            with self.subTest(text):
                self.assertEqual(self.check({"device/kernel.cuh": PUBLIC.format(text)}), [])

    def test_types_below_the_device(self):
        self.assertEqual(self.check({"reduce_types.cuh": "#include <gpuopt/thread/operators.cuh>\n",
                                     "device/kernel.cuh": "#include <gpuopt/reduce_types.cuh>\n"}), [])

    def test_each_violation_is_found(self):
        planted = {
            "upward": {"warp/reduce.cuh": "#include <gpuopt/block/reduce.cuh>\n"},
            "host above": {"host/error.cuh": "#include <gpuopt/thread/operators.cuh>\n"},
            "relative, upward": {"thread/operators.cuh": '#include "../device/kernel.cuh"\n'},
            "indented": {"warp/reduce.cuh": "  #  include <gpuopt/reduce.cuh>\n"},
            "NCCL in the umbrella": {"distributed.cuh": "", "gpuopt.cuh": GOOD["gpuopt.cuh"] +
                                     "#include <gpuopt/distributed.cuh>\n"},
            "umbrella": {"gpuopt.cuh": "#include <gpuopt/version.cuh>\n"},
            "umbrella from below": {"device/kernel.cuh": "#include <gpuopt/gpuopt.cuh>\n"},
            "missing": {"block/reduce.cuh": "#include <gpuopt/warp/none.cuh>\n"},
            "no layer": {"extra/x.cuh": ""},
            "kernel in a block header": {"block/reduce.cuh": "template <int N>\n__global__ void k() {}\n"},
            "a reduction that is tuned": {"host/error.cuh": "#include <gpuopt/host/tuning/tunable.cuh>\n",
                                          "host/tuning/tunable.cuh": ""},
            "types that include a device header": {"reduce_types.cuh": "#include <gpuopt/device/kernel.cuh>\n"},
            "a public struct of a device header": {"device/kernel.cuh": PUBLIC.format("struct Policy {\n};\n")},
            "a public alias": {"device/kernel.cuh": PUBLIC.format("template <class T>\nusing Result = T;\n")},
            "a public function": {"device/kernel.cuh": PUBLIC.format("/// Sums up.\nvoid sum() {}\n")},
            "one after the details": {"device/kernel.cuh": PUBLIC.format(DETAILS + "enum class Way { up };\n")},
            "a kernel that no table has": {"docs/architecture.md": "| `planSum` |\n"},
            "a plan that is gone": {"docs/architecture.md": GOOD["docs/architecture.md"] + "| `planOther` |\n"},
            "emulation": {"thread/operators.cuh": "#ifdef GPUOPT_EMULATION\n#endif\n"},
        }
        for name, changes in planted.items():
            with self.subTest(name):
                self.assertEqual(len(self.check(changes)), 1, self.check(changes))


if __name__ == "__main__":
    unittest.main()
