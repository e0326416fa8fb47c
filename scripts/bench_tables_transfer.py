"""The tables of transfers between host and device, from results of transfer_bench.

SPDX-License-Identifier: MIT
"""

from bench_grid import Grid
from bench_results import number, over, us

PROGRAM = "transfer_bench"
MEMCPY = "cudaMemcpy"
ASYNC = "cudaMemcpyAsync"
BATCH = "cudaMemcpyBatchAsync"


def share(candidates):
    """gpuopt's speed over that of a large pinned copy."""
    ours = candidates.get("gpuopt")
    return number(float(ours["figure"]), 3) if ours else ""


def both_ways(results, up, down):
    """[(case of the way up, its candidates, those of the way down)] of two groups."""
    back = {(case["element"], case["n"]): candidates for case, candidates in results.cases(PROGRAM, case=down)}
    return [(case, candidates, back.get((case["element"], case["n"]), {}))
            for case, candidates in results.cases(PROGRAM, case=up)]


def arrays(results):
    grid = Grid(["pageable memory"], ["up", f"`{MEMCPY}`", f"`{ASYNC}`", "down", f"`{MEMCPY}`, down",
                                      f"`{ASYNC}`, down"])
    for case, up, down in both_ways(results, "up", "down"):
        grid.add([case["element"]], [value for one in (up, down) for value in
                                     (share(one), number(over(one, MEMCPY)), number(over(one, ASYNC)))])
    return grid


def blocks(results):
    grid = Grid(["bytes of a block", "blocks"], ["gather", "loop", f"`{BATCH}`", "scatter", "loop, scatter",
                                                 f"`{BATCH}`, scatter"])
    for case, up, down in both_ways(results, "gather", "scatter"):
        grid.add([case["element"], case["n"]], [value for one in (up, down) for value in
                                                (share(one), number(over(one, "loop")), number(over(one, BATCH)))])
    return grid


def sums(results):
    grid = Grid(["pinned memory"], ["us", "copy and reduce"])
    for case, candidates in results.cases(PROGRAM, case="sum"):
        grid.add([case["element"]], [f"{us(case):.1f}", number(over(candidates, "copy and reduce"))])
    return grid
