"""experiment_pages.py writes the tables of the experiments' pages. The figures here are invented.

SPDX-License-Identifier: MIT
"""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "experiment_pages.py"

CSV = """\
# program: experiments
# gpu: NVIDIA X200
# driver: 1.2
# cuda: 13.0
# date: 2026-01-02
# command: build/experiments_native alchemy --csv out.csv
experiment,table,row,then,predicted,measured,value,right,headings
alchemy,"Lead, by stones","1","8","","gold, g",12.3456,yes,"stones | then | "
alchemy,"Lead, by stones","1","8","","us",2000,yes,"stones | then | "
alchemy,"Lead, by stones","__two__","","","gold, g",123456,yes,"stones | then | "
alchemy,"Lead, by stones","__two__","","","us",0.01234,yes,"stones | then | "
alchemy,"Nothing measured","sum","","|1|","",,yes,"what |  | predicted"
brewing,"Beer","cold","","","l",1,yes,"how |  | "
"""

PAGE = """\
# alchemy

<!-- experiment_pages.py writes: alchemy 1 -->
<!-- to here -->
<!-- experiment_pages.py writes: alchemy 2 -->
old
<!-- to here -->
<!-- experiment_pages.py writes: alchemy run -->
<!-- to here -->
"""

WRITTEN = """\
# alchemy

<!-- experiment_pages.py writes: alchemy 1 -->

**Lead, by stones**

| stones | then | gold, g | us |
|---|---|---|---|
| 1 | 8 | 12.3 | 2000 |
| \\_\\_two\\_\\_ |  | 123000 | 0.0123 |

<!-- to here -->
<!-- experiment_pages.py writes: alchemy 2 -->

**Nothing measured**

| what | predicted |
|---|---|
| sum | \\|1\\| |

<!-- to here -->
<!-- experiment_pages.py writes: alchemy run -->

NVIDIA X200, driver 1.2, CUDA 13.0, 2026-01-02; command: `experiments_native alchemy --csv out.csv`.

<!-- to here -->
"""

# A later run of another GPU, with other figures and a table more.
NEXT_GPU = """\
# program: experiments
# gpu: NVIDIA Y300
# driver: 3.4
# cuda: 14.0
# date: 2026-05-06
# command: build/experiments_native alchemy --csv next.csv
experiment,table,row,then,predicted,measured,value,right,headings
alchemy,"Lead, by stones","1","8","","gold, g",77.7,yes,"stones | then | "
alchemy,"Nothing measured","sum","","|2|","",,yes,"what |  | predicted"
alchemy,"Silver","moon","","","g",5.5,yes,"light |  | "
"""

THIRD_PLACE = """\
<!-- experiment_pages.py writes: alchemy 3 -->
<!-- to here -->
"""

THIRD_WRITTEN = """\
<!-- experiment_pages.py writes: alchemy 3 -->

**Silver**

NVIDIA Y300, driver 3.4, CUDA 14.0, 2026-05-06; command: `experiments_native alchemy --csv next.csv`.

| light | g |
|---|---|
| moon | 5.5 |

<!-- to here -->
"""


class ExperimentPages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.page = self.root / "docs" / "experiments" / "alchemy.md"
        self.page.parent.mkdir(parents=True)
        self.page.write_text(PAGE)
        (self.root / "benchmarks" / "results").mkdir(parents=True)
        self.csv = self.root / "out.csv"
        self.csv.write_text(CSV)

    def run_script(self, *arguments):
        return subprocess.run([sys.executable, "-B", SCRIPT, "--root", self.root, *arguments], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)

    def test_tables_are_written_from_a_run(self):
        done = self.run_script(self.csv)
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertEqual(self.page.read_text(), WRITTEN)
        self.assertEqual(self.run_script("--check").returncode, 0)

    def test_each_experiment_has_a_file(self):
        self.run_script(self.csv)
        results = self.root / "benchmarks" / "results" / "x200" / "experiments"
        self.assertEqual(sorted(file.name for file in results.iterdir()), ["alchemy.csv", "brewing.csv"])
        self.assertNotIn("alchemy,", (results / "brewing.csv").read_text())
        self.assertIn("# date: 2026-01-02", (results / "brewing.csv").read_text())

    def test_stale_tables_are_found(self):
        self.run_script(self.csv)
        self.page.write_text(WRITTEN.replace("12.3", "99"))
        done = self.run_script("--check")
        self.assertEqual(done.returncode, 1)
        self.assertIn("docs/experiments/alchemy.md: stale", done.stdout)
        self.assertIn("99", self.page.read_text())

    def test_empty_places_wait_for_a_run(self):
        self.page.write_text(PAGE.replace("old\n", ""))
        done = self.run_script("--check")
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.page.write_text(PAGE + "<!-- experiment_pages.py writes: alchemy 3 -->\n<!-- to here -->\n")
        self.assertEqual(self.run_script(self.csv).returncode, 0)
        self.assertTrue(self.page.read_text().endswith("alchemy 3 -->\n<!-- to here -->\n"))

    def test_a_table_that_the_first_gpu_lacks_comes_from_the_next(self):
        self.page.write_text(PAGE + THIRD_PLACE)
        other = self.root / "next.csv"
        other.write_text(NEXT_GPU)
        done = self.run_script(other, self.csv)
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertEqual(self.page.read_text(), WRITTEN + THIRD_WRITTEN)
        self.assertEqual(self.run_script("--check").returncode, 0)

    def test_tables_without_results_are_found(self):
        done = self.run_script("--check")
        self.assertEqual((done.returncode, done.stdout), (1, "docs/experiments/alchemy.md: no results of alchemy\n"))

    def test_runs_that_show_nothing_are_refused(self):
        for text, problem in ((CSV.replace(",yes,", ",no,"), "wrong"), (CSV.split("alchemy,")[0], "no times")):
            self.csv.write_text(text)
            done = self.run_script(self.csv)
            self.assertEqual(done.returncode, 1)
            self.assertIn(problem, done.stdout)
        self.assertEqual(self.page.read_text(), PAGE)


if __name__ == "__main__":
    unittest.main()
