"""Inline assembly in candidates: waits, barriers and single vector instructions are translated.

The rest is refused where a kernel can reach it: a header may hold assembly that this compilation never uses. Directives
and labels are refused everywhere, as they act wherever they stand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from records.evaluation import Finding
from sandbox.candidate.diagnostics import refusal
from sandbox.candidate.pp_tokens import Token, scan
from sandbox.lab.build.buffer_intrinsics import LABEL
from sandbox.lab.build.lane_modifiers import Lanes
from sandbox.lab.build.vector_instructions import Operand, VectorInstruction, constant_of, parsed

STATEMENT = "ks_asm"  # stands in what replaces a statement
_ASM = frozenset({"asm", "__asm", "__asm__"})
_QUALIFIERS = frozenset({"volatile", "__volatile", "__volatile__", "inline", "__inline", "__inline__", "goto"})
_DEPTH = {"(": 1, ")": -1}
_NOTHING = re.compile(
    r"(?:s_(?:waitcnt(?:_\w+)?|nop|setprio|sleep|inst_prefetch)\b|buffer_(?:inv|wb)\w*\b|v_nop\b)[\w ,()&.%\[\]-]*|"
)
_WAIT = re.compile(r"(vmcnt|lgkmcnt)\((\d+)\)")
_SYMBOL = re.compile(r'@("[^"]*"|[-\w$.]+)')
_UNKNOWN = re.compile(r"ks_unknown_asmILi(\d+)E")
_PLACED = re.compile(r"[ \t]*(?:\.|[\w$.\"]+[ \t]*:(?!:))")  # a directive or a label
_ESCAPE = re.compile(r"\\(?:([ntr])|([\\\"'?]))")


@dataclass(frozen=True)
class Translated:
    """The source with assembly replaced on the same lines."""

    text: str
    refused: tuple[Finding, ...]  # statements that may stand nowhere
    unknown: tuple[Finding, ...]  # of those that no kernel may reach; each by its number in the text


def translate(source: str) -> Translated:
    """Replace the assembly of a preprocessed source."""
    pieces, refused, unknown, at = list[str](), list[Finding](), list[Finding](), 0
    for start, end, line, inside in _statements(scan(source)):
        if [LABEL.fullmatch(_written(token) or "") is None for token in inside] == [False]:
            continue  # the name of an intrinsic, behind a declaration
        replacement = _replacement(inside)
        if replacement is None:
            shown = " ".join(" ".join(_written(t) or "..." for t in inside if t.kind in ("string", "raw")).split())[:80]
            said = (
                f'the lab cannot execute the inline assembly "{shown}"; use the '
                "builtin (__builtin_amdgcn_...) or plain C++ for it"
            )
            may_stay = _is_plain(inside)
            replacement = f'((void)"{STATEMENT}", ks_unknown_asm<{len(unknown)}>())' if may_stay else "((void)0)"
            (unknown if may_stay else refused).append(refusal(said, line, "B.1"))
        pieces += [source[at:start], replacement, "\n" * source.count("\n", start, end)]
        at = end
    return Translated("".join([*pieces, source[at:]]), tuple(refused), tuple(unknown))


def reached(unknown: Sequence[Finding], module: str) -> tuple[Finding, ...]:
    """The findings of what a kernel can reach by calls and the lab cannot execute.

    `module` is LLVM's text before any optimisation.
    """
    if not unknown:
        return ()
    uses, entry = dict[str, list[str]](), list[str]()
    for line in module.split("\n"):
        if line.startswith(("define ", "@")):
            entry = uses.setdefault((_SYMBOL.findall(line) or [""])[0], [])
        if "@" in line:
            entry += _SYMBOL.findall(line)
    seen, fresh = set[str](), [name for name in uses if name.startswith("ks_launch_")]
    while fresh:
        name = fresh.pop()
        if name not in seen:
            seen.add(name)
            fresh += uses.get(name, ())
    numbers = sorted({int(match[1]) for name in seen if (match := _UNKNOWN.search(name))})
    return tuple(unknown[number] for number in numbers if number < len(unknown))


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


def _is_plain(inside: Sequence[Token]) -> bool:
    """True for instructions alone, which do nothing where they are not executed."""
    texts = [_written(token) for token in _sections(inside)[0]]
    written = "".join(text or "" for text in texts)
    if not texts or None in texts or "/*" in written:
        return False
    return not any(_PLACED.match(line) for line in written.split("\n"))


def _replacement(inside: Sequence[Token]) -> str | None:
    """C++ that does the same; None where the text, an operand or an instruction is not known."""
    template, *operands = _sections(inside)
    texts = [_written(token) for token in template]
    if not texts or None in texts or any(token.kind == "raw" for part in operands for token in part):
        return None
    written = "".join(text for text in texts if text)
    if "/*" in written:
        return None
    if (calculated := _calculated(written, operands)) is not None:
        return calculated
    if not all(_is_kept(token) for token in operands[0]):
        return None
    calls = _calls(written)
    if calls is None:
        return None
    read = [f"(void){given}" for part in operands[:2] for given in _expressions(part)]
    return f'((void)"{STATEMENT}", ' + ", ".join([*calls, *read, "(void)0"]) + ")"


@dataclass(frozen=True)
class _Register:
    """An operand of the statement: its constraint and the C++ behind it."""

    constraint: str
    given: str
    start: str = ""  # of an operand that begins in this register

    @property
    def is_result(self) -> bool:
        return self.constraint[:1] in "=+"


def _calculated(written: str, operands: Sequence[Sequence[Token]]) -> str | None:
    """C++ for vector instructions over the statement's operands; None where one is not known."""
    lines = [line.partition(";")[0].partition("//")[0].strip() for line in written.split("\n")]
    read = [parsed(line) for line in lines if line and not line.startswith(("v_nop", "s_nop "))]
    registers = _registers(operands)
    if registers is None or not read:
        return None
    values = {key: index for key, (index, _) in registers.items()}
    by_number = {index: register for index, register in registers.values()}
    body, results = list[str](), set[int]()
    for place, instruction in enumerate(read):
        if instruction is None or any(o.key and o.key not in values for o in instruction.operands):
            return None
        known, (into, *sources), lanes = instruction
        target = values[into.key]
        later = any(
            o.key and not by_number[values[o.key]].is_result for x in read[place + 1 :] if x for o in x.operands
        )
        if not by_number[target].is_result or (later and by_number[target].constraint[:2] not in ("=&", "+&")):
            return None  # not a result, or one that may share its register with an operand that is read afterwards
        results.add(target)
        body.append(_executed(known, target, sources, lanes, values))
    if results != {index for index, register in by_number.items() if register.is_result}:
        return None
    starts = "".join(_start(index, register) for index, register in sorted(by_number.items()))
    ends = "".join(f"{by_number[index].given} = ks_v{index}; " for index in sorted(results))
    return f'((void)"{STATEMENT}", ({{ {starts}{" ".join(body)} {ends}}}))'


