"""The tables of pipelines and frames, from results of pipeline_bench.

SPDX-License-Identifier: MIT
"""

from bench_grid import Grid
from bench_results import number, over, size, us

PEERS = {"sum": ("two streams", "copy, then reduce"), "transform": ("three streams", "copy, kernel, copy")}
CALLS = {"sum": "`streamReduce`", "transform": "`streamTransform`"}


def pipelines(results):
    grid = Grid(["call", "memory", "bytes"], ["GB/s", "share of the link", "a stream for each buffer", "one after another"])
    for case, candidates in results.cases("pipeline_bench"):
        if case["case"] in PEERS:
            grid.add([CALLS[case["case"]], case["memory"], size(int(case["n"]))],
                     [number(float(case["gbps"])), number(float(case["share"]), 3),
                      *(number(over(candidates, peer)) for peer in PEERS[case["case"]])])
    return grid


def frames(results):
    grid = Grid(["way"], ["median, us", "slowest of 1000, us", "frames lost"])
    for _, candidates in results.cases("pipeline_bench", case="frames"):
        for name, row in candidates.items():
            grid.add([name], [f"{us(row):.0f}", f"{float(row['us_high']):.0f}", row["lost"]])
    return grid
