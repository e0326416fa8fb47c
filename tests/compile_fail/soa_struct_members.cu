// EXPECT: gpuopt: a struct of more than 32 members cannot be taken apart: nest some of them
// WRITTEN: `struct Many` of 33 members
// SPDX-License-Identifier: MIT
#include <gpuopt/soa/view.cuh>

struct Many {
  int a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa, bb, cc, dd, ee, ff, gg;
};

template class gpuopt::SoaView<Many>;
