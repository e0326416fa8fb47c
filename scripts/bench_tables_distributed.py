"""The table of docs/distributed.md: calls of several GPUs.

SPDX-License-Identifier: MIT
"""

from bench_grid import Grid
from bench_results import number, over, size, us

NCCL = "ncclAllReduce"


def sums(results):
    """Times in a graph, and those of the local sum with ncclAllReduce over them."""
    gpus = results.header("distributed_bench")["gpus"]
    grid = Grid([f"{gpus} GPUs, in a graph"],
                ["gpuopt, us", "gpuopt by NCCL, us", f"local sum and `{NCCL}`, us", "local sum alone, us",
                 f"`{NCCL}` over gpuopt"])

    def add(what, candidates):
        times = [number(us(candidates[name])) if name in candidates else ""
                 for name in ("gpuopt", "gpuopt, by NCCL", NCCL, "local sum alone")]
        grid.add([what], [*times, number(over(candidates, NCCL))])

    add("barrier", results.candidates("distributed_bench", case="barrier"))
    for case, candidates in results.cases("distributed_bench", case="sum"):
        add(f"sum of {size(int(case['bytes']))} of floats on each", candidates)
    return grid


def transpositions(results):
    """Times in a graph, the copy engine's share of them, and those of NCCL between the best local kernels over them."""
    gpus = results.header("distributed_transpose_bench")["gpus"]
    grid = Grid([f"{gpus} GPUs, in a graph"],
                ["gpuopt, us", "share of the copy engine's speed", "one kernel, us", "copy engines, us",
                 "gpuopt by NCCL, us", "NCCL and local kernels, us", "NCCL over gpuopt"])
    for case, candidates in results.cases("distributed_transpose_bench", case="transpose"):
        ours = us(candidates["gpuopt"])
        times = [number(us(candidates[name])) if name in candidates else ""
                 for name in ("gpuopt, one kernel", "gpuopt, copy engines", "gpuopt, by NCCL", "NCCL and local kernels")]
        grid.add([f"{case['rows']} x {case['cols']} of type {case['type']}, {size(int(case['bytes']))} on each"],
                 [number(ours), number(us(candidates["copy engine"]) / ours), *times,
                  number(over(candidates, "NCCL and local kernels"))])
    return grid
