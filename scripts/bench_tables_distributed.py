"""The tables of docs/distributed.md: calls of several GPUs.

SPDX-License-Identifier: MIT
"""

from bench_grid import Grid
from bench_results import number, over, size, us

NCCL = "ncclAllReduce"
TORCH = "torch_distributed_bench"


def torch_time(results, folder, bytes, **wanted):
    """The faster one of what users of PyTorch write for a case; None where that was not measured."""
    times = [us(row) for case, candidates in results.cases(folder + TORCH, **wanted) if case["bytes"] == str(bytes)
             for row in candidates.values()]
    return min(times, default=None)


def ratio(time, ours):
    return None if time is None else time / ours


def sums(results, folder=""):
    """Times in a graph, and those of the local sum with ncclAllReduce over them."""
    program = folder + "distributed_bench"
    gpus = results.header(program)["gpus"]
    grid = Grid([f"{gpus} GPUs, in a graph"],
                ["gpuopt, us", "gpuopt by NCCL, us", f"local sum and `{NCCL}`, us", "local sum alone, us",
                 f"`{NCCL}` over gpuopt", "PyTorch over gpuopt"])

    def add(what, candidates, torch=None):
        times = [number(us(candidates[name])) if name in candidates else ""
                 for name in ("gpuopt", "gpuopt, by NCCL", NCCL, "local sum alone")]
        grid.add([what], [*times, number(over(candidates, NCCL)), number(ratio(torch, us(candidates["gpuopt"])))])

    add("barrier", results.candidates(program, case="barrier"))
    for case, candidates in results.cases(program, case="sum"):
        bytes = int(case["bytes"])
        add(f"sum of {size(bytes)} of floats on each", candidates, torch_time(results, folder, bytes, case="sum"))
    return grid


def transpositions(results, folder=""):
    """Times in a graph, the copy engine's share of them, and those of NCCL between the best local kernels over them."""
    program = folder + "distributed_transpose_bench"
    gpus = results.header(program)["gpus"]
    grid = Grid([f"{gpus} GPUs, in a graph"],
                ["gpuopt, us", "share of the copy engine's speed", "one kernel, us", "copy engines, us",
                 "gpuopt by NCCL, us", "NCCL and local kernels, us", "NCCL over gpuopt", "PyTorch over gpuopt"])
    for case, candidates in results.cases(program, case="transpose"):
        ours, bytes = us(candidates["gpuopt"]), int(case["bytes"])
        times = [number(us(candidates[name])) if name in candidates else ""
                 for name in ("gpuopt, one kernel", "gpuopt, copy engines", "gpuopt, by NCCL", "NCCL and local kernels")]
        torch = torch_time(results, folder, bytes, case="transpose", type=case["type"], rows=case["rows"],
                           cols=case["cols"])
        grid.add([f"{case['rows']} x {case['cols']} of type {case['type']}, {size(bytes)} on each"],
                 [number(ours), number(us(candidates["copy engine"]) / ours), *times,
                  number(over(candidates, "NCCL and local kernels")), number(ratio(torch, ours))])
    return grid
