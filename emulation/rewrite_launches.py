#!/usr/bin/env python3
"""Turns CUDA C++ into C++ for the emulated device: kernel<<<grid, block>>>(arguments), extern __shared__ arrays, casts of
kernels to void*, tests of __CUDA_ARCH__ in kernels. Inline PTX becomes a refusal.

Usage: rewrite_launches.py [-I FOLDER]... [-o OUTPUT] [--depfile FILE] program.cu

Writes to OUTPUT, or to stdout. Lines keep their numbers, and #line keeps their file: messages, debuggers and reports
name the user's source. Headers of the project with launches, which the source includes directly or through others,
become part of the output. The folders of -I are searched for them, after that of the including file.
SPDX-License-Identifier: MIT
"""

import argparse
import bisect
import hashlib
import re
import sys
from pathlib import Path

TOKEN = re.compile(r"""
  (?P<comment> //(?:\\\n|[^\n])* | /\*.*?\*/ )
| (?P<literal> (?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"
             | (?:u8|[uUL])?"(?:\\.|[^"\\\n])*" | (?:u8|[uUL])?'(?:\\.|[^'\\\n])+' )
| (?P<number>  \.?\d(?:[eEpP][+-]|'\w|[\w.])* )
| (?P<name>    [A-Za-z_]\w* )
| (?P<space>   (?:\s|\\\n)+ )
| (?P<symbol>  <<<|<<[ \t]+<(?![<=])|<<|<=|>=|->|::|. )
""", re.VERBOSE | re.DOTALL)

NEEDS_REWRITING = re.compile(r"<<<|\bextern\b[^;{}]*\b__shared__\b|\b__shared__\s+extern\b"
                             r"|\b__shared__\s+alignas\b|\btexture\s*<|\bcudaLaunch(?:Cooperative)?Kernel\s*\(|\b__CUDA_ARCH__\b|\b(?:__)?asm(?:__)?\b")
KERNEL = re.compile(r"\b__global__\b(?:[^;{}()]|\b__\w+__\s*\([^()]*(?:\([^()]*\)[^()]*)*\))*?\b(?!__)(\w+)\s*\(")
POINTER_CAST = re.compile(r"\bvoid\s*(?:const\s*)?\*\s*>?\s*\)")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.MULTILINE)
SYSTEM_FOLDERS = ("/usr/include", "/usr/lib", "/usr/local/cuda")
CLOSERS = {")": "(", "]": "[", "}": "{"}
BEFORE_BODIES = (")", "const", "noexcept", "override", "else", "do", "try")
KEYWORDS = {"return", "else", "do", "if", "while", "for", "switch", "case", "goto", "throw", "operator", "template"}
DYNAMIC_SHARED = "gpuoptDynamicShared"  # gpuopt's own, which needs no rewriting


class Token:
    def __init__(self, kind, text, begin):
        self.kind, self.text, self.begin, self.end = kind, text, begin, begin + len(text)

    def is_name(self):
        return self.kind == "name" and self.text not in KEYWORDS