def _executed(
    known: VectorInstruction, target: int, sources: Sequence[Operand], lanes: Lanes | None, values: Mapping[str, int]
) -> str:
    """C++ for one instruction over the registers `ks_v...`."""
    given = [_given(o, kind, values) for o, kind in zip(sources, known.operands, strict=True)]
    before = condition = ""
    if lanes:
        before = f"const int ks_from = {lanes.read(f'ks_asm_get<int>(ks_v{values[sources[0].key]})')}; "
        condition = f"if ({lanes.is_written}) "
        given[0] = f"{'-' * sources[0].is_negated}ks_asm_get<{known.operands[0]}>(ks_from)"
    named = "".join(
        f"const {kind} {name} = {value}; " for name, kind, value in zip("abc", known.operands, given, strict=False)
    )
    own = f"const {known.result} d = ks_asm_get<{known.result}>(ks_v{target}); " if "d)" in known.expression else ""
    result = f"const {known.result} r = {known.expression}; "
    return f"{{ {before}{named}{own}{result}{condition}ks_asm_set(ks_v{target}, r); }}"


def _start(index: int, register: _Register) -> str:
    is_new = register.constraint[:1] == "=" and not register.start
    given = register.given
    return f"__remove_cvref(decltype({given})) ks_v{index}{'{}' if is_new else f' = {register.start or given}'}; "


def _given(operand: Operand, kind: str, values: Mapping[str, int]) -> str:
    value = constant_of(operand, kind) if operand.constant else f"ks_asm_get<{kind}>(ks_v{values[operand.key]})"
    return f"-{value}" if operand.is_negated else value


def _registers(operands: Sequence[Sequence[Token]]) -> dict[str, tuple[int, _Register]] | None:
    """Each operand by its number and by its name; None for a constraint that is no vector or scalar register."""
    found, number = dict[str, tuple[int, _Register]](), 0
    for part in operands[:2]:
        for name, constraint, given in _described(part):
            plain = constraint.lstrip("=+&%")
            if plain.isdigit() and plain in found and given:
                index, tied = found[plain]
                for key in [key for key, (at, _) in found.items() if at == index]:
                    found[key] = (index, replace(tied, start=given))
                found[str(number)] = found[plain]
                number += 1
                continue
            if plain not in ("v", "s", "r", "i", "n", "vi", "iv", "rv", "g") or not given:
                return None
            entry = (number, _Register(constraint, given))
            found[str(number)] = entry
            if name:
                found[name] = entry
            number += 1
    return found


def _described(part: Sequence[Token]) -> Iterator[tuple[str, str, str]]:
    """Name, constraint and expression of each operand."""
    name = constraint = ""
    words, depth = list[str](), 0
    for token in part:
        step = _DEPTH.get(token.text, 0) if token.kind == "mark" else 0
        depth += step
        if depth > (step > 0):
            words.append(token.text)
        elif step < 0 and not depth:
            yield name, constraint, f"({' '.join(words)})"
            name, constraint, words = "", "", []
        elif token.kind == "name":
            name = token.text
        elif token.kind == "string":
            constraint = token.text[1:-1]


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
    return (expression for _, _, expression in _described(part))


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
