"""The candidate's text as the GPU's compiler preprocesses it, which is what the lab executes.

Both builds see the same tokens, so no macro, no condition and no `__has_...` can choose other code for the lab than for
the GPU. What is left to tell them apart are a few words of the language, which are refused here along with those that
would switch the lab's checks off, and behaviour at run time: addresses, the last bits of approximate functions, the
order of workgroups. Those stay open; a device's own verdict closes them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from operator import itemgetter

from records.evaluation import Code, Finding
from sandbox.candidate.diagnostics import SOURCE, code_of_error, refusal
from sandbox.candidate.header_names import OURS, code_only, header_words

_MARKER = re.compile(r'# (\d+) "([^"]*)"((?: \d)*)$')
_DIRECTIVE = re.compile(r"[ \t\f\v]*(?:#|%:)[ \t\f\v]*(\w+)[ \t\f\v]*(\w*)")
_KEYWORD = re.compile(r"__attribute__\s*\(\s*\(\s*_*(global|device|host|shared|constant|managed)_*\s*\)\s*\)")
_LIBRARY = re.compile(r"#pragma\s+comment\b.*")
_ASKS = re.compile(r"\b__builtin_(?:COLUMN|constant_p|source_location|cpu_\w+|ia32_\w+|frame_address|return_address)\b")
_SWITCHES = re.compile(r"\b_*(?:no_sanitize\w*|disable_sanitizer_instrumentation|no_instrument_function)\b")
_ATTRIBUTES = re.compile(r"\b__attribute(?:__)?\s*\(|\b__declspec\s*\(|\[\[|#pragma\s+clang\s+(?:attribute|section)\b")
_LIST = r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
_NOT_HEAD = re.compile(rf"\[\[.*?\]\]|\b(?:__attribute__|alignas|decltype|__declspec)\s*{_LIST}|^#[^\n]*", re.M | re.S)
_INNER = re.compile(
    r"\s*(?:else\s+)?(?:if|for|while|switch|catch|return|asm|__asm__|requires)\b|.*(?:\[[^\[\]]*\]\s*\(|[=&|]\s*requires\b)",
    re.S,
)  # statements, lambdas, and what a template requires
_TYPE = re.compile(r"\b(?:struct|class|union|enum|namespace|requires|concept)\b[^()]*$")
_VALUE = re.compile(r"[=+*/?|^%!\]][^()]*$")  # an expression that ends in a braced value
_MARKED = re.compile(r"\b(?:__device__|__global__|constexpr|consteval)\b")
_REFUSED = re.compile(
    r"\b_*(nodebug|naked|section|weak|weakref|weak_import|alias|target|target_clones|target_version"
    r"|cpu_dispatch|cpu_specific|annotate|shared|global|device|host|constant|managed)_*\b"
)


@dataclass(frozen=True)
class DeviceText:
    """Preprocessed text with the includes in their places, and the candidate's line of each of its lines."""

    text: str
    lines: tuple[int, ...]


def source_refusals(source: str) -> tuple[Finding, ...]:
    """Faults that show only before preprocessing: the lab's own names, false line numbers, rewritten headers."""
    found = [
        refusal(
            f"the name {match[0]} belongs to the judge; the same code must run in the lab and on the GPU, so "
            "a candidate may neither ask for such a name nor define it",
            number,
        )
        for number, line in enumerate(code_only(source).split("\n"), 1)
        for match in OURS.finditer(line)
    ]
    return tuple((found + list(_directives(source)))[:20])


def _directives(source: str) -> Iterator[Finding]:
    early: list[tuple[int, str]] = []
    spliced = source.replace("\\\n", "\0")  # a directive may go on over several lines
    number = 1
    for line in code_only(spliced).split("\n"):
        match = _DIRECTIVE.match(line.replace("\0", ""))
        if match and (match[1] == "line" or match[1].isdigit()):
            yield refusal("#line may not be used: findings could not name the line that they mean", number)
        elif match and match[1] in ("define", "undef") and match[2] in header_words():
            early.append((number, match[2]))
        elif match and match[1].startswith("include"):
            yield from (
                refusal(
                    f"#define {word} after the includes: the headers use this name themselves",
                    where,
                    code_of_error(word),  # the word is the candidate's: a builtin, a launch bound
                )
                for where, word in early
            )
            early = []
        number += 1 + line.count("\0")


