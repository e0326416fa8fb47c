#!/usr/bin/env python3
"""Compares two runs of a benchmark on one GPU: what has become slower or faster, beyond the noise of both runs.

Usage: bench_compare.py <old.csv> <new.csv> [--least PERCENT] [--sigmas N] [--all]
       bench_compare.py <old folder> <new folder>    files of the same names

Exits with 1 if a case of gpuopt is slower (the gate), with 2 if the runs cannot be compared.

A case is slower if the change of its median, less the drift of the machine, exceeds both PERCENT (2) and N (4) standard
deviations of what runs of the same code differ by. Peers, whose code is the same in both runs, tell both:

- drift: the median change of a case's peers, or of all in its mode where the case has none: clocks, temperature
- deviation: the scatter of the peers' changes about the drift of their mode, the spread of the samples of both runs (from
  their 10th and 90th percentiles), and one tick of the events' clock, 32 ns, all added in squares

Peers whose version differs, as the headers tell, count for nothing. With fewer than 5 in a mode, the drift is 0, and the
scatter that of two runs of reduce_bench on an H200 (2026-11-23): 2 %, of wall times 5 %.
SPDX-License-Identifier: MIT
"""

import argparse
import csv
import math
import statistics
import sys
from dataclasses import dataclass
from pathlib import Path

OURS = "gpuopt"
LEAST_SAMPLES = 11  # of the benchmarks; more of them make a median less noisy than is assumed here
TICK_US = 0.032
COMPARABLE = ("program", "gpu")
LEAST_PEERS = 5
SCATTER, WALL_SCATTER = 0.02, 0.05  # without peers
CCCL = ("cub", "thrust")  # how the names of its functions begin, in lower case


class NotComparable(Exception):
    pass


@dataclass(frozen=True)
class Time:
    """A median of a run, and the standard error of its logarithm."""

    median: float
    error: float


@dataclass(frozen=True)
class Change:
    """Of one case: the logarithm of new over old, without drift, and what of it may be noise."""

    case: str
    old: float
    new: float
    change: float
    deviation: float

    def is_beyond(self, least, sigmas):
        return abs(self.change) > max(math.log1p(least / 100), sigmas * self.deviation)


def standard_error(median, low, high, unit):
    """Of the logarithm of a median of samples, whose 10th and 90th percentiles are 2.563 deviations apart."""
    ofSamples = max(0.0, high - low) / 2.563 / median
    tick = TICK_US / median if unit == "us" else 0.0
    return math.hypot(1.2533 * ofSamples / math.sqrt(LEAST_SAMPLES), tick / math.sqrt(12))


class Run:
    """A file: its header, and {(mode, case, candidate): Time}."""

    def __init__(self, path):
        lines = Path(path).read_text().splitlines()
        self.header = dict(line[2:].split(": ", 1) for line in lines if line.startswith("# "))
        rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
        self.times = {}
        if not rows:
            return
        fields = list(rows[0])
        name = next((it for it in ("candidate", "method") if it in fields), None)
        unit = next((it for it in ("us", "cycles") if it in fields), None)
        if name is None or unit is None:
            raise NotComparable(f"{path}: no columns of candidates and times")
        keys = [it for it in fields[:fields.index(unit)] if it not in (name, "bytes", "mode")]
        low, high = fields[fields.index(unit) + 1:][:2]
        for row in rows:
            if not row[unit] or float(row[unit]) <= 0:
                continue
            median = float(row[unit])
            spread = (float(row[low] or median), float(row[high] or median))
            case = " ".join(row[key] for key in keys if row[key])
            self.times[row.get("mode", "all"), case, row[name]] = Time(median, standard_error(median, *spread, unit))


def is_ours(candidate):
    return candidate == OURS or candidate.startswith(OURS + " ")


def peer_changes(old, new):
    """{mode: {case: [change of each peer]}}, of those that have the same version in both runs."""
    def has_same(*names):
        return all(old.header.get(name) == new.header.get(name) for name in names)

    isSame = {True: has_same("cccl", "cuda", "driver"), False: has_same("cuda", "driver")}
    found = {}
    for key in sorted(old.times.keys() & new.times.keys()):
        mode, case, candidate = key
        if not is_ours(candidate) and isSame[candidate.lower().startswith(CCCL)]:
            change = math.log(new.times[key].median / old.times[key].median)
            found.setdefault(mode, {}).setdefault(case, []).append(change)
    return found