class Source:
    """The tokens of a file without comments and blanks, and the edits to be made to its text."""

    def __init__(self, path, text):
        self.path, self.text, self.edits, self.tokens, self.floors = path, text, [], [], [0]
        self.partner = {}  # index of a bracket -> index of its partner
        self.namespaces = set()  # indices of the { of namespaces and of extern "C"
        self.scopes = {}  # index of `extern` or `__shared__` -> whether it is at namespace scope
        self.functions = []  # ({, }, head) of the functions whose head says __global__ or __device__
        self.lines = [0] + [match.end() for match in re.finditer("\n", text)]
        for match in TOKEN.finditer(text):
            if match.lastgroup not in ("comment", "space"):
                self.tokens.append(Token(match.lastgroup, match.group(), match.start()))
        for token in self.tokens:
            token.text = "<<<" if token.kind == "symbol" and token.text.startswith("<<") and token.text[-1] == "<" and \
                len(token.text) > 2 else token.text
        self.find_directives()
        self.match_brackets()
        self.find_functions()

    def line_of(self, token):
        return bisect.bisect_right(self.lines, token.begin)

    def warn(self, token, what):
        print(f"{self.path}:{self.line_of(token)}: warning: {what}", file=sys.stderr)

    def text_at(self, i):
        return self.tokens[i].text if 0 <= i < len(self.tokens) else ""

    def find_directives(self):
        """What a kernel's name may not cross: the begin and the end of directives, and the head of a macro."""
        self.directives = {}  # index of # -> index behind the directive
        i = 0
        while i < len(self.tokens):
            begin = self.tokens[i].begin
            if self.text_at(i) != "#" or self.text[self.text.rfind("\n", 0, begin) + 1:begin].strip():
                i += 1
                continue
            end = re.compile(r"(?<!\\)\n|\Z").search(self.text, begin).start()
            behind = i
            while behind < len(self.tokens) and self.tokens[behind].begin < end:
                behind += 1
            self.directives[i] = behind
            self.floors += [self.body_of_macro(i, behind), behind]
            i = behind

    def body_of_macro(self, i, behind):
        """The index of the first token of the body of #define NAME or #define NAME(...)."""
        if self.text_at(i + 1) != "define":
            return i
        body = i + 3
        if self.text_at(body) == "(" and self.tokens[body].begin == self.tokens[body - 1].end:
            while body < behind and self.text_at(body) != ")":
                body += 1
            body += 1
        return body

    def match_brackets(self):
        """Pairs brackets. Each branch of #if ... #else begins with the brackets that are open at the #if."""
        opened, conditions = [], []
        for i, token in enumerate(self.tokens):
            if i in self.directives:
                directive = self.text_at(i + 1)
                if directive in ("if", "ifdef", "ifndef"):
                    conditions.append(list(opened))
                elif directive in ("else", "elif") and conditions:
                    opened = list(conditions[-1])
                elif directive == "endif" and conditions:
                    conditions.pop()
            if token.text in ("(", "[", "{"):
                if token.text == "{" and self.opens_namespace(i):
                    self.namespaces.add(i)
                opened.append(i)
            elif token.text in CLOSERS and opened and self.text_at(opened[-1]) == CLOSERS[token.text]:
                self.partner[i] = opened.pop()
                self.partner[self.partner[i]] = i
            elif token.text in ("extern", "__shared__"):
                self.scopes[i] = all(j in self.namespaces for j in opened)

    def find_functions(self):
        """The functions of the device: their heads reach back to the last statement, bracket or directive."""
        for i, token in enumerate(self.tokens):
            if token.text not in ("__global__", "__device__"):
                continue
            body = i
            while body < len(self.tokens) and self.text_at(body) not in ("{", ";", "}", "="):
                body = self.partner.get(body, body) + 1 if self.text_at(body) in ("(", "[") else body + 1
            if self.text_at(body) != "{" or body not in self.partner:
                continue
            begin, floor = i, self.floors[bisect.bisect_right(self.floors, i) - 1]
            while begin > floor and self.text_at(begin - 1) not in (";", "{", "}"):
                begin -= 1
            head = {self.text_at(j) for j in range(begin, body)}
            self.functions.append((body, self.partner[body], head))

    def function_at(self, i):
        """What the head of the device's function around a token says; empty if there is none."""
        return next((head for begin, end, head in self.functions if begin < i < end), set())

    def is_in_body(self, i):
        """Whether a token is within the body of any function."""
        return any(begin < i < end and self.text_at(begin) == "{" and self.text_at(begin - 1) in BEFORE_BODIES
                   for begin, end in self.partner.items())

    def opens_namespace(self, i):
        first = i
        while first > 0 and self.text_at(first - 1) not in (";", "{", "}", ")"):
            first -= 1
        head = [self.text_at(j) for j in range(first, i)]
        return "namespace" in head or (head[-2:-1] == ["extern"] and self.tokens[i - 1].kind == "literal")

    def extents_end(self, i):
        """The index behind the [] that follow i; None if one of them has no end."""
        i += 1
        while self.text_at(i) == "[":
            if i not in self.partner:
                return None
            i = self.partner[i] + 1
        return i

    def insert(self, at, text):
        self.edits.append((at, at, text))

    def replace(self, first, last, text):
        self.edits.append((self.tokens[first].begin, self.tokens[last].end, text))

    def edited(self):
        out, done = [], 0
        for begin, end, text in sorted(self.edits):
            out += [self.text[done:begin], text]
            done = end
        return "".join(out) + self.text[done:]


