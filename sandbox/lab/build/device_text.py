"""The candidate's text as the GPU's compiler preprocesses it, which is what the lab executes.

Both builds see the same tokens, so no macro, no condition and no `__has_...` can choose other code for the lab than for
the GPU. What the two compilers then make of the tokens is compared in `likeness.py`. Refused here are only names of the
judge's, line numbers that are not the file's, and pragmas that act on what the judge adds. Behaviour at run time stays
open: addresses, the last bits of approximate functions, the order of workgroups; a device's own verdict closes that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from records.evaluation import Finding
from sandbox.candidate.diagnostics import SOURCE, code_of_error, refusal
from sandbox.candidate.header_names import is_ours, words_of, words_of_included
from sandbox.candidate.pp_tokens import Token, is_directive, rows, scan

_MARKER = re.compile(r'# (\d+) "([^"]*)"((?: \d)*)$')
_QUOTE = '"'
_KEYWORDS = frozenset({"global", "device", "host", "shared", "constant", "managed"})
_REWRITTEN = frozenset({"__attribute__", "__attribute", "#"})
_ASKING = frozenset({"decltype", "noexcept", "sizeof", "alignof", "typeof", "__typeof", "__typeof__", "__alignof__"})
_PRAGMAS = frozenset(  # of those that clang knows: what names or moves symbols, files, sections or the judge's own
    {
        "attribute",
        "__debug",
        "dependency",
        "force_cuda_host_device",
        "include_alias",
        "linemarker",
        "module",
        "ms_struct",
        "options",
        "redefine_extname",
        "section",
        "system_header",
        "visibility",
        "weak",
    }
)


@dataclass(frozen=True)
class DeviceText:
    """Preprocessed text with the includes in their places, and the candidate's line of each of its lines."""

    text: str
    lines: tuple[int, ...]


def source_refusals(source: str) -> tuple[Finding, ...]:
    """Faults that show only before preprocessing: the lab's own names, false line numbers, rewritten headers."""
    tokens = scan(source)
    found = [
        refusal(
            f"the name {token.text} belongs to the judge; the same code must run in the lab and on the GPU, so "
            "a candidate may neither ask for such a name nor define it",
            token.line,
        )
        for token in tokens
        if (token.kind == "name" and is_ours(token.text)) or (token.kind == "header" and "ks_" in token.text)
    ]
    return tuple((found + list(_directives(tokens, words_of_included(source))))[:20])


def _directives(tokens: list[Token], words: frozenset[str]) -> Iterator[Finding]:
    early: list[tuple[int, str]] = []  # a compiler's own names; others are looked for in `early_definitions`
    for row in rows(tokens):
        if row[-1].kind == "open":
            yield refusal("a comment or a raw string has no end", row[-1].line)
        if not is_directive(row) or len(row) < 2:
            continue
        word, line = row[1].text, row[0].line
        if word == "line" or row[1].kind == "number":
            yield refusal("#line may not be used: findings could not name the line that they mean", line)
        elif word in ("define", "undef") and len(row) > 2 and row[2].text.startswith("__builtin_"):
            early += [(line, row[2].text)] if row[2].text in words else []
        elif word.startswith("include"):
            yield from (_too_early(where, name) for where, name in early)
            early = []


def _too_early(line: int, name: str) -> Finding:
    message = f"#define {name} after the includes: the headers use this name themselves"
    return refusal(message, line, code_of_error(name))  # the word is the candidate's: a builtin, a launch bound


def early_definitions(source: str, preprocessed: str) -> tuple[Finding, ...]:
    """Macros under a name of a header that is read behind them, whether or not their own lines are."""
    named = [
        (row[0].line, row[2].text)
        for row in rows(scan(source))
        if is_directive(row) and len(row) > 2 and row[1].text in ("define", "undef")
    ]
    found = dict[tuple[int, str], Finding]()
    for at, file in _entered(preprocessed) if named else ():
        words = words_of(file)
        found |= {(line, name): _too_early(line, name) for line, name in named if line < at and name in words}
    return tuple(found.values())


def lines_of_definitions(preprocessed: str) -> frozenset[int]:
    """Lines of the candidate whose `#define` or `#undef` the compiler has read; `preprocessed` shows them (-dD)."""
    found, file, line = set[int](), "", 1
    for row in _rows(preprocessed):
        if match := _MARKER.match(row):
            file, line = match[2], int(match[1])
            continue
        if file == SOURCE and row.startswith(("#define ", "#undef ")):
            found.add(line)
        line += row.count("\n") + 1
    return frozenset(found)


def _entered(preprocessed: str) -> Iterator[tuple[int, str]]:
    """The headers of ours that are read, each with the candidate's line that asked for it."""
    line, depth = 1, 0
    for row in _rows(preprocessed):
        match = _MARKER.match(row)
        if match and "1" in match[3].split():
            if match[2].startswith("/include/"):
                yield line, match[2].removeprefix("/include/")
            depth += not match[2].startswith("<")
        elif match:
            depth -= "2" in match[3].split()
            if depth <= 0 and match[2] == SOURCE:
                line, depth = int(match[1]), 0
        elif not depth:
            line += row.count("\n") + 1