class Drift:
    """What the peers of a mode say about the machine."""

    def __init__(self, mode, ofCase):
        every = [change for changes in ofCase.values() for change in changes]
        self.peers = len(every) if len(every) >= LEAST_PEERS else 0
        self.ofCase, self.common, self.scatter = {}, 0.0, WALL_SCATTER if "wall" in mode else SCATTER
        if self.peers:
            self.ofCase = ofCase
            self.common = statistics.median(every)
            # From the median distance, which outliers do not move.
            self.scatter = 1.4826 * statistics.median(abs(change - self.common) for change in every)

    def of(self, case):
        """The drift of a case, and the deviation of a change from it."""
        if case not in self.ofCase:
            return self.common, self.scatter
        return statistics.median(self.ofCase[case]), self.scatter * math.sqrt(1 + 1 / len(self.ofCase[case]))


def compare(old, new):
    """(changes of gpuopt's cases, {mode: Drift})"""
    for name in COMPARABLE:
        if old.header.get(name) != new.header.get(name):
            raise NotComparable(f"{name}: {old.header.get(name)} and {new.header.get(name)}")
    keys = sorted(key for key in old.times.keys() & new.times.keys() if is_ours(key[2]))
    if not keys:
        raise NotComparable("no case of gpuopt is in both")
    peers = peer_changes(old, new)
    drifts = {mode: Drift(mode, peers.get(mode, {})) for mode in sorted({mode for mode, *_ in keys})}
    changes = []
    for mode, case, candidate in keys:
        first, second = old.times[mode, case, candidate], new.times[mode, case, candidate]
        drift, scatter = drifts[mode].of(case)
        changes.append(Change(" ".join(filter(None, (case, mode, candidate.removeprefix(OURS).strip()))), first.median,
                              second.median, math.log(second.median / first.median) - drift,
                              math.hypot(scatter, first.error, second.error)))
    return changes, drifts


def percent(logarithm):
    return f"{100 * math.expm1(logarithm):+.1f} %"


def report(name, old, new, options):
    """Prints what has changed; whether something is slower."""
    changes, drifts = compare(old, new)
    beyond = [it for it in changes if it.is_beyond(options.least, options.sigmas)]
    slower = [it for it in beyond if it.change > 0]
    mean = sum(it.change for it in changes) / len(changes)
    print(f"{name}: {len(changes)} cases, {len(slower)} slower, {len(beyond) - len(slower)} faster; mean {percent(mean)}")
    for mode, drift in drifts.items():
        print(f"  {mode}: {drift.peers} peers, {percent(drift.common)} +- {100 * drift.scatter:.1f}")
    for it in sorted(changes if options.all else beyond, key=lambda it: -it.change):
        print(f"  {percent(it.change):>9} +- {100 * it.deviation:.1f}  {it.old:.3f} -> {it.new:.3f}  {it.case}")
    gone = [case for _, case, candidate in old.times.keys() - new.times.keys() if is_ours(candidate)]
    if gone:
        print(f"  {len(gone)} cases of the old run are not in the new one, such as {min(gone)}")
    return bool(slower)


def pairs(old, new):
    """(name, old file, new file) of two files or folders."""
    if not Path(old).is_dir():
        return [(Path(new).stem, old, new)]
    files = [file.relative_to(old) for file in sorted(Path(old).rglob("*_bench.csv"))]
    found = [(str(file.with_suffix("")), Path(old) / file, Path(new) / file) for file in files if (Path(new) / file).exists()]
    if not found:
        raise NotComparable(f"no file *_bench.csv is in both {old} and {new}")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--least", type=float, default=2, metavar="PERCENT")
    parser.add_argument("--sigmas", type=float, default=4, metavar="N")
    parser.add_argument("--all", action="store_true", help="print every case")
    options = parser.parse_args()
    try:
        slower = [report(name, Run(old), Run(new), options) for name, old, new in pairs(options.old, options.new)]
    except (NotComparable, OSError) as error:
        print(f"bench_compare: {error}", file=sys.stderr)
        return 2
    return int(any(slower))


if __name__ == "__main__":
    sys.exit(main())