# ---------------------------------------------------------------------------------------- launches


def opening_angle(source, i):
    """The index of the < of template arguments that end with the > at i; None if there is none."""
    depth = 0
    while i >= 0:
        text = source.text_at(i)
        if text in (";", "{", "<<<"):
            return None
        depth += (text == ">") - (text == "<")
        if depth == 0:
            return i
        i = source.partner.get(i, i) - 1 if text in CLOSERS else i - 1
    return None


def begins_statement(source, i):
    """Whether the ( ... ) that ends at i is the head of an if, a loop or a switch."""
    return source.text_at(i) == ")" and source.text_at(source.partner.get(i, 0) - 1) in ("if", "while", "for", "switch")


def kernel_begin(source, launch):
    """The index of the first token of the expression that names the kernel before the <<<; None if there is none."""
    floor = source.floors[bisect.bisect_right(source.floors, launch) - 1]
    i = launch - 1
    while i is not None and i >= floor:
        text, begin = source.text_at(i), i
        if text == ">":
            begin = opening_angle(source, i)
            i = begin - 1 if begin is not None and source.tokens[begin - 1].is_name() else None
            continue
        if text in (")", "]"):
            begin = source.partner.get(i, 0)
            before = begin - 1
            is_call = before >= floor and (source.tokens[before].is_name() or source.text_at(before) in (")", "]", ">"))
            if not is_call or begins_statement(source, before):
                return begin if begin >= floor else None
            i = before
            continue
        if not source.tokens[i].is_name():
            return None
        if source.text_at(begin - 1) == "template":
            begin -= 1
        link = source.text_at(begin - 1) if begin - 1 >= floor else ""
        if link == "::" and not (source.tokens[begin - 2].is_name() or source.text_at(begin - 2) == ">"):
            return begin - 1
        if link not in ("::", ".", "->"):
            return begin
        i = begin - 2
    return None


def configuration_end(source, i):
    """The index of the first > of the >>> that closes the <<< at i, with ( behind it; None if there is none."""
    is_spaced = source.tokens[i].end - source.tokens[i].begin > 3  # as old versions of clang-format write it: << <
    i += 1
    while i < len(source.tokens) and source.text_at(i) not in (";", "}", ")", "]"):
        if source.text_at(i) in ("(", "[", "{"):
            i = source.partner.get(i, len(source.tokens))
        elif source.text_at(i) == ">":
            last = i
            while source.text_at(last + 1) == ">" and (
                    is_spaced or source.tokens[last + 1].begin == source.tokens[last].end):
                last += 1
            if last >= i + 2 and source.text_at(last + 1) == "(":
                return last - 2
            i = last
        i += 1
    return None


def rewrite_launches(source):
    for i, token in enumerate(source.tokens):
        if token.text != "<<<" or source.text_at(i - 1) == "operator":
            continue
        begin, end = kernel_begin(source, i), configuration_end(source, i)
        if begin is None or end is None:
            missing = "kernel before it" if begin is None else ">>>( behind it"
            source.warn(token, f"<<< is no launch: there is no {missing}")
            continue
        source.insert(source.tokens[begin].begin, "GPUOPT_EMULATED_KERNEL(")
        source.replace(i, i, ").at(")
        source.replace(end, end + 2, ")")


# ------------------------------------------------------------- untyped launches


def rewrite_untyped_launches(source):
    """cudaLaunchKernel((void*)kernel, ...) without the cast, which hides the types of the parameters."""
    for i, token in enumerate(source.tokens):
        if token.text not in ("cudaLaunchKernel", "cudaLaunchCooperativeKernel") or source.text_at(i + 1) != "(":
            continue
        first = i + 2
        is_cast = source.text_at(first) in ("reinterpret_cast", "static_cast")
        last = first + is_cast + 1
        while source.text_at(last) in ("const", "void", "*"):
            last += 1
        if source.text_at(last - 1) in ("*", "const") and source.text_at(last) == (">" if is_cast else ")"):
            source.replace(first, last, "")


