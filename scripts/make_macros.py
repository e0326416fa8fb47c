#!/usr/bin/env python3
"""make_macros.py [--check]: writes include/gpuopt/core/macros.cuh, which refuses macros that would change the headers: the
names in capitals that they declare, and the functions of MORE. With --check it writes nothing, and fails if that file is
not up to date.

SPDX-License-Identifier: MIT
"""

import re
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "include" / "gpuopt" / "core" / "macros.cuh"
MORE = {"check"}  # in lower case, and yet the name of a macro in many programs

TEXT = """/// \\file
/// Refuses macros that would change the library's headers, and says which. Written by scripts/make_macros.py.
// SPDX-License-Identifier: MIT
#pragma once

// Functions of these names are called in the headers, so that macros with parameters matter, too.
{called}

namespace gpuopt_macros {{

constexpr bool isName(const char* text, const char* name) {{
  while (*text == *name && *name != 0) ++text, ++name;
  return *text == *name;
}}

}}  // namespace gpuopt_macros

// The text that a name is replaced by, which is the name itself if it is no macro, or one with parameters.
#define GPUOPT_TEXT_OF(...) #__VA_ARGS__
#define GPUOPT_TEXT(...) GPUOPT_TEXT_OF(__VA_ARGS__)
#define GPUOPT_IS_NO_MACRO(name)                                    \\
  static_assert(gpuopt_macros::isName("" GPUOPT_TEXT(name), #name), \\
                "gpuopt uses the name " #name ": define the macro " #name " below its #include, or rename it");

// clang-format off
{names}
// clang-format on

#undef GPUOPT_IS_NO_MACRO
#undef GPUOPT_TEXT
#undef GPUOPT_TEXT_OF
"""
CALLED = """#ifdef {name}
#error "gpuopt uses the name {name}: define the macro {name} below its #include, or rename it"
#include <see_the_error_above>  // g++ goes on after #error; the missing file ends the compilation
#endif"""

COMMENT = re.compile(r"//.*")
DIRECTIVE = re.compile(r"^\s*#.*(\\\n.*)*", re.MULTILINE)
# A parameter of a template: its kind or type, in front of its name, which ends with it or with a default argument.
PARAMETER = re.compile(r"(?:class|typename|auto|bool|int|unsigned|[\w:]+>?|\.\.\.)\s+([A-Z][A-Z0-9_]*)\s*(?=[,>=]|$)")
CONSTANT = re.compile(r"\bconstexpr\b[^;={}()]*?\b([A-Z][A-Z0-9_]*)\s*(?=[={]|<[^;]*>\s*=)")


def template_lists(text):
    """What is between the brackets of each `template <...>`, with those inside of it."""
    for match in re.finditer(r"\btemplate\s*<", text):
        depth, at = 1, match.end()
        while depth:
            depth += {"<": 1, ">": -1}.get(text[at], 0)
            at += 1
        yield text[match.end():at - 1]


def declared(text):
    """The names in capitals that a header declares as parameters of templates or as constants."""
    text = DIRECTIVE.sub("", COMMENT.sub("", text))
    names = set(CONSTANT.findall(text))
    for parameters in template_lists(text):
        names.update(PARAMETER.findall(parameters))
    return names


def written():
    headers = [path.read_text() for path in (ROOT / "include").rglob("*.cuh") if path != FILE]
    names = set().union(*map(declared, headers))
    text = DIRECTIVE.sub("", COMMENT.sub("", "\n".join(headers)))
    called = MORE | {name for name in names if re.search(rf"\b{name}\(", text)}
    checks = " ".join(f"GPUOPT_IS_NO_MACRO({name})" for name in sorted(names - called))
    return TEXT.format(called="\n".join(CALLED.format(name=name) for name in sorted(called)),
                       names="\n".join(textwrap.wrap(checks, 120)))


def main():
    text = written()
    if "--check" in sys.argv[1:]:
        if FILE.read_text() != text:
            sys.exit(f"{FILE.relative_to(ROOT)} is not up to date: call scripts/make_macros.py")
    else:
        FILE.write_text(text)


if __name__ == "__main__":
    main()