def device_text(preprocessed: str) -> DeviceText | tuple[Finding, ...]:
    """The candidate's own part of what `clang -E` prints for the GPU; findings when it includes what it may not."""
    text, lines = list[str](), list[int]()
    file, line, depth = SOURCE, 1, 0
    for row in preprocessed.split("\n"):
        if not (match := _MARKER.match(row)):
            if file == SOURCE and not depth:
                text.append(_KEYWORD.sub(r"__\1__", _LIBRARY.sub("", row)))
                lines.append(line)
            line += 1
            continue
        flags = match[3].split()
        if "1" in flags:
            refused = _included(match[2], line, depth) if not match[2].startswith("<") else None
            if isinstance(refused, Finding):
                return (refused,)
            if refused and not depth:
                text.append(refused)
                lines.append(line)
            depth += 1
        elif "2" in flags:
            depth -= 1
        file, line = match[2], int(match[1])
        if file == SOURCE and not depth:
            text.append(f'# {line} "{SOURCE}"')
            lines.append(line)
    return DeviceText("\n".join(text), tuple(lines))


def _included(name: str, line: int, depth: int) -> str | Finding | None:
    if name.endswith(SOURCE):
        return refusal("the file may not include itself", line)
    if not depth and "ks_" in name:
        return refusal("the judge's own headers are not for candidates; include <hip/hip_runtime.h>", line)
    return f"#include <{name.split('/', 2)[2]}>" if name.count("/") > 1 else None


def text_refusals(made: DeviceText) -> tuple[Finding, ...]:
    """Words that behave differently in the two builds, or that would switch off what the lab looks at."""
    code = code_only(made.text)

    def refused(at: int, message: str, meaning: Code = "A.1") -> tuple[int, Finding]:
        return at, refusal(message, made.lines[code.count("\n", 0, at)], meaning)

    found = [
        refused(
            match.start(),
            f"{match[0]} may not be used: its answer depends on the compiler, and the same code must "
            "run in the lab and on the GPU",
            "B.1",
        )
        for match in _ASKS.finditer(code)
    ]
    found += [
        refused(match.start(), f"the name {match[0]} belongs to the judge; choose another")
        for match in OURS.finditer(code)
    ]
    found += [
        refused(match.start(), f"{match[0]} may not be used: every memory access is checked")
        for match in _SWITCHES.finditer(code)
    ]
    for start, inside in _attributes(code):
        found += [
            refused(
                start,
                f"the attribute {match[1]} may not be used in a candidate (write __shared__, __device__, "
                "__constant__ and __global__ as such)",
            )
            for match in _REFUSED.finditer(inside)
        ]
    found += [
        refused(at, "a function without __device__ is host code, which a candidate may not have; mark or remove it")
        for at in _unmarked(code)
    ]
    return tuple(dict.fromkeys(finding for _, finding in sorted(found, key=itemgetter(0))))[:20]


def _unmarked(code: str) -> Iterator[int]:
    """Start of the body of a function that the GPU's compiler takes for the host's and passes over."""
    start, depth = 0, 0
    for match in re.finditer(r"[(){};]", code):
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        if depth > 0 or match[0] in "()":
            continue
        head = _NOT_HEAD.sub(" ", code[start : match.start()]) if match[0] == "{" else ""
        if "(" in head and not (_INNER.match(head) or any(p.search(head) for p in (_TYPE, _VALUE, _MARKED))):
            yield match.start()
        start = match.end()


def at_source(findings: tuple[Finding, ...], made: DeviceText) -> tuple[Finding, ...]:
    """Findings on lines of the preprocessed text, moved to the candidate's own."""
    return tuple(replace(f, line=made.lines[f.line - 1] if f.line else None) for f in findings)


def _attributes(code: str) -> Iterator[tuple[int, str]]:
    """Start and content of each attribute list."""
    for match in _ATTRIBUTES.finditer(code):
        end = match.end()
        if match[0].startswith("#"):
            end = (code + "\n").index("\n", end)
        elif match[0] == "[[":
            end = max(end, code.find("]]", end))
        else:
            depth = 1
            while depth and end < len(code):
                depth += {"(": 1, ")": -1}.get(code[end], 0)
                end += 1
        yield match.start(), code[match.start() : end]
