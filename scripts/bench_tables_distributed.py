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
