"""bench_pages.py writes tables from the results of benchmarks: tests/scripts/bench_samples has small ones, with round
times that nothing has measured, of two GPUs that do not exist.

SPDX-License-Identifier: MIT
"""

import contextlib
import io
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = Path(__file__).resolve().parent / "bench_samples"
sys.path.insert(0, str(ROOT / "scripts"))

import bench_chart  # noqa: E402
import bench_grid  # noqa: E402
import bench_pages  # noqa: E402
import bench_results  # noqa: E402
from bench_tables import TABLES, Table  # noqa: E402

PENDING = "<!-- typed by hand until there are results: it -->\n\nTyped.\n\n<!-- to here -->\n"


def samples():
    return bench_results.load(SAMPLES)


def table_of(name):
    return bench_pages.written(TABLES[name], samples())


class Figures(unittest.TestCase):
    """Ratios and shares, worked out by hand from the samples."""

    def check(self, name, *rows):
        text = table_of(name)
        for row in rows:
            self.assertIn(f"\n| {row} |\n", text)

    def test_sums_by_mode(self):
        # CUB takes 1.25 times as long for floats and 1.5 times for halves: sqrt(1.25 * 1.5) = 1.37.
        self.check("sums_modes", "wall | X200 | 1.37 | 0.90 (half 2^10) | 2 | 1.50 | 2.00",
                   "wall | Y100 | 1.37 | 0.90 (float 2^10) | 2 |  | 2.00")

    def test_several_gpus(self):
        self.check("distributed", "barrier | 3.00 | 6.00 |  |  |  | ",
                   "sum of 1 KiB of floats on each | 4.00 | 8.00 | 6.00 | 1.00 | 1.50 | 2.50")
        self.check("distributed_four", "sum of 1 KiB of floats on each | 5.00 | 8.00 | 6.00 | 1.00 | 1.20")
        self.assertIn("\n| 4 GPUs, in a graph |", table_of("distributed_four"))
        self.assertIn("\nCommand: `distributed_bench`; X200,", table_of("distributed_four"))

    def test_transpositions_of_several_gpus(self):
        self.check("distributed_transpose", "4096 x 2048 of type float, 16 MiB on each | 40.0 | 0.75 | 40.0 | 50.0 | 80.0 | "
                   "70.0 | 1.75 | 3.00")
        self.check("distributed_transpose_four", "8192 x 2048 of type float, 16 MiB on each | 50.0 | 0.60 | 50.0 | 50.0 | "
                   "80.0 | 70.0 | 1.40")

    def test_sums_by_length(self):
        self.check("sums_floats", "2^14 | 64 KiB | X200 | 4.02 | 16 | 1.25 | 1.25 | 1.25 | 1.25")
        # Every second exponent; of sums in an order of their own, every fourth.
        self.assertIn("\n| 2^12 |", table_of("sums_floats"))
        self.assertNotIn("\n| 2^12 |", table_of("sums_deterministic"))

    def test_deterministic_sums(self):
        self.check("sums_deterministic", "2^10 | X200 | 1.25 | 3.00 | 1.25 | 3.00 | 1.25 | 3.00")

    def test_large_sums_are_side_by_side(self):
        self.check("sums_large", "float | 3941 | 2628 | 1.25 | 1.25 | 3985 | 2657 | 1.25 | 1.25")

    def test_forms(self):
        self.check("forms", "`dot` | `cub::DeviceReduce::TransformReduce` | 0.996 | 1.10")
        self.check("misaligned", "half | 1.010 | 2.00")
        self.check("wall", "2^14 | 7.5 | 8.0 | 7.0 | 21.0 | 28.0")

    def test_matrices(self):
        self.check("matrices", "64 | 0.85 | 1.90 | 14.0 | 0.96 | 0.81 | 0.90")
        self.check("statistics", "64 | 0.52")

    def test_block(self):
        self.check("block", "float, 256 | 200 | 400 | 0.50 | 300 | 400 | 0.75")

    def test_transpositions(self):
        self.check("transpositions", "16383 x 16385 |  | 0.850 |  | 0.92", "N x k, the same |  | 0.893 |  | 0.95",
                   "N x k, other lines |  | 0.862 |  | 0.95")
        self.check("cublas", "small, hot | 2.06 |  | ")
        self.check("images", "3136 x 256 | 0.962 | 0.977 | 2.00 | 1.25")
        self.check("small", "64 | 0.97, -0.10")
        self.check("functions", "float to half | 1.033")
        self.check("in_place", "4 bytes | 0.911 | 0.895 | 0.250")

    def test_permutations(self):
        # sqrt(0.96 * 0.75) = 0.849; cuTENSOR: sqrt(0.8 * 0.8).
        self.check("permutations", "ttc | 1 byte | 1 | 0.800 | 0.800 |  | ",
                   "ttc | 4 bytes | 2 | 0.849 | 0.750 | 0.800 | 1", "ml | 4 bytes | 1 | 0.960 | 0.960 | 0.480 | 0")

    def test_structures(self):
        self.check("structs", "words | 64 | 4 | 0.996 | 6.00 | 5.00 | 6.00 | 5.86")
        self.check("struct_groups", "words, 4 to 96 bytes | 1 | 0.996 | 0.98 | 6.00 | 5.00 | 6.00 | 5.86")
        self.check("gathers", "48, 16 | 1.10 (1.25) | 2148 | 1.40 | 1074")
        self.check("inverses", "1048576 | 35.0 | 0.914 | 20.0")
        self.check("soa", "3 x 4, begin off a boundary | 0.944 |  | 1.07 |  |  |  | ")

    def test_histograms(self):
        self.check("histograms", "floats | 2^12 | 0.960 | 1.000 | 2.00 to 12.0", "floats | 2^24 | 0.100 |  | ",
                   "pixels of three bytes | 3 x 256 | 0.950 |  | 3.60")
        self.check("few_samples", "2^10 | 256 | 2.00 | 2.00")

    def test_reductions_by_keys(self):
        self.check("reductions_by_keys", "sums of floats | 2^10 | 0.960 | 0.800 | 10.0 to 14.0",
                   "sums of floats, `FastSums` | 2^15 | 0.750 |  | ")
        self.check("few_pairs", "2^10 | 7.00 | 2.00", "2^14 |  | 3.00")

    def test_functions_of_elements(self):
        self.check("maps", "`transform` | 1 to 4 | 0.970 | 1.09 | 1.18",
                   "`forEach`, only read | 4 | 0.992 | 1.25 | 1.04")
        self.assertTrue(table_of("maps").startswith("\n## Functions of elements\n"))

    def test_transfers(self):
        self.check("transfers", "1 GiB | 0.859 | 5.00 | 4.00 | 0.895 | 2.50")
        self.check("blocks", "4096 | 1024 | 0.839 | 30.0 | 11.0 | 0.932 | 5.00")
        self.check("pinned_sums", "4 KiB | 9.0 | 1.20")

    def test_pipelines(self):
        self.check("pipelines", "`streamReduce` | pinned | 1 GiB | 53.7 | 0.990 | 1.25 | 1.50",
                   "`streamTransform` | pageable | 64 MiB | 67.1 | 0.660 | 4.00 | 5.00")
        self.check("frames", "ring, copies | 200 | 250 | 0", "serial, copies | 220 | 260 | 3")

    def test_torch(self):
        self.check("torch", "sum of n floats | float | 2^20 | `torch.sum` | 200.0 | 1.50")

    def test_overview(self):
        self.check("overview", "sum of 4 GiB of floats | `cub::DeviceReduce::Reduce` | `reduce_bench` | 3985 GB/s | 1.25",
                   "sums of floats with the same bits on every GPU: all lengths | `cub::DeviceReduce::Reduce gpu_to_gpu` "
                   "| `reduce_bench` | ratios alone | 1.5 to 3.0",
                   "sums of rows of 64 floats, 1 GiB | `cub::DeviceSegmentedReduce::Sum segment_size` "
                   "| `reduce_matrix_bench` | 0.85 of a plain sum's GB/s | 1.90",
                   "transposition of 16384 x 16384 floats | `cublasSgeam` | `transpose_bench` "
                   "| 0.98 of the best copy's GB/s | 1.05",
                   "structures of 64 bytes, read, changed and written | `cub::DeviceTransform::Transform` "
                   "| `struct_bench` | 1.00 of the best copy's GB/s | 5.00",
                   "inverses of 2^20 matrices of 4 x 4 floats | `cublasSmatinvBatched` | `struct_inverse_bench` "
                   "| 0.91 of the best copy's GB/s | 20.0")
        self.assertIn("; NVIDIA X200, driver 1.2.3, CUDA 13.0, CCCL 3.5.0, 2000-01-02.",
                      table_of("overview").replace("\n", " "))

    def test_every_table_has_a_sample(self):
        self.assertEqual([name for name in TABLES if not table_of(name)], [])