def rewrite_casts(source, kernels):
    """(void*)kernel remembers the kernel's parameters, for calls that are given nothing but the pointer."""
    for i, token in enumerate(source.tokens):
        if token.text not in kernels or token.kind != "name" or source.text_at(i - 1) in ("::", ".", "->"):
            continue
        end = i
        if source.text_at(i + 1) == "<":
            end = closing_angle(source, i + 1)
        if end is None or source.text_at(end + 1) in ("(", "<<<", "::"):
            continue
        begin = i - 1 if source.text_at(i - 1) == "&" else i
        if source.text_at(begin - 1) == "(" and source.text_at(begin - 2) == ">":  # reinterpret_cast<void*>(kernel)
            cast = opening_angle(source, begin - 2)
            is_cast = cast is not None and source.text_at(cast - 1) in ("reinterpret_cast", "static_cast")
            inside = range(cast + 1, begin - 2) if is_cast else ()
        else:
            cast = source.partner.get(begin - 1, 0) if source.text_at(begin - 1) == ")" else None
            inside = range(cast + 1, begin - 1) if cast is not None else ()
        words = [source.text_at(j) for j in inside]
        if "*" in words and "void" in words and set(words) <= {"void", "const", "*"} and words.count("*") == 1:
            source.insert(source.tokens[begin].begin, "GPUOPT_EMULATED_UNTYPED((")
            source.insert(source.tokens[end].end, "))")


def closing_angle(source, i):
    """The index of the > that closes the template arguments at i; None if these are none."""
    depth = 0
    while i < len(source.tokens) and source.text_at(i) not in (";", "{", "}"):
        depth += (source.text_at(i) == "<") - (source.text_at(i) == ">")
        if depth == 0:
            return i
        i = source.partner.get(i, i) + 1 if source.text_at(i) in ("(", "[") else i + 1
    return None


# -------------------------------------------------------------------------- assembly, and the architecture

ASSEMBLY = ("asm", "__asm", "__asm__")
SPECIAL_REGISTER = re.compile(r'"\s*mov\.[usb](?:32|64)\s+%0\s*,\s*%%?(\w+)\s*;?\s*(?:\\n)?"')
PTX = re.compile(r"\.[usbf](?:8|16|32|64)\b|%%?(?:laneid|warpid|smid|clock)|^\s*\"\s*(?:bar|membar|fence|cp|exit|trap|"
                 r"brkpt|griddepcontrol|barrier|mma|wgmma|ldmatrix|prefetch|discard|applypriority)\b")
REGISTERS = {"laneid", "warpid", "nwarpid", "smid", "nsmid", "clock", "clock64", "globaltimer", "lanemask_eq",
             "lanemask_lt", "lanemask_le", "lanemask_gt", "lanemask_ge"}


def rewrite_assembly(source):
    """Inline PTX becomes the value of a special register, or else a refusal at run time, where a thread reaches it."""
    for i, token in enumerate(source.tokens):
        if token.text not in ASSEMBLY or token.kind != "name":
            continue
        opening = i + 1
        while source.text_at(opening) in ("volatile", "__volatile__", "__volatile", "goto"):
            opening += 1
        end = source.partner.get(opening)
        if source.text_at(opening) != "(" or end is None:
            continue
        text = source.text[source.tokens[opening].end:source.tokens[end].begin]
        if not source.function_at(i) and not PTX.search(text):
            continue
        register = SPECIAL_REGISTER.match(text.strip())
        parts = [j for j in range(opening + 1, end) if source.text_at(j) == ":"]
        target = next((j for j in range(opening, end) if source.text_at(j) == "("
                       and source.tokens[j - 1].kind == "literal" and j > opening + 1), None)
        blank = "\n" * text.count("\n")
        if register and register.group(1) in REGISTERS and parts and target is not None:
            variable = source.text[source.tokens[target].end:source.tokens[source.partner[target]].begin]
            new = f'GPUOPT_EMULATED_REGISTER({variable}, {register.group(1)}){blank}'
        else:
            source.warn(token, "inline PTX: the emulated device refuses it where a thread reaches it")
            first = source.tokens[opening + 1]
            words = first.text if first.kind == "literal" and not first.text.startswith("R") else '""'
            new = f"GPUOPT_EMULATED_PTX({words}){blank}"
        source.replace(i, end, new)


