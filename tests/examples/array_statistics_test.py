"""Runs the demo on files of every kind, good and bad, and looks at what it says.

Usage: array_statistics_test.py <executable>
SPDX-License-Identifier: MIT
"""

import re
import struct
import tempfile
import unittest
from pathlib import Path

from program import main, run


def noisy(n, modulus, seed=1):
    """Whole numbers without pattern, from 0 to modulus - 1."""
    values, state = [], seed
    for _ in range(n):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        values.append((state >> 33) % modulus)
    return values


class Demo(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def file(self, name, contents):
        path = Path(self.folder.name) / name
        path.write_bytes(contents if isinstance(contents, bytes) else contents.encode())
        return path

    def results(self, *arguments):
        """What the table says, by the names of its lines. The program must find everything right."""
        done = run(*arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertIn("All results agree.", done.stdout)
        self.assertRegex(done.stdout.splitlines()[0], r"^array_statistics on .")
        lines = re.findall(r"^  (count|sum|mean|variance|minimum|maximum) +(.*?)  .*ok$", done.stdout, re.MULTILINE)
        self.assertEqual(len(lines), 6, done.stdout)
        return dict(lines)

    def assert_refused(self, problem, *arguments):
        done = run(*arguments)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("array_statistics: "), done.stderr)
        self.assertIn(problem, done.stderr)
        self.assertNotIn("sum", done.stdout)

    def assert_statistics(self, found, values, minimum_at, maximum_at):
        mean = sum(values) / len(values)
        variance = sum((v - mean) ** 2 for v in values) / len(values)
        self.assertEqual(int(found["count"]), len(values))
        self.assertAlmostEqual(float(found["sum"]), sum(values), delta=1e-9 * sum(map(abs, values)))
        self.assertAlmostEqual(float(found["mean"]), mean, delta=1e-8 * (1 + abs(mean)))
        self.assertAlmostEqual(float(found["variance"]), variance, delta=1e-8 * (1 + variance))
        for name, value, place in (("minimum", min(values), minimum_at), ("maximum", max(values), maximum_at)):
            number, where = found[name].split(" at ")
            self.assertAlmostEqual(float(number), value, delta=1e-9 * abs(value))
            self.assertEqual(where, place)

    def check_picture(self, contents, values, width, channels):
        def place(i):
            channel = ", " + "RGB"[i % 3] if channels == 3 else ""
            return "(%d, %d%s)" % (i // channels % width, i // channels // width, channel)
        found = self.results(self.file("p.pnm", contents))
        self.assert_statistics(found, values, place(values.index(min(values))), place(values.index(max(values))))

    def check_raw(self, type_name, code, values, skip=0):
        path = self.file("raw.bin", b"\xa5" * skip + struct.pack("<%d%s" % (len(values), code), *values))
        found = self.results(path, "--type", type_name, "--skip", skip)
        self.assert_statistics(found, values, "index %d" % values.index(min(values)), "index %d" % values.index(max(values)))

    # Good files

    def test_without_argument_reads_the_shipped_picture(self):
        done = run()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("lake.pgm: grey picture, 512 x 384, 8 bit", done.stdout)
        self.assertEqual(self.results()["count"], "196608")

    def test_no_speed_on_the_emulated_device(self):
        output = run().stdout
        self.assertEqual("emulated" in output.splitlines()[0], "No times" in output)
        self.assertEqual("emulated" in output.splitlines()[0], "GB/s" not in output)

    def test_grey_text(self):
        values = noisy(35, 256)
        self.check_picture("P2 # a comment\n# another\n7 5\n255\n" + " ".join(map(str, values)) + "\n", values, 7, 1)

    def test_colour_text(self):
        values = noisy(4 * 3 * 3, 200)
        self.check_picture("P3\n4\t3\n199\n" + "\n".join(map(str, values)), values, 4, 3)

    def test_grey_binary(self):
        values = noisy(113 * 71, 256)
        self.check_picture(b"P5\n113 71 255\n" + bytes(values), values, 113, 1)

    def test_colour_binary(self):
        values = noisy(31 * 17 * 3, 256)
        self.check_picture(b"P6\n31 17\n# between\n255\n" + bytes(values), values, 31, 3)

    def test_sixteen_bits(self):
        values = noisy(91 * 13, 50000)
        self.check_picture(b"P5 91 13 49999\n" + struct.pack(">%dH" % len(values), *values), values, 91, 1)
        self.check_picture("P2 91 13 65535\n" + " ".join(map(str, values)), values, 91, 1)

    def test_samples_that_look_like_comments_and_space(self):
        values = [35, 32, 10, 35, 9, 35]
        self.check_picture(b"P5 3 2 255\n" + bytes(values), values, 3, 1)

    def test_column_by_number_and_name(self):
        rows = [(v / 8 - 3, -v) for v in noisy(1000, 997)]
        path = self.file("t.csv", "height, depth\r\n" + "".join("%r,%r\r\n" % row for row in rows))
        for column, index in (("2", 1), ("depth", 1), ("1", 0), ("height", 0)):
            values = [row[index] for row in rows]
            found = self.results(path, "--column", column)
            self.assert_statistics(found, values, "index %d" % values.index(min(values)), "index %d" % values.index(max(values)))

    def test_tables_without_header_with_other_delimiters_and_quotes(self):
        self.assertEqual(self.results(self.file("t.csv", "1\n2\n\n4\n"))["sum"], "7")
        self.assertEqual(self.results(self.file("t.txt", "a;b\n1;2\n3;5\n"), "--column", "b", "--delimiter", ";")["sum"], "7")
        self.assertEqual(self.results(self.file("t.tsv", "x\ty\n1\t2\n3\t6\n"), "--column", "y")["sum"], "8")
        self.assertEqual(self.results(self.file("t.csv", 'name,"n"\n"Doe, J",2.5\n"Roe, R",4\n'), "--column", "n")["sum"], "6.5")

    def test_raw_types(self):
        for type_name, code, bits in (("int8", "b", 8), ("int16", "h", 16), ("int32", "i", 32)):
            self.check_raw(type_name, code, [v - 2 ** (bits - 1) for v in noisy(1021, 2 ** min(bits, 31))])
        for type_name, code, bits in (("uint8", "B", 8), ("uint16", "H", 16), ("uint32", "I", 31)):
            self.check_raw(type_name, code, noisy(1021, 2 ** bits))
        self.check_raw("int64", "q", [v * 2 ** 20 - 2 ** 50 for v in noisy(1021, 2 ** 31)])
        self.check_raw("float", "f", [v / 1024 - 77 for v in noisy(5003, 2 ** 20)])
        self.check_raw("double", "d", [v / 3 - 1e5 for v in noisy(5003, 10 ** 6)])

    def test_raw_behind_a_header(self):
        self.check_raw("uint16", "H", noisy(300, 1000), skip=13)

    def test_one_number(self):
        self.check_raw("double", "d", [-2.5])

    def test_extremes_that_occur_twice_are_the_first(self):
        values = [5] * 3000
        values[1234] = values[2345] = 9
        values[777] = values[2999] = 1
        self.check_raw("int32", "i", values)

    def test_not_a_number_and_infinities(self):
        nan = self.file("nan.bin", struct.pack("<5f", 1, float("nan"), -3, float("nan"), 9))
        found = self.results(nan, "--type", "float")
        self.assertEqual(found["minimum"], "nan at index 1")
        self.assertEqual(found["maximum"], "nan at index 1")
        found = self.results(self.file("inf.csv", "1\ninf\n2\n"))
        self.assertEqual((found["sum"], found["minimum"], found["maximum"]), ("inf", "1 at index 0", "inf at index 1"))

    def test_help(self):
        done = run("--help")
        self.assertEqual(done.returncode, 0)
        self.assertIn("--column", done.stdout)

    # Bad files

    def test_missing(self):
        self.assert_refused("nowhere.pgm: no such file", Path(self.folder.name) / "nowhere.pgm")
        self.assert_refused("no such file", Path(self.folder.name) / "nowhere.csv")
        self.assert_refused("no such file", Path(self.folder.name) / "nowhere.bin", "--type", "float")
        self.assert_refused("is a directory", self.folder.name)

    def test_empty(self):
        self.assert_refused("the file is empty", self.file("e.pgm", ""))
        self.assert_refused("the file is empty", self.file("e.csv", ""))
        self.assert_refused("the file is empty", self.file("e.bin", ""), "--type", "int32")

    def test_other_formats(self):
        self.assert_refused("not a PGM or PPM", self.file("p.png", b"\x89PNG\r\n\x1a\n" + bytes(40)))
        self.assert_refused("not a PGM or PPM", self.file("p.pbm", "P4\n8 1\n\xff"))
        self.assert_refused("not a PGM or PPM", self.file("p.pgm", "P"))

    def test_truncated_pictures(self):
        self.assert_refused("truncated: the width is missing", self.file("p.pgm", "P5"))
        self.assert_refused("truncated: the height is missing", self.file("p.pgm", "P5 4"))
        self.assert_refused("truncated: the maximum is missing", self.file("p.pgm", "P5 4 4 # and that is all"))
        self.assert_refused("truncated: the picture has 16 samples, the file 0", self.file("p.pgm", "P5 4 4 255"))
        self.assert_refused("truncated: the picture has 16 samples, the file 15", self.file("p.pgm", b"P5 4 4 255\n" + bytes(15)))
        self.assert_refused("truncated: the picture has 48 samples, the file 47", self.file("p.ppm", b"P6 4 4 255\n" + bytes(47)))
        self.assert_refused("truncated: the picture has 16 samples, the file 15", self.file("p.pgm", b"P5 4 4 256\n" + bytes(31)))
        self.assert_refused("truncated: the picture has 4 samples, the file 3", self.file("p.pgm", "P2 2 2 255\n1 2 3\n"))
        self.assert_refused("truncated", self.file("p.pgm", b"P5 1000000000 1000000000 255\n" + bytes(100)))

    def test_malformed_pictures(self):
        self.assert_refused("malformed: the width is 0", self.file("p.pgm", "P2 0 2 255\n"))
        self.assert_refused("malformed: the width is not a number", self.file("p.pgm", "P2 wide 2 255\n"))
        self.assert_refused("malformed: the height is not a number", self.file("p.pgm", "P5 2 -2 255\n"))
        self.assert_refused("malformed: the height is 99999999999999999999", self.file("p.pgm", "P5 2 99999999999999999999 255\n"))
        self.assert_refused("malformed: the maximum is 65536", self.file("p.pgm", "P5 2 2 65536\n"))
        self.assert_refused("malformed: the maximum is 0", self.file("p.pgm", "P5 2 2 0\n"))
        self.assert_refused("malformed: sample 2 is not a number", self.file("p.pgm", "P2 2 2 255\n1 2 x 4\n"))
        self.assert_refused("malformed: sample 3 is 201", self.file("p.pgm", "P2 2 2 200\n1 2 3 201\n"))
        self.assert_refused("malformed: sample 1 is 201", self.file("p.pgm", b"P5 2 2 200\n" + bytes([1, 201, 3, 4])))

    def test_malformed_tables(self):
        table = self.file("t.csv", "a,b\n1,2\n3,x\n4\n")
        self.assert_refused("malformed: line 3: 'x' is not a number", table, "--column", "b")
        self.assert_refused("malformed: line 4 has 1 fields, column 2 is asked for",
                            self.file("u.csv", "a,b\n1,2\n3,4\n5\n"), "--column", "b")
        self.assert_refused("malformed: line 2: '' is not a number", self.file("v.csv", "a,b\n,2\n"), "--column", "a")
        self.assert_refused("has no column 'c' among its 2", table, "--column", "c")
        self.assert_refused("has no column '3' among its 2", table, "--column", "3")
        self.assert_refused("has no column '0' among its 2", table, "--column", "0")
        self.assert_refused("column 'a' has no numbers", self.file("w.csv", "a,b\n"), "--column", "a")

    def test_truncated_raw(self):
        path = self.file("raw.bin", bytes(10))
        self.assert_refused("truncated: 10 bytes less 0 are no multiple of 4, the size of float", path, "--type", "float")
        self.assert_refused("truncated: 10 bytes less 1 are no multiple of 2, the size of int16", path, "--type", "int16", "--skip", 1)
        self.assert_refused("nothing is left of 10 bytes after 10", path, "--type", "int16", "--skip", 10)

    def test_bad_options(self):
        path = self.file("raw.bin", bytes(16))
        self.assert_refused("complex", path, "--type", "complex")
        self.assert_refused("--skip", path, "--skip", "4")
        self.assert_refused("--type", path, "--type", "int8", "--column", "1")
        self.assert_refused("--colour", path, "--colour")
        self.assert_refused("--delimiter: one character", self.file("t.csv", "1\n"), "--delimiter", "ab")


if __name__ == "__main__":
    main()