class Chart(unittest.TestCase):
    def test_shares(self):
        # 3985 GB/s of a copy's 4000, and CUB takes 1.25 times as long; a copy through the link has 50.
        results = bench_chart.load(SAMPLES / "x200")
        ours, peer = bench_chart.shares(results, bench_chart.BARS[0])
        self.assertAlmostEqual(ours, 3985 / 4000, 3)
        self.assertAlmostEqual(peer, 3985 / 4000 / 1.25, 3)
        self.assertEqual(bench_chart.copy_speed(results, "transfer_bench"), 50)

    def test_is_of_the_results(self):
        results = bench_chart.load(ROOT / "benchmarks/results/h200")
        expected = [bench_chart.label(share, name) for bar in bench_chart.BARS
                    for share, name in zip(bench_chart.shares(results, bar), ("gpuopt", bar.library))]
        for theme in ("light", "dark"):
            with self.subTest(theme):
                text = (ROOT / f"docs/images/overview_{theme}.svg").read_text()
                self.assertEqual(re.findall(r">(\d\.\d\d\s+[A-Za-z ]+)</text>", text), expected,
                                 "call scripts/plot_overview.py")


class Columns(unittest.TestCase):
    """The samples have the columns that the programs write."""

    def columns(self, name):
        lines = (SAMPLES / "x200" / f"{name}.csv").read_text().splitlines()
        return next(line for line in lines if not line.startswith("#"))

    def literals(self, source):
        text = (ROOT / "benchmarks" / source).read_text()
        return re.findall(r'"([a-z][a-z0-9_]*(?:,[a-z0-9_]+)*,?)', text)

    def test_report(self):
        self.assertIn(self.columns("reduce_bench"), self.literals("support/report.cuh"))
        self.assertIn(self.columns("block_reduce_bench"), self.literals("block_reduce_bench.cu"))

    def test_goal_report(self):
        both = next(line for line in (ROOT / "benchmarks/support/goal_report.cuh").read_text().splitlines()
                    if '"case,element,"' in line)
        first, last = re.findall(r'"([^"\\]+)', both)[0], re.findall(r'"(,bytes[^"\\]+)', both)[0]
        for program, own in {"transpose_bench": "rows,cols,in_ld,out_ld,batch", "map_bench": "n",
                             "permute_bench": "name", "soa_bench": "n",
                             "struct_bench": "n,align,in_offset,out_offset", "struct_inverse_bench": "n",
                             "transfer_bench": "n"}.items():
            self.assertEqual(self.columns(program), first + own + last)
            report = f"support/{program.removesuffix('_bench')}_report.cuh"
            sources = report if program in ("permute_bench", "transpose_bench") else f"{program}.cu"
            self.assertIn(own, self.literals(sources))

    def test_names_of_candidates(self):
        """Every peer of the samples is one that some program has."""
        text = "".join(path.read_text() for kind in ("*.cu", "*.cuh", "*.py") for path in (ROOT / "benchmarks").rglob(kind))
        for results in samples():
            for run in results.runs.values():
                for name in {row["candidate"] for row in run.rows if "candidate" in row}:
                    self.assertIn(f'"{name}"', text)


