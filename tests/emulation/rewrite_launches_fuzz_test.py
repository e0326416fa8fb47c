"""rewrite_launches.py on damaged sources: it ends, raises nothing, and lines keep their numbers.

Usage: rewrite_launches_fuzz_test.py [<sources>]. The seed is fixed.
SPDX-License-Identifier: MIT
"""

import io
import random
import sys
import tempfile
import time
from contextlib import redirect_stderr
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "emulation"))
import rewrite_launches  # noqa: E402

SEEDS = ("tests/emulation/launch_syntax_test.cu", "tests/emulation/launch_syntax.cuh", "examples/picture_blur/picture_blur.cu")
TOKENS = ("<<<", ">>>", ">>>(", "<", ">", "(", ")", "[", "]", "{", "}", ";", ",", "::", ".", "->", "#", "\\\n", "\n", '"', "'",
          '"\\', "/*", "*/", "//", 'R"(', ')"', "extern", "__shared__", "template", "namespace", "operator", "if", "return",
          "cudaLaunchKernel(", "(void*)", "#if 1\n", "#else\n", "#endif\n", "#define F(x) ", "k<<<1, 2>>>(3);",
          "extern __shared__ int x[];", "\0", "é", "1e+", "0x", "1'000")
LIMIT = 2.0  # seconds for one source of at most 200 lines; usually it is a hundredth of that


def damaged(text, random):
    """A part of a source with one to eight changes."""
    lines = text.splitlines(keepends=True)
    begin = random.randrange(len(lines))
    text = "".join(lines[begin:begin + random.randrange(1, 200)])
    for _ in range(random.randrange(1, 9)):
        at, length = random.randrange(len(text) + 1), random.randrange(20)
        kind = random.randrange(4)
        if kind == 0:
            text = text[:at] + text[at + length:]
        elif kind == 1:
            text = text[:at] + random.choice(TOKENS) + text[at:]
        elif kind == 2:
            text = text[:at] + text[at:at + length] * random.randrange(2, 5) + text[at + length:]
        else:
            other = random.randrange(len(text) + 1)
            text = text[:at] + text[other:other + length] + text[at:]
    return text


def wrong(text, file):
    """What is wrong with the output for a source, or None."""
    file.write_text(text, encoding="utf-8")
    began = time.monotonic()
    with redirect_stderr(io.StringIO()):
        project = rewrite_launches.Project([])
        project.find = lambda *_: None  # nothing is included
        out = project.rewrite(file)
    if time.monotonic() - began > LIMIT:
        return f"took {time.monotonic() - began:.1f} s"
    if out.count("\n") != file.read_text(encoding="utf-8").count("\n"):
        return "has another number of lines"
    if not rewrite_launches.NEEDS_REWRITING.search(text) and "#" not in text and out != file.read_text(encoding="utf-8"):
        return "is changed, though there is nothing to rewrite"
    return None


def main(count):
    source = random.Random(2026)
    seeds = [(ROOT / name).read_text() for name in SEEDS]
    rewritten = 0
    with tempfile.TemporaryDirectory() as folder:
        for i in range(count):
            text = damaged(source.choice(seeds), source)
            try:
                problem = wrong(text, Path(folder) / "program.cu")
            except Exception as error:  # noqa: BLE001  any of them is a fault
                problem = f"raises {type(error).__name__}: {error}"
            if problem:
                print(f"source {i} {problem}:\n{text}")
                return 1
            rewritten += "<<<" in text
    print(f"{count} damaged sources, {rewritten} with launches")
    return 0 if rewritten > count / 4 else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000))
