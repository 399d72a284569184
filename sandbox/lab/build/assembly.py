"""Inline assembly in candidates: waits and barriers that the lab knows are translated, the rest is refused."""

from __future__ import annotations

import re
from collections.abc import Iterator

from records.evaluation import Finding
from sandbox.candidate.diagnostics import refusal

_START = re.compile(r"\b(?:asm|__asm__|__asm)\b\s*((?:volatile|__volatile__|inline|goto)\b\s*)*\(")
_SKIP = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)
_STRING = re.compile(r'"((?:\\.|[^"\\])*)"')
_NOTHING = re.compile(
    r"s_(?:waitcnt(?:_\w+)?|nop|setprio|sleep|inst_prefetch)\b.*|buffer_\w*(?:inv|wb)\w*\b.*|;.*|//.*|"
)
_WAIT = re.compile(r"(vmcnt|lgkmcnt)\((\d+)\)")


def translate(source: str) -> tuple[str, tuple[Finding, ...]]:
    """The source with known assembly replaced on the same lines, and a finding for each statement that is not known."""
    pieces, findings, at = [], [], 0
    for start, end, text in _statements(source):
        replacement = _replacement(text)
        if replacement is None:
            line = source.count("\n", 0, start) + 1
            shown = " ".join(" ".join(_STRING.findall(text)).split())[:80]
            findings.append(
                refusal(
                    f'the lab cannot execute the inline assembly "{shown}"; use the '
                    "builtin (__builtin_amdgcn_...) or plain C++ for it",
                    line,
                    "B.1",
                )
            )
            replacement = "((void)0)"
        pieces += [source[at:start], replacement, "\n" * source.count("\n", start, end)]
        at = end
    return "".join([*pieces, source[at:]]), tuple(findings)


def _statements(source: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and argument text of each asm statement outside comments and strings."""
    at = 0
    while at < len(source):
        statement, other = _START.search(source, at), _SKIP.search(source, at)
        if statement is None:
            return
        if other is not None and other.start() < statement.start():
            at = other.end()
            continue
        depth, end = 1, statement.end()
        while end < len(source) and depth:
            skipped = _SKIP.match(source, end)
            if skipped:
                end = skipped.end()
                continue
            depth += {"(": 1, ")": -1}.get(source[end], 0)
            end += 1
        yield statement.start(), end, source[statement.end() : end - 1]
        at = end


def _replacement(text: str) -> str | None:
    template = re.split(r":(?![^\"]*\"(?:[^\"]*\"[^\"]*\")*[^\"]*$)", text, maxsplit=1)[0]
    written = "".join(_STRING.findall(template)).replace("\\n", "\n").replace("\\t", " ").replace(";", "\n")
    calls = []
    for instruction in (line.strip() for line in written.split("\n")):
        if instruction == "s_barrier":
            calls.append("__builtin_amdgcn_s_barrier()")
        elif instruction.startswith("s_waitcnt") and (waits := _WAIT.findall(instruction)):
            calls.append(f"__builtin_amdgcn_s_waitcnt({_encoded(dict(waits))})")
        elif not _NOTHING.fullmatch(instruction):
            return None
    return "(" + ", ".join([*calls, "(void)0"]) + ")"


def _encoded(waits: dict[str, str]) -> int:
    """The operand of s_waitcnt on gfx9; counters that are not named do not wait."""
    memory, local = min(63, int(waits.get("vmcnt", 63))), min(15, int(waits.get("lgkmcnt", 15)))
    return memory & 15 | (memory >> 4) << 14 | 7 << 4 | local << 8
