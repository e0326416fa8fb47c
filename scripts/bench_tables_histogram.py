"""The tables of histograms, from results of the benchmarks.

SPDX-License-Identifier: MIT
"""

from bench_grid import Grid
from bench_results import number, over, power, spread, us

DISTRIBUTIONS = {"uniform": "uniform", "equal": "all equal", "zipf": "Zipf", "runs": "runs", "normal": "normal"}
CUB = "CUB"
CUB_CALL = "cub::DeviceHistogram::HistogramEven"
ELEMENTS = {"uint8": "bytes", "uint16": "2-byte integers", "float": "floats"}


def histograms(results):
    """A row for each type and number of bins: the best read's time over gpuopt's, by distribution, and CUB."""
    grid = Grid(["samples", "bins"], [*DISTRIBUTIONS.values(), "`cub::DeviceHistogram`"])
    cases = {}
    for case, candidates in results.cases("histogram_bench"):
        if case["element"] in ELEMENTS and case["case"] != "small":
            cases.setdefault((ELEMENTS[case["element"]], int(case["bins"])), {})[case["distribution"]] = candidates
    for (samples, bins), found in cases.items():
        ratios = [over(candidates, CUB) for candidates in found.values() if CUB in candidates]
        grid.add([samples, power(bins)],
                 [*(number(float(found[name]["gpuopt"]["ratio"]), 3) if name in found else "" for name in DISTRIBUTIONS),
                  spread(ratios) if ratios else ""])
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