def rewrite_architecture(source):
    """Tests of __CUDA_ARCH__ in functions that are the device's alone have its compute capability. In others the macro
    does not exist, and what is left out without an alternative is told."""
    conditions = []  # of the directives that are open: index of #if, indices of #elif and #else
    for i, behind in source.directives.items():
        directive = source.text_at(i + 1)
        if directive in ("if", "ifdef", "ifndef"):
            conditions.append([(i, behind)])
        elif directive in ("elif", "else") and conditions:
            conditions[-1].append((i, behind))
        elif directive == "endif" and conditions:
            choose_architecture(source, conditions.pop(), i)
    within_directives = {j for i, behind in source.directives.items() for j in range(i, behind)}
    for i, token in enumerate(source.tokens):
        head = source.function_at(i) if token.text == "__CUDA_ARCH__" and i not in within_directives else ()
        if head and "__host__" not in head:
            source.replace(i, i, "GPUOPT_EMULATED_ARCHITECTURE")


def choose_architecture(source, branches, end):
    """For the directives from an #if to the #endif at `end`."""
    begin = branches[0][0]
    tests = [(i, behind) for i, behind in branches
             if any(source.text_at(j) == "__CUDA_ARCH__" for j in range(i, behind))]
    inside = {source.text_at(j) for j in range(begin, end)}
    has_else = source.text_at(branches[-1][0] + 1) == "else"
    is_in_body = source.is_in_body(begin)
    # Outside of functions, what is left out may be functions of the device.
    head = source.function_at(begin) if is_in_body else inside & {"__global__", "__device__", "__host__"}
    if not tests or (not is_in_body and (not head or has_else)):
        return
    if head and "__host__" not in head and not (has_else and inside.intersection(ASSEMBLY)):
        for i, behind in tests:
            text = source.text[source.tokens[i].begin:source.tokens[behind - 1].end]
            text = re.sub(r"#(\s*)ifdef\s+__CUDA_ARCH__", r"#\1if 1", text)
            text = re.sub(r"#(\s*)ifndef\s+__CUDA_ARCH__", r"#\1if 0", text)
            text = re.sub(r"defined\s*(?:\(\s*__CUDA_ARCH__\s*\)|__CUDA_ARCH__)", "1", text)
            source.replace(i, behind - 1, re.sub(r"\b__CUDA_ARCH__\b", "GPUOPT_EMULATED_ARCHITECTURE", text))
    elif not has_else and is_in_body:
        line = source.line_of(source.tokens[end])
        warning = "gpuopt: __CUDA_ARCH__ is not defined here, so the code above is left out, in kernels, too"
        source.insert(source.tokens[end].begin, f'#else\n#line {line}\n#pragma GCC warning "{warning}"\n')
        source.insert(source.tokens[source.directives[end] - 1].end, f"\n#line {line + 1}")
    elif is_in_body and (not head or "__host__" in head):
        source.warn(source.tokens[begin], "__CUDA_ARCH__ is not defined here: the host's code is taken in kernels, too")


def name_templates(source):
    """Struct<T>::function<N>(x), which nvcc accepts: g++ asks for `template` before the name if Struct<T> depends on T."""
    for i, token in enumerate(source.tokens):
        if token.text != "<" or source.text_at(i - 2) != "::" or source.text_at(i - 3) != ">" or \
                not source.tokens[i - 1].is_name() or token.begin != source.tokens[i - 1].end or not source.is_in_body(i):
            continue
        end = closing_angle(source, i)
        place = source.tokens[i - 1].begin
        arguments = source.tokens[i + 1:end] if end is not None else []
        if arguments and source.text_at(end + 1) == "(" and source.tokens[end].end == source.tokens[end + 1].begin and \
                all(one.is_name() or one.kind == "number" or one.text in ("::", ",", "<", ">", "*") for one in arguments) and \
                not any(begin < place < after for begin, after, _ in source.edits):
            source.insert(place, "template ")


