"""The tables of transpositions, permutations, structures and functions of elements, from results of the benchmarks.

SPDX-License-Identifier: MIT
"""

from bench_grid import Grid
from bench_results import TOOLKIT, mean, number, over, power, spread, us

GEAM = {"cublasSgeam": "float", "cublasDgeam": "double", "cublasCgeam": "complex", "cublasZgeam": "double complex"}
PERMUTE = "cutensorPermute"
TRANSFORM = "cub::DeviceTransform::Transform"
FOR_EACH = "cub::DeviceFor::ForEachCopyN"
THRUST = "thrust::transform"
INVERSE = "cublasSmatinvBatched"
ELEMENTS = ["1", "2", "4", "8", "16"]


def bytes_text(element):
    return "1 byte" if element == "1" else f"{element} bytes"


def ratio(case):
    """The time of the best copy, or other reference, over gpuopt's."""
    return float(case["ratio"])


def narrow(is_row, is_whole):
    def belongs(case):
        rows, cols = int(case["rows"]), int(case["cols"])
        return case["case"] == "narrow" and (rows < cols) == is_row and (max(rows, cols) % 128 == 0) == is_whole
    return belongs


def group(name, **wanted):
    return lambda case: case["case"] == name and all(case[key] == value for key, value in wanted.items())


def pitched(goal):
    return lambda case: case["case"] == "pitched" and float(case["goal"]) == goal


SHAPES = {
    "aligned: squares 8192^2 to 32768^2, wide, tall, 10000 x 30000": group("aligned"),
    "16383 x 16385": group("odd", rows="16383"),
    "8191 x 8193": group("odd", rows="8191"),
    "k x N, lines of whole 16 bytes": narrow(True, True),
    "N x k, the same": narrow(False, True),
    "k x N, other lines": narrow(True, False),
    "N x k, other lines": narrow(False, False),
    "1 x N, N x 1": group("vector"),
    "batches, 4^2 to 128^2": group("batch"),
    "images, NHWC to NCHW and back": group("images"),
    "pitched, rows at 16-byte boundaries": pitched(0.96),
    "pitched by one element more": pitched(0.90),
    "squares of 8192 ± 64": group("near"),
    "small, hot": group("small"),
}


def transpositions(results):
    grid = Grid(["shape"], [*map(bytes_text, ELEMENTS), "goals"])
    cases = [case for case, _ in results.cases("transpose_bench")]
    for shape, belongs in list(SHAPES.items())[:-1]:
        chosen = [case for case in cases if belongs(case)]
        goals = dict.fromkeys(f"{float(case['goal']):g}" for case in chosen if case["goal"] not in ("", "0"))
        values = [spread([ratio(case) for case in chosen if case["element"] == element], 3) for element in ELEMENTS]
        grid.add([shape], [*values, ", ".join(goals)] if any(values) else [])
    return grid


def cublas(results):
    grid = Grid(["shape"], [f"`{name}`" for name in GEAM])
    cases = results.cases("transpose_bench")
    for shape, belongs in SHAPES.items():
        chosen = [candidates for case, candidates in cases if belongs(case)]
        grid.add([shape], [spread([over(candidates, name) for candidates in chosen]) for name in GEAM])
    return grid


def images(results):
    """By pixels x channels of an image; cuTENSOR has no call for bytes."""
    grid = Grid(["pixels x channels"], [f"{bytes_text(element)}, {what}" for what in ("share", f"`{PERMUTE}`")
                                        for element in ELEMENTS])
    cases = results.cases("transpose_bench", case="images")
    for rows, cols in dict.fromkeys((case["rows"], case["cols"]) for case, _ in cases):
        of_element = {case["element"]: (case, candidates) for case, candidates in cases
                      if (case["rows"], case["cols"]) == (rows, cols)}
        found = [of_element.get(element, (None, {})) for element in ELEMENTS]
        grid.add([f"{rows} x {cols}"], [number(case and ratio(case), 3) for case, _ in found] +
                 [number(over(candidates, PERMUTE)) for _, candidates in found])
    return grid


def small(results):
    grid = Grid(["side"], list(map(bytes_text, ELEMENTS)))
    cases = [case for case, _ in results.cases("transpose_bench", case="small")]
    for side in sorted({int(case["rows"]) for case in cases}):
        of_element = {case["element"]: case for case in cases if case["rows"] == str(side)}
        grid.add([str(side)], [f"{us(of_element[element]):.2f}, {float(of_element[element]['figure']):.2f}"
                               if element in of_element else "" for element in ELEMENTS])
    return grid


