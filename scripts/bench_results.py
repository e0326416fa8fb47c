"""What the benchmarks have measured: the CSV files of benchmarks/results/<gpu>/, read for tables.

SPDX-License-Identifier: MIT
"""

import csv
import math
import re
from pathlib import Path

FIRST_GPUS = ["h200", "h100"]  # in the order of the columns; others follow
TOOLKIT = "toolkit/"           # before the name of a program that was built against the toolkit's own CCCL


class Run:
    """A file: its header, and its rows as dictionaries of text."""

    def __init__(self, text):
        lines = text.splitlines()
        self.header = dict(line[2:].split(": ", 1) for line in lines if line.startswith("# "))
        self.rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))

    def cases(self, **wanted):
        """[(case, {candidate: row})] of the cases whose fields have the wanted values; a case is a row of gpuopt's."""
        found = {}
        for row in self.rows:
            fields = list(row)
            same = [name for name in fields[:fields.index("candidate")] if name != "bytes"] + ["mode"]
            found.setdefault(tuple(row[name] for name in same), {})[row["candidate"]] = row
        for candidates in found.values():
            case = candidates.get("gpuopt") or next(iter(candidates.values()))
            if all(case[name] == str(value) for name, value in wanted.items()):
                yield case, candidates


class Results:
    """The runs of one GPU, by program."""

    def __init__(self, gpu, runs):
        self.gpu = gpu
        self.runs = runs

    def has(self, programs):
        return all(program in self.runs for program in programs)

    def cases(self, program, **wanted):
        """No cases where there is no such run."""
        return list(self.runs[program].cases(**wanted)) if program in self.runs else []

    def candidates(self, program, **wanted):
        """{candidate: row} of the one case; empty where there is none."""
        return next((candidates for _, candidates in self.cases(program, **wanted)), {})

    def header(self, program):
        return self.runs[program].header


def folder_of(header):
    """The folder of a run's results: h200 for NVIDIA H200, h100 for NVIDIA H100 80GB HBM3."""
    return re.search(r"[A-Z]+ ?\d+\w*", header["gpu"].removeprefix("NVIDIA ")).group().replace(" ", "").lower()


def load(folder):
    """[Results] of all GPUs in a folder of results."""
    found = []
    for gpu in sorted((path.name for path in Path(folder).iterdir() if path.is_dir()),
                      key=lambda name: (FIRST_GPUS.index(name) if name in FIRST_GPUS else len(FIRST_GPUS), name)):
        files = sorted((Path(folder) / gpu).rglob("*.csv"))
        runs = {str(file.relative_to(Path(folder) / gpu).with_suffix("")): Run(file.read_text()) for file in files}
        found.append(Results(gpu, runs))
    return found


def us(row):
    return float(row["us"])


def over(candidates, peer, ours="gpuopt"):
    """The peer's time over gpuopt's; None where one of them is missing."""
    return us(candidates[peer]) / us(candidates[ours]) if peer in candidates and ours in candidates else None


def mean(values):
    """The geometric mean."""
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def number(value, digits=2):
    """As in a table: three digits or more, nothing for None."""
    if value is None:
        return ""
    return f"{value:.{max(0, digits - max(0, int(math.log10(abs(value))) if abs(value) >= 1 else 0))}f}"


def spread(values, digits=2):
    """Least to greatest."""
    values = [value for value in values if value is not None]
    if not values:
        return ""
    least, most = number(min(values), digits), number(max(values), digits)
    return least if least == most else f"{least} to {most}"


def power(n):
    """2^14 for 16384, other numbers as they are."""
    exponent = n.bit_length() - 1
    return f"2^{exponent}" if n == 1 << exponent and exponent >= 10 else str(n)


def size(n):
    """Bytes as 64 KiB."""
    for unit in ("bytes", "KiB", "MiB"):
        if n < 1024 or n % 1024:
            return f"{n} {unit}"
        n //= 1024
    return f"{n} GiB"
