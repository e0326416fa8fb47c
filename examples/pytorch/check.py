"""gpuopt's calls for tensors of PyTorch: builds the extension in ops.cu, takes some minutes the first time, and checks
what it computes against PyTorch itself.

Usage: check.py. Needs PyTorch with CUDA, nvcc, Ninja and a GPU; exits with 77 where one of them is missing.
SPDX-License-Identifier: MIT
"""

import sys
from pathlib import Path

MISSING = 77
HERE = Path(__file__).resolve().parent
failures = 0


def whatIsMissing():
    """What keeps the extension from being built or run, or None."""
    try:
        import torch
        from torch.utils import cpp_extension
    except ImportError:
        return "PyTorch is not installed"
    if not torch.cuda.is_available():
        return "PyTorch finds no GPU"
    if cpp_extension.CUDA_HOME is None:
        return "PyTorch finds no nvcc: set CUDA_HOME"
    if not cpp_extension.is_ninja_available():
        return "Ninja is not installed"
    return None


def show(what, right):
    global failures
    failures += not right
    print(f"{what:<50} {'ok' if right else 'WRONG'}")


def refuses(call, argument, kind, words):
    try:
        call(argument)
    except kind as error:
        return words in str(error)
    return False


def check(torch, ops):
    def random(*shape, dtype=torch.float32):  # whole numbers: their sums are exact in any order
        return torch.randint(-100, 100, shape, device="cuda").to(dtype)

    for dtype in (torch.float16, torch.float32, torch.int64):
        for shape in ((0, 5), (1, 1000), (301, 205), (1024, 2048)):
            x = random(*shape, dtype=dtype)
            show(f"transpose of {shape}, {dtype}", torch.equal(ops.transpose(x), x.t()))
    x = random(301, 205)
    part = x[7:, 3:90]  # rows with gaps between them are read as they lie
    show("transpose of a part", torch.equal(ops.transpose(part), part.t()))
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        y = x.to(dtype)
        show(f"sum_rows, {dtype}", torch.equal(ops.sum_rows(y), y.sum(1, dtype=torch.float32)))
    show("sum_rows of a part", torch.equal(ops.sum_rows(part), part.sum(1)))

    indices = torch.randint(0, 301, (1000,), device="cuda")
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        y, rows = x.to(dtype), random(1000, 205).sign().to(dtype)  # small numbers: sums of halves are exact, too
        show(f"gather_rows, {dtype}", torch.equal(ops.gather_rows(y, indices), y[indices]))
        sums = torch.zeros_like(y)
        ops.add_rows_(sums, indices, rows)
        show(f"add_rows_, {dtype}", torch.equal(sums, torch.zeros_like(y).index_add_(0, indices, rows)))
        z = y / 100
        near = dict(rtol=2e-2, atol=1e-3)
        show(f"softmax_rows, {dtype}", torch.allclose(ops.softmax_rows(z), z.softmax(1), **near))
        norm = torch.nn.functional.rms_norm(z, (205,), eps=1e-6)
        show(f"rms_norm_rows, {dtype}", torch.allclose(ops.rms_norm_rows(z, 1e-6), norm, **near))
    show("scan_rows", torch.equal(ops.scan_rows(x), x.cumsum(1)))

    # Another stream becomes the current one. It waits for what made x, and PyTorch is told who else uses x.
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        sums = ops.sum_rows(ops.transpose(x))
        x.record_stream(stream)
    torch.cuda.current_stream().wait_stream(stream)
    show("on a stream of its own", torch.equal(sums, x.sum(0)))

    # What waits for nothing can be captured. Outputs come from the graph's own memory.
    ops.sum_rows(ops.transpose(x))
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        sums = ops.sum_rows(ops.transpose(x))
    x.copy_(random(301, 205))
    graph.replay()
    show("in a graph", torch.equal(sums, x.sum(0)))

    show("a tensor of the host is refused", refuses(ops.transpose, x.cpu(), RuntimeError, "not on a GPU"))
    show("bytes are refused", refuses(ops.transpose, x.to(torch.int8), RuntimeError, "1 bytes"))
    show("columns are refused", refuses(ops.sum_rows, x.t(), RuntimeError, "205 apart"))
    show("indices of another type are refused", refuses(lambda it: ops.gather_rows(x, it), indices.int(), RuntimeError,
                                                        "indices has the type Int, not Long"))
    one = random(1, 5).expand(3, 5)  # three rows at one place, which gpuopt itself refuses
    show("rows that overlap are refused", refuses(ops.transpose, one, ValueError, "in.ld (0) is less than in.cols (5)"))


def main():
    missing = whatIsMissing()
    if missing:
        print(f"pytorch: {missing}: nothing was run")
        return MISSING
    import torch
    from torch.utils.cpp_extension import load

    # PyTorch forbids conversions of __half and __nv_bfloat16, which rows are computed with.
    allowed = ["HALF_CONVERSIONS", "HALF_OPERATORS", "HALF2_OPERATORS", "BFLOAT16_CONVERSIONS"]
    ops = load(name="gpuopt_ops", sources=[str(HERE / "ops.cu")], extra_include_paths=[str(HERE.parents[1] / "include")],
               extra_cuda_cflags=[f"-U__CUDA_NO_{name}__" for name in allowed])
    check(torch, ops)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