def functions(results):
    cases = [case for case, _ in results.cases("transpose_bench", case="function")]
    shapes = list(dict.fromkeys((case["rows"], case["cols"]) for case in cases))
    grid = Grid(["function"], [" x ".join(shape) for shape in shapes])
    for name in dict.fromkeys(case["element"] for case in cases):
        figures = {(case["rows"], case["cols"]): float(case["figure"]) for case in cases if case["element"] == name}
        grid.add([name], [number(figures.get(shape), 3) for shape in shapes])
    return grid


def in_place(results):
    kinds = {
        "one square": lambda case: case["rows"] == case["in_ld"] and case["batch"] == "1" and int(case["rows"]) % 2 == 0,
        "rows 64 elements longer": lambda case: int(case["in_ld"]) == int(case["cols"]) + 64,
        "1024^2, batch": lambda case: case["batch"] != "1",
        "odd side": lambda case: int(case["rows"]) % 2 == 1,
    }
    cases = [case for case, _ in results.cases("transpose_bench", case="inplace")]
    squares = [case for case in cases if case["rows"] == case["cols"]]
    grid = Grid(["element"], [*kinds, "rectangles"])
    for element in dict.fromkeys(case["element"] for case in cases):
        values = [spread([ratio(case) for case in squares if case["element"] == element and belongs(case)], 3)
                  for belongs in kinds.values()]
        rectangles = [ratio(case) for case in cases if case["element"] == element and case["rows"] != case["cols"]]
        grid.add([bytes_text(element)], [*values, spread(rectangles, 3)])
    return grid


def permutations(results):
    """By set and element size; cuTENSOR has no call for bytes."""
    grid = Grid(["set", "element"], ["cases", "geometric mean", "worst", f"`{PERMUTE}`, geometric mean",
                                     f"`{PERMUTE}` is faster"])
    chosen = {}
    for case, candidates in results.cases("permute_bench"):
        chosen.setdefault((case["case"], case["element"]), []).append(candidates)
    for (name, element), cases in chosen.items():
        ours = [ratio(candidates["gpuopt"]) for candidates in cases]
        peers = [candidates for candidates in cases if PERMUTE in candidates]
        behind = sum(over(candidates, PERMUTE) < 1 for candidates in peers)
        grid.add([name, bytes_text(element)],
                 [str(len(cases)), number(mean(ours), 3), number(min(ours), 3),
                  number(mean([ratio(candidates[PERMUTE]) for candidates in peers]), 3), str(behind) if peers else ""])
    return grid


def struct_peers(candidates, toolkit=None):
    """Direct access, CUB, CUB of the toolkit, Thrust: time over gpuopt's."""
    return [over(candidates, "direct"), over(candidates, TRANSFORM), over(toolkit or {}, TRANSFORM),
            over(candidates, THRUST)]


PEER_HEADS = ["direct", f"`{TRANSFORM}`", "the same, the toolkit's CCCL", f"`{THRUST}`"]
SINGLE = [("words", 4, size) for size in (4, 12, 24, 28, 32, 48, 64, 96)] + \
         [("large", 4, size) for size in (100, 128, 256)] + \
         [("aligned", 16, 32), ("aligned", 16, 64), ("large", 16, 128), ("large", 16, 256), ("aligned", 8, 24),
          ("aligned", 8, 88)] + [("odd", 1, size) for size in (1, 3, 7, 15, 31, 63, 127, 255)] + [("odd", 2, 254)]


def structs(results):
    grid = Grid(["structure", "bytes", "aligned to"], ["ratio to the best copy", *PEER_HEADS])
    for kind, align, size in SINGLE:
        wanted = {"case": kind, "element": size, "align": align}
        candidates = results.candidates("struct_bench", **wanted)
        toolkit = results.candidates(TOOLKIT + "struct_bench", **wanted)
        share = number(ratio(candidates["gpuopt"]), 3) if "gpuopt" in candidates else ""
        grid.add([kind, str(size), str(align)], [share, *map(number, struct_peers(candidates, toolkit))])
    return grid


STRUCT_GROUPS = {
    "words": "words, 4 to 96 bytes", "aligned": "aligned to 8 or 16, 8 to 96 bytes", "large": "large, 100 to 256 bytes",
    "odd": "odd, 1 to 255 bytes, aligned to 1 or 2", "misaligned": "misaligned by 1 to 16 bytes",
    "store": "store: made from an index (the best write)", "load": "load: folded, nothing written (the best read)",
    "warm": "warm: 16 MiB in L2, a graph"}


def struct_groups(results):
    grid = Grid(["group"], ["cases", "ratio to the best copy", "goal", *PEER_HEADS])
    for kind, name in STRUCT_GROUPS.items():
        cases = results.cases("struct_bench", case=kind)
        toolkit = [candidates for _, candidates in results.cases(TOOLKIT + "struct_bench", case=kind)]
        peers = [spread([over(candidates, peer) for _, candidates in cases]) for peer in ("direct", TRANSFORM)]
        peers += [spread([over(candidates, TRANSFORM) for candidates in toolkit]),
                  spread([over(candidates, THRUST) for _, candidates in cases])]
        if cases:
            grid.add([name], [str(len(cases)), spread([ratio(case) for case, _ in cases], 3),
                              f"{float(cases[0][0]['goal']):g}", *peers])
    return grid


