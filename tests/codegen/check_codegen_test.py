"""Proves that check_codegen.py sees each kind of violation.

SPDX-License-Identifier: MIT
"""

import unittest

from check_codegen import check, ptx_bodies, resources

PTX = """.visible .entry _Z3sumPf(
\t.param .u64 _Z3sumPf_param_0
)
{
\tld.global.nc.v4.f32 \t{%f1, %f2, %f3, %f4}, [%rd1];
\tret;

}
"""
REPORT = """ptxas info    : Compiling entry function '_Z3sumPf' for 'sm_90'
ptxas info    : Function properties for _Z3sumPf
    16 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads
ptxas info    : Used 40 registers, used 1 barriers, 16 bytes stack frame, 128 bytes smem
"""


def found(expectation):
    return list(check(f"// CODEGEN: {expectation}\n", "90", ptx_bodies(PTX), resources(REPORT)))


class Codegen(unittest.TestCase):
    def test_met(self):
        for expectation in ("contains=ld\\.global.*v4 absent=atom", "count=1*ld\\.global count=0*atom",
                            "max-registers=40 max-shared=128", "arch=80 no-spill"):
            self.assertEqual(found(f"kernel=sum {expectation}"), [])

    def test_violated(self):
        for expectation in ("contains=v8", "absent=v4", "count=2*ld", "no-local", "no-spill", "max-registers=39",
                            "max-shared=64", "typo"):
            self.assertEqual(len(found(f"kernel=sum\\(float {expectation}")), 1, expectation)

    def test_no_such_kernel(self):
        self.assertEqual(len(found("kernel=product")), 1)
        self.assertEqual(len(found("no-spill")), 1)


if __name__ == "__main__":
    unittest.main()