class Grids(unittest.TestCase):
    def grid(self, *rows):
        grid = bench_grid.Grid(["n"], ["a", "b"])
        for key, *values in rows:
            grid.add([key], values)
        return grid

    def test_empty_columns_and_rows_are_left_out(self):
        self.assertEqual(bench_grid.markdown({"X": self.grid(("1", "2", ""), ("3", "", ""))}),
                         ["| n | a |", "|---|---|", "| 1 | 2 |"])

    def test_side_by_side(self):
        self.assertEqual(bench_grid.markdown({"X": self.grid(("1", "2", "3")), "Y": self.grid(("1", "4", "5"), ("6", "7", ""))}),
                         ["| n | a, X | a, Y | b, X | b, Y |", "|---|---|---|---|---|", "| 1 | 2 | 4 | 3 | 5 |",
                          "| 6 |  | 7 |  |  |"])

    def test_nothing(self):
        self.assertEqual(bench_grid.markdown({"X": self.grid()}), [])

    def test_numbers(self):
        self.assertEqual([bench_results.number(value) for value in (1.316, 14.04, 101.4, 0.05, -0.1, 0, None)],
                         ["1.32", "14.0", "101", "0.05", "-0.10", "0.00", ""])
        self.assertEqual(bench_results.spread([1.2, None, 1.1]), "1.10 to 1.20")
        self.assertEqual(bench_results.spread([1.2, 1.201]), "1.20")
        self.assertEqual([bench_results.size(n) for n in (512, 4096, 1 << 30)], ["512 bytes", "4 KiB", "1 GiB"])
        self.assertEqual([bench_results.power(n) for n in (8, 1000, 1 << 14)], ["8", "1000", "2^14"])

    def test_gpus(self):
        names = ["NVIDIA H200", "NVIDIA H100 80GB HBM3", "NVIDIA GeForce RTX 4090", "NVIDIA A100-SXM4-80GB"]
        self.assertEqual([bench_results.folder_of({"gpu": name}) for name in names], ["h200", "h100", "rtx4090", "a100"])
        with tempfile.TemporaryDirectory() as folder:
            for name in ("a100", "h100", "h200"):
                (Path(folder) / name).mkdir()
            self.assertEqual([results.gpu for results in bench_results.load(folder)], ["h200", "h100", "a100"])