def gathers(results):
    grid = Grid(["bytes, aligned to"], ["gather, direct", "GB/s", "scatter, direct", "GB/s"])
    for case, candidates in results.cases("struct_bench", case="gather"):
        back = results.candidates("struct_bench", case="scatter", element=case["element"], align=case["align"])
        goal = f" ({float(case['goal']):g})" if float(case["goal"] or 0) else ""
        grid.add([f"{case['element']}, {case['align']}"],
                 [number(over(candidates, "direct")) + goal, f"{float(case['gbps']):.0f}",
                  number(over(back, "direct")), f"{float(back['gpuopt']['gbps']):.0f}" if back else ""])
    return grid


SOA_NAMES = {"off": ", begin off a boundary", "tiles": ", tiles of 32"}


def soa(results):
    grid = Grid(["members: count x bytes, or bytes"], [head for way in ("to columns", "to structures")
                                                       for head in (way, "goal", "direct", f"`{THRUST}`")])
    for case, candidates in results.cases("soa_bench"):
        kind, direction = case["case"].rsplit(" ", 1)
        if direction != "soa":
            continue
        back = results.candidates("soa_bench", case=f"{kind} aos", element=case["element"])
        values = []
        for one in (candidates, back):
            ours = one.get("gpuopt")
            goal = f"{float(ours['goal']):g}" if ours and float(ours["goal"] or 0) else ""
            values += [number(ours and ratio(ours), 3), goal, number(over(one, "direct")), number(over(one, THRUST))]
        grid.add([case["element"] + SOA_NAMES.get(kind, "")], values)
    return grid


def maps(results):
    """Bytes of an input and of an output; of elements that are only read, the reference is the best read."""
    names = {"one": "`transform`", "two": "`transform` of two", "read": "`forEach`, only read"}
    grid = Grid(["call", "bytes"], ["share of the best copy or read", f"`{TRANSFORM}` or `{FOR_EACH}`",
                                    "the same, the toolkit's CCCL", "Thrust"])
    for case, candidates in results.cases("map_bench"):
        peer, thrust = (FOR_EACH, "thrust::for_each") if case["case"] == "read" else (TRANSFORM, THRUST)
        toolkit = results.candidates(TOOLKIT + "map_bench", case=case["case"], element=case["element"])
        grid.add([names[case["case"]], case["element"].replace(">", "to")],
                 [number(ratio(case), 3), number(over(candidates, peer)), number(over(toolkit, peer)),
                  number(over(candidates, thrust))])
    return grid


def inverses(results):
    grid = Grid(["matrices"], ["us", "share of the best copy", f"`{INVERSE}`"])
    for case, candidates in results.cases("struct_inverse_bench"):
        grid.add([case["n"]], [f"{us(case):.1f}", number(ratio(case), 3), number(over(candidates, INVERSE))])
    return grid


TORCH_NAMES = {"sum": "sum of n floats", "rows": "sums of rows of n floats, 1 GiB",
               "transpose": "transposition of 16384 x 16384", "images": "images of 56 x 56 x 256, NHWC to NCHW",
               "multiply": "product of two arrays of n floats",
               "index_add": "rows of n bytes added by index, eight to each", "index_add atomic": "the same by atomics",
               "index_add few": "n rows of 256 bytes added by index, eight to each",
               "index_add few atomic": "the same by atomics", "index_add single": "the same, one to each",
               "index_add single atomic": "the same by atomics", "index_add to few": "the same, 4096 to each",
               "index_add to few atomic": "the same by atomics", "index_select": "rows of n bytes gathered, 1 GiB",
               "index_copy": "the same, scattered", "index_select few": "n rows of 256 bytes gathered",
               "index_copy few": "the same, scattered", "embedding_bag": "rows of n bytes combined, eight to each",
               "cumsum rows": "running sums of rows of n", "cumsum columns": "running sums down n columns",
               "argmax": "positions of the maxima of n rows of 129280"}


def torch(results):
    grid = Grid(["work", "elements", "n", "PyTorch's call"], ["us", "ratio"])
    for case, candidates in results.cases("torch_bench"):
        peer = next(name for name in candidates if name != "gpuopt")
        grid.add([TORCH_NAMES[case["case"]], case["type"], power(int(case["n"])), f"`{peer}`"],
                 [f"{us(case):.1f}", number(over(candidates, peer))])
    return grid
