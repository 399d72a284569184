"""Inline assembly in candidates: waits and barriers that the lab knows are translated, the rest is refused."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from records.evaluation import Finding
from sandbox.candidate.diagnostics import refusal
from sandbox.candidate.pp_tokens import Token, scan

STATEMENT = "ks_asm"  # stands in what replaces a statement
_ASM = frozenset({"asm", "__asm", "__asm__"})
_QUALIFIERS = frozenset({"volatile", "__volatile", "__volatile__", "inline", "__inline", "__inline__", "goto"})
_DEPTH = {"(": 1, ")": -1}
_NOTHING = re.compile(
    r"(?:s_(?:waitcnt(?:_\w+)?|nop|setprio|sleep|inst_prefetch)\b|buffer_(?:inv|wb)\w*\b)[\w ,()&.%\[\]-]*|"
)
_WAIT = re.compile(r"(vmcnt|lgkmcnt)\((\d+)\)")
_ESCAPE = re.compile(r"\\(?:([ntr])|([\\\"'?]))")


def translate(source: str) -> tuple[str, tuple[Finding, ...]]:
    """The source with known assembly replaced on the same lines, and a finding for each statement that is not known."""
    pieces, findings, at = list[str](), list[Finding](), 0
    for start, end, line, inside in _statements(scan(source)):
        replacement = _replacement(inside)
        if replacement is None:
            shown = " ".join(" ".join(_written(t) or "..." for t in inside if t.kind in ("string", "raw")).split())[:80]
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


def _statements(tokens: Sequence[Token]) -> Iterator[tuple[int, int, int, list[Token]]]:
    """Start, end, line and the tokens between the parentheses of each asm statement; whatever follows `asm` is one."""
    index = 0
    while index < len(tokens):
        word = tokens[index]
        index += 1
        if word.kind != "name" or word.text not in _ASM:
            continue
        while index < len(tokens) and (tokens[index].kind == "end" or tokens[index].text in _QUALIFIERS):
            index += 1
        inside, depth, end = list[Token](), 0, word.end
        while index < len(tokens):
            token = tokens[index]
            depth += _DEPTH.get(token.text, 0) if token.kind == "mark" else 0
            if not depth and token.text != ")":
                break  # no parenthesis follows: nothing that can be translated
            end, index = token.end, index + 1
            if not depth:
                break
            inside.append(token)
        yield word.start, end, word.line, [token for token in inside[1:] if token.kind != "end"]


def _replacement(inside: Sequence[Token]) -> str | None:
    """C++ that does the same; None where the text, an operand or an instruction is not known."""
    template, *operands = _sections(inside)
    texts = [_written(token) for token in template]
    if not texts or None in texts or not all(_is_kept(token) for token in operands[0]):
        return None
    written = "".join(text for text in texts if text)
    calls = [] if "/*" in written else _calls(written)
    if calls is None or "/*" in written or any(token.kind == "raw" for part in operands for token in part):
        return None
    read = [f"(void)({given})" for part in operands[:2] for given in _expressions(part)]
    return f'((void)"{STATEMENT}", ' + ", ".join([*calls, *read, "(void)0"]) + ")"


def _sections(inside: Sequence[Token]) -> list[list[Token]]:
    """The template, the outputs, the inputs and whatever follows."""
    found, depth = [list[Token]()], 0
    for token in inside:
        depth += _DEPTH.get(token.text, 0) if token.kind == "mark" else 0
        if depth or token.kind != "mark" or token.text not in (":", "::"):
            found[-1].append(token)
        else:
            found += [list[Token]() for _ in token.text]
    return [*found, *([] for _ in range(3 - len(found)))]


def _is_kept(token: Token) -> bool:
    """False for the constraint of an output that the statement leaves undefined."""
    return token.kind not in ("string", "raw") or token.text.startswith('"+')


def _calls(written: str) -> list[str] | None:
    calls = []
    for line in written.split("\n"):
        instruction = line.partition(";")[0].partition("//")[0].strip()  # both begin a comment
        if instruction == "s_barrier":
            calls.append("__builtin_amdgcn_s_barrier()")
        elif instruction.startswith("s_waitcnt") and (waits := _WAIT.findall(instruction)):
            calls.append(f"__builtin_amdgcn_s_waitcnt({_encoded(dict(waits))})")
        elif not _NOTHING.fullmatch(instruction):
            return None
    return calls


def _expressions(part: Sequence[Token]) -> Iterator[str]:
    """The expressions of operands, which are evaluated whatever the statement does."""
    words, depth = list[str](), 0
    for token in part:
        step = _DEPTH.get(token.text, 0) if token.kind == "mark" else 0
        depth += step
        if depth > (step > 0):
            words.append(token.text)
        elif step < 0 and not depth:
            yield " ".join(words)
            words = []


def _written(token: Token) -> str | None:
    """The characters of a plain string; None for anything else, and for escapes that no known instruction needs."""
    body = token.text
    if token.kind == "raw" and body.startswith('R"') and body.endswith('"'):
        return body[body.index("(") + 1 : body.rindex(")")]
    if token.kind != "string" or body[0] != '"' or body[-1] != '"':
        return None
    plain = _ESCAPE.sub(lambda m: {"n": "\n", "t": " ", "r": " "}[m[1]] if m[1] else m[2], body[1:-1])
    return None if "\\" in _ESCAPE.sub("", body) else plain


def _encoded(waits: dict[str, str]) -> int:
    """The operand of s_waitcnt on gfx9; counters that are not named do not wait."""
    memory, local = min(63, int(waits.get("vmcnt", "63")[:4])), min(15, int(waits.get("lgkmcnt", "15")[:4]))
    return memory & 15 | (memory >> 4) << 14 | 7 << 4 | local << 8