# -------------------------------------------------------------------------------------- shared memory


def refuse_texture_references(source):
    """texture<float, 2> name; at namespace scope, which CUDA 12 has removed."""
    for i, token in enumerate(source.tokens):
        if token.text != "texture" or source.text_at(i + 1) != "<" or source.text_at(i - 1) in ("::", ".", "struct", "class"):
            continue
        end = closing_angle(source, i + 1)
        if end is not None and end + 1 < len(source.tokens) and source.tokens[end + 1].is_name() and \
                source.text_at(end + 2) == ";":
            source.replace(i, end + 1, 'static_assert(false, "the emulated device has no texture references, which CUDA 12 '
                                       'has removed: use cudaCreateTextureObject")')


def rewrite_alignment(source):
    """__shared__ alignas(16): the standard's attribute has to come first. Dynamic shared memory is aligned anyway."""
    for i, token in enumerate(source.tokens):
        if token.text != "__shared__" or source.text_at(i + 1) != "alignas" or i + 2 not in source.partner:
            continue
        first = i
        while first > 0 and source.text_at(first - 1) not in (";", "{", "}", ")") and first not in source.floors:
            first -= 1
        last = source.partner[i + 2]
        if not any(source.text_at(j) == "extern" for j in range(first, i)):
            alignment = source.text[source.tokens[i + 1].begin:source.tokens[last].end]
            source.insert(source.tokens[first].begin, alignment + " ")
        source.replace(i + 1, last, "")


def rewrite_shared(source):
    for i, token in enumerate(source.tokens):
        if token.text not in ("extern", "__shared__"):
            continue
        end = next((j for j in range(i, len(source.tokens)) if source.text_at(j) in (";", "{", "}")), i)
        other = {"extern": "__shared__", "__shared__": "extern"}[token.text]
        others = [j for j in range(i, end) if source.text_at(j) == other]
        names = [j for j in range(i, end) if source.text_at(j + 1) == "[" and source.tokens[j].is_name()]
        ends = [source.extents_end(name) for name in names]
        if source.text_at(end) != ";" or not others or not names or None in ends or source.text_at(names[0]) == DYNAMIC_SHARED:
            continue
        is_global = source.scopes[i]
        source.replace(i, i, "extern" if is_global else "__attribute__((unused))")
        source.replace(others[0], others[0], "__thread" if is_global else "")
        for name, behind in zip(names, ends):
            if not is_global:
                source.insert(source.tokens[name].begin, "(&")
                source.insert(source.tokens[name].end, ")")
            source.insert(source.tokens[behind - 1].end,
                          " GPUOPT_EMULATED_SHARED_LABEL" if is_global else " = GPUOPT_EMULATED_SHARED")


# ---------------------------------------------------------------------------------------- includes