def device_text(preprocessed: str) -> DeviceText | tuple[Finding, ...]:
    """The candidate's own part of what `clang -E` prints for the GPU; findings when it includes what it may not."""
    text, lines = list[str](), list[int]()
    file, line, depth = SOURCE, 1, 0
    for row in _rows(preprocessed):
        if not row.startswith("# ") or not (match := _MARKER.match(row)):
            if file == SOURCE and not depth:
                text.append(row)
                lines.extend(range(line, line + row.count("\n") + 1))
            line += row.count("\n") + 1
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
    return DeviceText(_with_keywords("\n".join(text)), tuple(lines))


def _rows(preprocessed: str) -> Iterator[str]:
    """The lines; those of a raw string stay together, whatever they look like."""
    if 'R"' not in preprocessed:
        yield from preprocessed.split("\n")
        return
    at = 0
    while at <= len(preprocessed):
        seen, end = at, _end_of_line(preprocessed, at)
        while 'R"' in (last := preprocessed[seen:end]) and (opened := scan(last)) and opened[-1].kind == "open":
            delimiter = f'){opened[-1].text.partition(_QUOTE)[2][:-1]}"'
            close = preprocessed.find(delimiter, end)
            seen = close + len(delimiter) if close >= 0 else len(preprocessed)
            end = _end_of_line(preprocessed, seen)
        yield preprocessed[at:end]
        at = end + 1


def _end_of_line(text: str, at: int) -> int:
    end = text.find("\n", at)
    return end if end >= 0 else len(text)


def _with_keywords(text: str) -> str:
    """The text with HIP's keywords in place of their attributes, and without libraries that a pragma names."""
    pieces, at = list[str](), 0
    tokens = scan(text) if "__attribute" in text or "#pragma" in text else []
    for index, token in enumerate(tokens):
        if token.text not in _REWRITTEN or (token.kind != "name" and token.text != "#"):
            continue
        group = [t.text for t in tokens[index : index + 6]]
        if token.text != "#" and group[1:3] == ["(", "("] and group[4:6] == [")", ")"]:
            word, end = group[3].strip("_"), tokens[index + 5].end
            if word in _KEYWORDS:
                pieces += [text[at : token.start], f"__{word}__", "\n" * text.count("\n", token.start, end)]
                at = end
        elif group[1:3] == ["pragma", "comment"]:
            pieces.append(text[at : token.start])
            at = _end_of_line(text, token.start)
    return "".join([*pieces, text[at:]])


def _included(name: str, line: int, depth: int) -> str | Finding | None:
    if name.endswith(SOURCE):
        return refusal("the file may not include itself", line)
    if not depth and "ks_" in name:
        return refusal("the judge's own headers are not for candidates; include <hip/hip_runtime.h>", line)
    return f"#include <{name.split('/', 2)[2]}>" if name.count("/") > 1 else None


def text_refusals(made: DeviceText) -> tuple[Finding, ...]:
    """Names of the judge's, pasted from parts, and pragmas that act on what the judge adds."""
    tokens = scan(made.text)
    found = [
        refusal(
            f"{token.text} may not stand in an expression that is not evaluated: the answer depends on the compiler",
            made.lines[token.line - 1],
            "B.1",
        )
        for token in _asked(tokens)
        if token.text.startswith("__builtin_")
    ]
    for row in rows(tokens):
        for token in row:
            if token.kind == "name" and is_ours(token.text):
                message = f"the name {token.text} belongs to the judge; choose another"
                found.append(refusal(message, made.lines[token.line - 1]))
        words = [token.text for token in row]
        named = words[2 + (words[2:3] in (["clang"], ["GCC"])) :][:1]
        if words[:2] == ["#", "pragma"] and _PRAGMAS.intersection(named):
            message = f"#{' '.join(words[1:4])} may not be used: it changes more than this code"
            found.append(refusal(message, made.lines[row[0].line - 1]))
    return tuple(dict.fromkeys(found))[:20]


def _asked(tokens: list[Token]) -> Iterator[Token]:
    """Names in the parentheses of an operator that does not evaluate what stands there."""
    inside, before = [False], ""
    for token in tokens:
        if token.kind == "mark" and token.text == "(":
            inside.append(inside[-1] or before in _ASKING)
        elif token.kind == "mark" and token.text == ")":
            del inside[max(1, len(inside) - 1) :]
        elif token.kind == "name" and inside[-1]:
            yield token
        before = token.text if token.kind != "end" else before


def at_source(findings: tuple[Finding, ...], made: DeviceText) -> tuple[Finding, ...]:
    """Findings on lines of the preprocessed text, moved to the candidate's own."""
    return tuple(replace(f, line=made.lines[f.line - 1] if f.line else None) for f in findings)