class Pages(unittest.TestCase):
    def setUp(self):
        self.table = {"it": Table("page.md", ("reduce_matrix_bench",), TABLES["matrices"].grid)}
        self.text = bench_pages.written(self.table["it"], samples())

    def problems(self, text, found=None, tables=None):
        return list(bench_pages.problems({"page.md": text}, tables or self.table, samples() if found is None else found))

    def test_writes_and_is_then_right(self):
        page = bench_pages.replaced(f"# Page\n\n{PENDING}\nMore.\n", {"it": self.text})
        self.assertIn("<!-- bench_pages.py writes: it -->\n\nCommand: `reduce_matrix_bench`; X200, 2000-01-02.\n\n| row", page)
        self.assertTrue(page.startswith("# Page\n") and page.endswith("<!-- to here -->\n\nMore.\n"))
        self.assertNotIn("Typed.", page)
        self.assertEqual(self.problems(page), [])
        self.assertEqual(bench_pages.replaced(page, {"it": self.text}), page)

    def test_without_results_the_typed_table_stays(self):
        self.assertEqual(bench_pages.replaced(PENDING, {"it": None}), PENDING)
        self.assertEqual(self.problems(PENDING, []), [])

    def test_stale(self):
        stale = "page.md: the table it is stale: call scripts/bench_pages.py"
        page = bench_pages.replaced(PENDING, {"it": self.text})
        self.assertEqual(self.problems(page.replace("0.85", "0.86")), [stale])
        self.assertEqual(self.problems(PENDING), [stale])
        self.assertEqual(self.problems(page.replace("bench_pages.py writes", "typed by hand until there are results")),
                         [stale])

    def test_figures_without_results(self):
        page = bench_pages.replaced(PENDING, {"it": self.text})
        self.assertEqual(self.problems(page, []),
                         ["page.md: the table it has figures, but no results: reduce_matrix_bench"])

    def test_places(self):
        self.assertEqual(self.problems("", []), ["page.md: there must be one place for the table it"])
        self.assertEqual(self.problems(PENDING * 2, []), ["page.md: there must be one place for the table it"])
        self.assertEqual(self.problems(PENDING + PENDING.replace(": it", ": other"), []),
                         ["page.md: nothing writes the table other"])


class Command(unittest.TestCase):
    """The whole script, on copies of the pages."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        (self.root / bench_pages.RESULTS).mkdir(parents=True)
        for page in ("docs/distributed.md", "docs/performance.md"):
            (self.root / page).parent.mkdir(exist_ok=True)
            text = (ROOT / page).read_text()
            (self.root / page).write_text(text.replace("bench_pages.py writes:", "typed by hand until there are results:"))

    def call(self, *words):
        return subprocess.run([sys.executable, "-B", ROOT / "scripts/bench_pages.py", "--root", self.root, *words],
                              capture_output=True, text=True)

    def test_takes_writes_and_checks(self):
        done = self.call("--check")
        self.assertEqual((done.returncode, done.stdout.count("\n")), (0, 1), done.stdout)
        self.assertIn("not generated yet, no results: overview, ", done.stdout)
        run = self.root / "run"
        shutil.copytree(SAMPLES / "x200", run)
        done = self.call(run)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("benchmarks/results/x200/toolkit/reduce_bench.csv\n", done.stdout)
        self.assertIn("benchmarks/results/x200/gpus4/distributed_bench.csv\n", done.stdout)
        self.assertNotIn("not generated", done.stdout)
        self.assertIn("| 64 | 0.85 | 1.90 |", (self.root / "docs/performance.md").read_text())
        self.assertEqual(self.call("--check").returncode, 0)
        (self.root / "benchmarks/results/x200/map_bench.csv").unlink()
        done = self.call("--check")
        self.assertEqual(done.returncode, 1)
        self.assertIn("the table maps has figures, but no results: map_bench", done.stdout)

    def test_runs_on_more_than_two_gpus_have_a_folder(self):
        places = [str(bench_pages.place_of(Path("it.csv"), {"gpu": "NVIDIA X200", **gpus}))
                  for gpus in ({}, {"gpus": "2"}, {"gpus": "8"})]
        self.assertEqual(places, ["x200/it.csv", "x200/it.csv", "x200/gpus8/it.csv"])

    def test_quick_runs_are_refused(self):
        run = self.root / "run"
        run.mkdir()
        text = (SAMPLES / "x200/map_bench.csv").read_text()
        (run / "map_bench.csv").write_text(text.replace("command: map_bench", "command: map_bench --quick"))
        with self.assertRaisesRegex(SystemExit, "is of a quick run: map_bench --quick"), \
                contextlib.redirect_stdout(io.StringIO()):
            bench_pages.take(run, self.root)


if __name__ == "__main__":
    unittest.main()
