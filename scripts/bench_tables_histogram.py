"""The tables of histograms, from results of the benchmarks.

SPDX-License-Identifier: MIT
"""

from bench_grid import Grid
from bench_results import number, over, power, spread, us

DISTRIBUTIONS = {"uniform": "uniform", "equal": "all equal", "zipf": "Zipf", "runs": "runs", "normal": "normal"}
CUB = "CUB"
CUB_CALL = "cub::DeviceHistogram::HistogramEven"
ELEMENTS = {"uint8": "bytes", "uint16": "2-byte integers", "float": "floats"}
VALUES = {"float": "sums of floats", "float FastSums": "sums of floats, `FastSums`", "int": "sums of integers of 4 bytes",
          "int to long": "the same, results of 8 bytes", "float Minimum": "minima of floats"}


def by_distribution(grid, cases, peer):
    """A row for each element and number of bins of [(element, case, candidates)]: the best read's time over gpuopt's,
    by distribution, and the peer."""
    rows = {}
    for element, case, candidates in cases:
        rows.setdefault((element, int(case["bins"])), {})[case["distribution"]] = candidates
    for (element, bins), found in rows.items():
        grid.add([element, power(bins)],
                 [*(number(float(found[name]["gpuopt"]["ratio"]), 3) if name in found else "" for name in DISTRIBUTIONS),
                  spread([over(candidates, peer) for candidates in found.values()])])


def histograms(results):
    grid = Grid(["samples", "bins"], [*DISTRIBUTIONS.values(), "`cub::DeviceHistogram`"])
    by_distribution(grid, [(ELEMENTS[case["element"]], case, candidates)
                           for case, candidates in results.cases("histogram_bench")
                           if case["element"] in ELEMENTS and case["case"] != "small"], CUB)
    for case, candidates in results.cases("histogram_bench", case="channels"):
        grid.add(["pixels of three bytes", f"3 x {case['bins']}"],
                 [number(float(case["ratio"]), 3), "", "", "", "", number(over(candidates, CUB))])
    return grid


def few_samples(results):
    grid = Grid(["floats", "bins"], ["us", "`cub::DeviceHistogram`"])
    for case, candidates in results.cases("histogram_bench", case="small"):
        grid.add([power(int(case["n"])), power(int(case["bins"]))],
                 [f"{us(case):.2f}", number(over(candidates, CUB))])
    return grid


def reductions(results):
    grid = Grid(["values", "bins"], [*DISTRIBUTIONS.values(), "`thrust::sort_by_key`, `reduce_by_key`"])
    by_distribution(grid, [(VALUES[case["element"]], case, candidates)
                           for case, candidates in results.cases("reduce_by_bench", case="pairs")], "Thrust")
    return grid


def few_pairs(results):
    """A row for each number of pairs."""
    grid = Grid(["pairs"], list(VALUES.values()))
    rows = {}
    for case, _ in results.cases("reduce_by_bench", case="few"):
        rows.setdefault(int(case["n"]), {})[case["element"]] = f"{us(case):.2f}"
    for n, found in rows.items():
        grid.add([power(n)], [found.get(name, "") for name in VALUES])
    return grid
