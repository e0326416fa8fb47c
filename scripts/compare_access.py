#!/usr/bin/env python3
"""Compares what <gpuopt/access.cuh> predicts with what Nsight Compute counts, launch by launch.

    ncu --csv --log-file ncu.csv --metrics $(compare_access.py --metrics) access_bench
    compare_access.py access_bench.csv ncu.csv [--all] [--tolerance 0.005]

Prints a table of what differs (with --all, of everything) in Markdown. Exits with 1 if anything differs.
SPDX-License-Identifier: MIT
"""

import argparse
import csv
import re
import sys
from pathlib import Path

KERNELS = {"globalLoad": "ld", "globalStore": "st", "sharedLoad": "ld", "sharedStore": "st", "asyncCopy": "ldgsts"}
SECTORS_PER_REQUEST = "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_{}.ratio"
GLOBAL_REQUESTS = "l1tex__t_requests_pipe_lsu_mem_global_op_{}.sum"
SHARED_REQUESTS = "smsp__inst_executed_op_shared_{}.sum"
WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{}.sum"
METRICS = [metric.format(op) for metric in (SECTORS_PER_REQUEST, GLOBAL_REQUESTS, SHARED_REQUESTS, WAVEFRONTS, CONFLICTS)
           for op in ("ld", "st")]
COPY_REQUESTS = "smsp__inst_executed_op_ldgsts.sum"
COPY_WAVEFRONTS = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum"
METRICS += [COPY_REQUESTS, COPY_WAVEFRONTS]


def number(text):
    if text is None:
        raise ValueError("a line of the counts ends too early")
    return float(text.replace(",", ""))


def read_predictions(path):
    """The program's rows, in the order of the launches."""
    lines = [line for line in Path(path).read_text().splitlines() if not line.startswith("#")]
    return list(csv.DictReader(lines))


def read_launches(path):
    """[(kernel, {metric: value})] of all launches in a log of ncu, in their order."""
    lines = Path(path).read_text().splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        raise ValueError(f"{path}: no line begins with \"ID\": is it the log of ncu --csv?")
    launches = {}
    for row in csv.DictReader(line for line in lines[start:] if line.startswith('"')):
        launches.setdefault(int(row["ID"]), (row["Kernel Name"], {}))[1][row["Metric Name"]] = number(row["Metric Value"])
    return [launches[launch] for launch in sorted(launches)]


def read_counts(path):
    """The same of the program's kernels."""
    found = ((re.search(r"\b(%s)\b" % "|".join(KERNELS), kernel), counts) for kernel, counts in read_launches(path))
    return [(kernel.group(1), counts) for kernel, counts in found if kernel]


def comparisons(prediction, counts):
    """(what, predicted, counted) of one launch; all but the requests are per request."""
    op = KERNELS[prediction["kernel"]]
    requests = int(prediction["requests"])
    warps = int(prediction["warps"])
    if prediction["kernel"].startswith("global"):
        yield "requests", requests * warps, counts[GLOBAL_REQUESTS.format(op)]
        yield "sectors", int(prediction["sectors"]) / requests, counts[SECTORS_PER_REQUEST.format(op)]
    elif prediction["kernel"] == "asyncCopy":
        counted = counts[COPY_REQUESTS]
        yield "requests", requests * warps, counted
        yield "wavefronts", int(prediction["wavefronts"]) / requests, counts[COPY_WAVEFRONTS] / counted if counted else 0
    else:
        counted = counts[SHARED_REQUESTS.format(op)]
        yield "requests", requests * warps, counted
        for what, metric in (("wavefronts", WAVEFRONTS), ("conflicts", CONFLICTS)):
            yield what, int(prediction[what]) / requests, counts[metric.format(op)] / counted if counted else 0


# A sharedLoad kernel also stores, to have something to load, and a sharedStore kernel loads: the other operation of a
# launch is not looked at.
def compare(predictions, launches, tolerance):
    """(prediction, what, predicted, counted, whether they agree) of everything."""
    if len(predictions) != len(launches):
        raise ValueError(f"{len(predictions)} predictions, but {len(launches)} launches were profiled")
    for prediction, (kernel, counts) in zip(predictions, launches):
        if kernel != prediction["kernel"]:
            raise ValueError(f"launch {prediction['launch']} is {kernel}, but {prediction['kernel']} was predicted")
        for what, predicted, counted in comparisons(prediction, counts):
            yield prediction, what, predicted, counted, abs(predicted - counted) <= tolerance * max(predicted, 1)


def parse(description, metrics, predictions, tolerance, whole, **flags):
    """The arguments of a comparison: two files, a tolerance relative to `whole`, and flags with their help. With
    --metrics it prints those and ends the program."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("predictions", nargs="?", help=predictions)
    parser.add_argument("counts", nargs="?", help="the log of ncu --csv")
    parser.add_argument("--metrics", action="store_true", help="print the metrics for ncu, and nothing else")
    parser.add_argument("--all", action="store_true", help="show what agrees, too")
    parser.add_argument("--tolerance", type=float, default=tolerance, help=f"relative, of {whole} ({tolerance})")
    for flag, text in flags.items():
        parser.add_argument(f"--{flag}", action="store_true", help=text)
    arguments = parser.parse_args()
    if arguments.metrics:
        print(",".join(metrics))
        sys.exit(0)
    if arguments.counts is None:
        parser.error("two files are needed")
    return arguments


def main():
    arguments = parse(__doc__.splitlines()[0], METRICS, "access_bench.csv", 0.005, "what is predicted")
    rows = list(compare(read_predictions(arguments.predictions), read_counts(arguments.counts), arguments.tolerance))
    shown = [row for row in rows if arguments.all or not row[4]]
    if shown:
        print("| kernel | element | pattern | per request | predicted | counted | |\n|---|---|---|---|---|---|---|")
    for prediction, what, predicted, counted, agrees in shown:
        name = "all requests" if what == "requests" else what
        print(f"| {prediction['kernel']} | {prediction['type']} | {prediction['case']} | {name} | {predicted:g} | {counted:g} "
              f"| {'' if agrees else 'differs'} |")
    differing = sum(not row[4] for row in rows)
    print(f"{len(rows) - differing} of {len(rows)} agree", file=sys.stderr)
    return 1 if differing else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, ValueError, KeyError) as error:
        sys.exit(f"compare_access: {error}")