class Project:
    """The files that a source includes, as far as they are the project's own."""

    def __init__(self, folders):
        self.folders, self.texts, self.needed, self.used = [Path(folder) for folder in folders], {}, {}, []

    def read(self, path):
        if path not in self.texts:
            self.texts[path] = path.read_text(encoding="utf-8", errors="surrogateescape")
        return self.texts[path]

    def find(self, quoted, angled, includer):
        """The file that an #include names; None if it is not the project's."""
        folders = [includer.parent] if quoted else []
        folders += [folder for folder in self.folders if not str(folder).startswith(SYSTEM_FOLDERS)
                    and not (folder / "gpuopt_emulation").is_dir() and not (folder / "gpuopt" / "version.cuh").is_file()]
        found = (folder / (quoted or angled) for folder in folders)
        return next((path.resolve() for path in found if path.is_file()), None)

    def needs_rewriting(self, path):
        if path not in self.needed:
            self.needed[path] = False  # for files that include each other
            text = self.read(path)
            included = (self.find(*match.groups(), path) for match in INCLUDE.finditer(text))
            casts_kernels = KERNEL.search(text) is not None and POINTER_CAST.search(text) is not None
            self.needed[path] = bool(NEEDS_REWRITING.search(text)) or casts_kernels or any(
                [self.needs_rewriting(file) for file in included if file is not None])
        return self.needed[path]

    def kernels_of(self, path, seen):
        """The names of the kernels of a file and of what it includes."""
        if path in seen:
            return set()
        seen.add(path)
        included = (self.find(*match.groups(), path) for match in INCLUDE.finditer(self.read(path)))
        return set(KERNEL.findall(self.read(path))).union(
            *(self.kernels_of(file, seen) for file in included if file is not None))

    def rewrite(self, path, within=()):
        """The text of a file as C++, with those files within that need rewriting, too."""
        self.used.append(path)
        source = Source(path, self.read(path))
        rewrite_launches(source)
        rewrite_untyped_launches(source)
        rewrite_casts(source, self.kernels_of(path, set()))
        rewrite_assembly(source)
        rewrite_architecture(source)
        rewrite_alignment(source)
        refuse_texture_references(source)
        rewrite_shared(source)
        name_templates(source)
        for i, behind in source.directives.items():
            begin, end = source.tokens[i].begin, source.tokens[behind - 1].end
            directive = source.text[begin:end]
            match = INCLUDE.match(directive)
            if re.match(r"#\s*pragma\s+once", directive):
                source.edits.append((begin, end, ""))
            elif match:
                source.edits.append((begin, end, self.include(match, directive, path, within + (path,), source, i)))
        return source.edited()

    def include(self, match, directive, includer, within, source, i):
        path = self.find(*match.groups(), includer)
        if path is None:
            return directive
        if path in within or not self.needs_rewriting(path):
            return f"#include {literal(path)}" if match.group(1) else directive
        text = self.rewrite(path, within)
        if re.search(r"^[ \t]*#[ \t]*pragma[ \t]+once", self.read(path), re.MULTILINE):
            guard = "GPUOPT_INCLUDED_" + hashlib.md5(str(path).encode()).hexdigest().upper()
            text = f"#ifndef {guard}\n#define {guard}\n#line 1 {literal(path)}\n{text}\n#endif"
        else:
            text = f"#line 1 {literal(path)}\n{text}"
        return f"{text}\n#line {source.line_of(source.tokens[i]) + 1} {literal(includer)}"


def literal(path):
    return '"' + str(path).replace("\\", "\\\\").replace('"', '\\"') + '"'


def rewritten(path, folders):
    """The C++ of a source, and the files that it depends on."""
    project = Project(folders)
    path = Path(path).resolve()
    head = "#include <gpuopt_emulation/cuda_source.hpp>\n"
    if project.needs_rewriting(path):
        return f"{head}#line 1 {literal(path)}\n{project.rewrite(path)}", list(project.texts)
    return f"{head}#include {literal(path)}\n", list(project.texts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-I", dest="folders", metavar="FOLDER", action="append", default=[])
    parser.add_argument("-o", dest="output", metavar="OUTPUT")
    parser.add_argument("--depfile", metavar="FILE")
    parser.add_argument("source")
    arguments = parser.parse_args()
    if not Path(arguments.source).is_file():
        sys.exit(f"rewrite_launches.py: {arguments.source} is not a file")
    text, files = rewritten(arguments.source, [folder for folder in arguments.folders if folder])
    if arguments.output is None:
        sys.stdout.buffer.write(text.encode("utf-8", errors="surrogateescape"))
        return
    Path(arguments.output).parent.mkdir(parents=True, exist_ok=True)
    Path(arguments.output).write_text(text, encoding="utf-8", errors="surrogateescape")
    if arguments.depfile is not None:
        names = " ".join(str(name).replace(" ", "\\ ") for name in files)
        target = arguments.output.replace(" ", "\\ ")
        Path(arguments.depfile).write_text(f"{target}: {names}\n")


if __name__ == "__main__":
    main()
