"""The device code of one candidate, ready to stand beside others in one C++ file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from records.errors import UsageError
from sandbox.candidate.parse import plan_span
from sandbox.candidate.pp_tokens import Token, is_directive, rows, scan


@dataclass(frozen=True)
class DetachedText:
    """The text without plan and includes, and what it needs around it."""

    body: str
    includes: tuple[str, ...]  # <hip/hip_runtime.h>, in the order of the file
    macros: tuple[str, ...]  # names that it defines, which must not reach the code behind it


def kernel_text(source: str) -> DetachedText:
    """Detach a candidate's code; lines keep their order."""
    text = source[plan_span(source)[1] + len("+++*/") :].strip("\n") + "\n"
    pieces, offset = list[str](), 0
    includes, macros = dict[str, None](), dict[str, None]()
    for row in rows(scan(text)):
        if not is_directive(row) or len(row) < 3:
            continue
        word = row[1].text
        if word == "include":
            includes[row[2].text] = None
            pieces.append(text[offset : row[0].start])
            offset = row[-1].end if row[-1].kind != "end" else row[-1].start
        elif word == "define":
            macros[row[2].text] = None
    pieces.append(text[offset:])
    return DetachedText("".join(pieces).strip("\n") + "\n", tuple(includes), tuple(macros))


def without_c_linkage(body: str) -> str:
    """Give C++ names to what says `extern "C"` in the code: in two namespaces such functions would be one."""
    pieces, offset, words = list[str](), 0, [token for token in scan(body) if token.kind != "end"]
    for before, token in pairwise(words):
        if before.text == "extern" and token.text == '"C"':
            pieces += [body[offset : token.start], '"C++"']
            offset = token.end
    return "".join([*pieces, body[offset:]])


def qualified(source: str, kernel: str) -> str:
    """Qualify the kernel's name with the namespaces in which it is defined."""
    spaces, words = list[str | None](), list[Token]()
    for token in scan(source):
        if token.kind == "end":
            continue
        if token.text == "{" and token.kind == "mark":
            spaces.append(_namespace(words))
        elif token.text == "}" and token.kind == "mark" and spaces:
            spaces.pop()
        elif token.kind == "name" and token.text == kernel and None not in spaces and _is_kernel(words):
            return "::".join([*(space for space in spaces if space), kernel])
        words = [*words, token][-64:] if token.text not in (";", "}") or token.kind != "mark" else []
    return kernel


def _namespace(words: list[Token]) -> str | None:
    """Return the name before a brace: empty for one without a name and for `extern "C"`, None where none is opened."""
    texts = [word.text for word in words]
    if texts[-2:] == ["extern", '"C"']:
        return ""
    if "namespace" not in texts:
        return None
    index = len(texts) - 1 - texts[::-1].index("namespace")
    return "".join(texts[index + 1 :]) if all(t == "::" or t.isidentifier() for t in texts[index + 1 :]) else None


def _is_kernel(words: list[Token]) -> bool:
    return any(word.text == "__global__" for word in words)


def names_of(tunables: Mapping[str, int], kernels: Mapping[str, str]) -> str:
    """Write the macros around a body: a value for each tunable, and kernels under names of their own."""
    rows = [f"#define {name} {value}" for name, value in tunables.items()]
    rows += [f"#define {name} {other}" for name, other in kernels.items() if name != other]
    return "\n".join(rows)


def with_defaults(source: str, tunables: Mapping[str, int]) -> str:
    """Put these values first in their lists of the file, so that it means them when nothing is chosen."""
    end = plan_span(source)[1]
    plan = source[:end]
    for name, value in tunables.items():
        listing = re.search(rf"(?m)^\s*{re.escape(name)}\s*=\s*\[([^\]]*)\]", plan)
        if listing is None:
            raise UsageError(
                f"the plan's list of {name} is not on lines of its own, so {value} cannot become its default"
            )
        values = [int(text) for text in re.findall(r"-?\d+", listing[1])]
        listed = ", ".join(str(v) for v in (value, *(v for v in values if v != value)))
        plan = f"{plan[: listing.start(1)]}{listed}{plan[listing.end(1) :]}"
    return plan + source[end:]
