"""A HIP or CUDA file as a text that this machine's compiler takes: HIP's names, device functions without bodies."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from records.errors import TaskError
from sandbox.candidate.pp_tokens import Token, scan
from tasks.expressions import evaluate

OPEN, CLOSE = {"(": ")", "{": "}", "[": "]"}, frozenset(")}]")
MARKS = frozenset({"__global__", "__device__"})
KEPT = frozenset({"__host__", "constexpr", "consteval"})  # beside these a body may be needed by the host
OTHER_NAMES = {
    "cudaDeviceProp": "hipDeviceProp_t",
    "cudaError": "hipError_t",
    "cudaDeviceAttr": "hipDeviceAttribute_t",
    "cudaFuncCache": "hipFuncCache_t",
    "cudaMemoryAdvise": "hipMemoryAdvise",
    "CUdeviceptr": "hipDeviceptr_t",
    "CUstream": "hipStream_t",
}
CUDA = re.compile(r"cu(?:da|Ctx|Mem|Device|HostCall|Stream)[A-Z]\w*|CUdeviceptr|CUstream")
WHOLE = re.compile(r"(?:0x[0-9a-f]+|[0-9][0-9']*)(?:u|l|ul|ull|lu|llu|ll|z|uz)?", re.I)


@dataclass(frozen=True)
class NamedNumber:
    """A whole number that the file gives a name: `#define N (1 << 20)`, `const int n = 4096;`."""

    name: str
    value: int
    start: int  # of the number's text
    end: int
    is_macro: bool
    is_constant: bool  # `constexpr`, or outside of functions
    is_global: bool  # device code may name it
    type_start: int  # where `constexpr` stands; -1 without one


def in_hip(text: str) -> str:
    """Write CUDA's names of the interface for hosts as HIP's."""
    parts, cursor = list[str](), 0
    for token in scan(text):
        if token.kind == "name" and CUDA.fullmatch(token.text):
            parts += [text[cursor : token.start], _hip_name(token.text)]
            cursor = token.end
    return "".join([*parts, text[cursor:]])


def _hip_name(name: str) -> str:
    if name in OTHER_NAMES:
        return OTHER_NAMES[name]
    return "hip" + (name[4:] if name.startswith("cuda") else name[2:])


def _code(text: str) -> list[Token]:
    """All tokens that are not part of a directive."""
    tokens, in_directive, is_first = list[Token](), False, True
    for token in scan(text):
        if token.kind == "end":
            in_directive, is_first = False, True
            continue
        if is_first and token.text == "#":
            in_directive = True
        is_first = False
        if not in_directive:
            tokens.append(token)
    return tokens


def device_bodies(text: str) -> list[tuple[int, int]]:
    """Find the bodies of functions that only the device has, braces included."""
    tokens, bodies = _code(text), list[tuple[int, int]]()
    index = 0
    while index < len(tokens):
        if tokens[index].text not in MARKS or tokens[index].kind != "name":
            index += 1
            continue
        before = _before(tokens, index)
        opening = _body_after(tokens, index)
        if opening is None:
            index += 1
            continue
        words = {t.text for t in (*tokens[before:index], *tokens[index:opening])}
        closing = _closing(tokens, opening)
        if words.isdisjoint(KEPT):
            bodies.append((tokens[opening].start, tokens[closing].end))
        index = closing + 1
    return bodies


def _before(tokens: Sequence[Token], index: int) -> int:
    """Find where the declaration begins that this word is part of."""
    while index > 0 and tokens[index - 1].text not in (";", "}", "{", ":"):
        index -= 1
    return index


def _body_after(tokens: Sequence[Token], index: int) -> int | None:
    """Find the brace that opens the function's body; None for variables, prototypes and constructors' lists."""
    depth, has_parameters = 0, False
    for position in range(index, min(index + 4000, len(tokens))):
        text = tokens[position].text
        if text in ("(", "["):
            depth += 1
        elif text in (")", "]"):
            depth -= 1
            has_parameters = has_parameters or (depth == 0 and text == ")")
            if depth < 0:
                return None
        elif depth == 0 and text == "{":
            return position if has_parameters else None
        elif depth == 0 and (text in (";", "}") or (text in ("=", ":") and has_parameters)):
            return None
    return None


def _closing(tokens: Sequence[Token], opening: int) -> int:
    depth = 0
    for position in range(opening, len(tokens)):
        depth += (tokens[position].text == "{") - (tokens[position].text == "}")
        if depth == 0:
            return position
    return len(tokens) - 1


def without_bodies(text: str) -> str:
    """Empty the bodies of device functions; lines keep their numbers."""
    parts, cursor = list[str](), 0
    for start, end in device_bodies(text):
        parts += [text[cursor:start], "{" + "\n" * text.count("\n", start, end) + "}"]
        cursor = end
    return "".join([*parts, text[cursor:]])


def device_words(text: str) -> frozenset[str]:
    """Collect the names in bodies of device functions, and in what their declarations say."""
    bodies = device_bodies(text)
    return frozenset(t.text for start, end in bodies for t in scan(text[start:end]) if t.kind == "name")


def named_numbers(text: str) -> list[NamedNumber]:
    """Find all named whole numbers; of one name that has several, each."""
    numbers, in_device = list[NamedNumber](), device_bodies(text)
    for match in re.finditer(
        r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+([^\n/]+?)[ \t]*(?://[^\n]*|/\*[^\n]*)?$", text, re.M
    ):
        value = literal_value(match[2])
        if value is not None:
            numbers.append(NamedNumber(match[1], value, match.start(2), match.end(2), True, True, True, -1))
    tokens, depth = _code(text), 0
    for index, token in enumerate(tokens):
        depth += (token.text == "{") - (token.text == "}")
        is_named = token.text == "=" and index > 1 and tokens[index - 1].kind == "name"
        braced = (
            token.text == "{" and index > 1 and tokens[index - 1].kind == "name" and tokens[index - 2].kind == "name"
        )
        if not (is_named or braced) or any(a <= token.start < b for a, b in in_device):
            continue
        end = index + 1
        while end < len(tokens) and tokens[end].text not in (";", ",", "}") and end < index + 16:
            end += 1
        if end == index + 1 or end >= len(tokens):
            continue
        start_at, end_at = tokens[index + 1].start, tokens[end - 1].end
        value = literal_value(text[start_at:end_at])
        first = _before(tokens, index - 1)
        words = [t.text for t in tokens[first : index - 1]]
        if value is None or not words or "for" in words or "enum" in words or "float" in words or "double" in words:
            continue
        constant = next((t.start for t in tokens[first : index - 1] if t.text == "constexpr"), -1)
        is_constant = constant >= 0 or (depth == 0 and not braced)
        numbers.append(
            NamedNumber(
                tokens[index - 1].text, value, start_at, end_at, False, is_constant, depth == 0 and not braced, constant
            )
        )
    starts = {n.start for n in numbers}
    numbers += [n for n in _defaults(text, tokens) if n.start not in starts]
    return sorted(numbers, key=lambda n: n.start)


def _defaults(text: str, tokens: Sequence[Token]) -> list[NamedNumber]:
    """Find the numbers that stand in for words of a command line: `("size", 1024)`, `n = argc > 1 ? ... : 1024;`."""
    numbers, in_device = list[NamedNumber](), device_bodies(text)
    for index in range(2, len(tokens) - 1):
        token, before = tokens[index], tokens[index - 1].text
        if token.kind != "number" or any(a <= token.start < b for a, b in in_device):
            continue
        name = ""
        if before == "," and tokens[index - 2].kind == "string":
            name = re.sub(r"\W+", "_", tokens[index - 2].text.strip('"')).strip("_")
        elif before == ":" and tokens[index + 1].text in (";", ","):
            words = [t.text for t in tokens[_before(tokens, index - 1) : index]]
            name = words[words.index("=") - 1] if "?" in words and "=" in words else ""
        value = literal_value(token.text)
        if value is not None and re.fullmatch(r"[A-Za-z_]\w*", name):
            numbers.append(NamedNumber(name, value, token.start, token.end, False, False, False, -1))
    return numbers


def _local_constants(text: str) -> list[Token]:
    """Find the word `constexpr` of variables in functions of the host."""
    tokens, depth, positions = _code(text), 0, list[Token]()
    for index, token in enumerate(tokens):
        depth += (token.text == "{") - (token.text == "}")
        following = [t.text for t in tokens[index + 1 : index + 12]]
        if token.text == "constexpr" and depth and following[:1] != ["("] and tokens[index - 1].text != "if":
            head = following[: following.index(";")] if ";" in following else following
            if "=" in head or "{" in head:
                positions.append(token)
    return positions


def literal_value(text: str) -> int | None:
    """Evaluate an expression of whole literals alone; None for another."""
    words = text.split("//")[0].strip()
    tokens = [t for t in scan(words) if t.kind != "end"]
    if not tokens or len(tokens) > 15:
        return None
    parts = list[str]()
    for token in tokens:
        if token.kind == "number" and WHOLE.fullmatch(token.text):
            parts.append(str(_whole(token.text)))
        elif token.kind == "mark" and token.text in ("+", "-", "*", "(", ")", "<<"):
            parts.append(token.text)
        elif token.kind == "name" and token.text in ("int", "unsigned", "long", "size_t", "static_cast", "uint32_t"):
            return None
        else:
            return None
    try:
        value = evaluate(" ".join(parts), {})
    except (ValueError, ArithmeticError, TaskError):
        return None
    return value if isinstance(value, int) and 0 < value < 1 << 40 else None


def _whole(text: str) -> int:
    digits = re.sub(r"[uUlLzZ]+$", "", text).replace("'", "")
    if digits.lower().startswith("0x"):
        return int(digits, 16)
    return int(digits, 8) if re.fullmatch(r"0[0-7]+", digits) else int(digits)


def with_values(text: str, numbers: Sequence[NamedNumber], values: Mapping[int, str]) -> str:
    """Put other texts in the place of numbers, by their index; where they are calls, no local is `constexpr`."""
    edits = list[tuple[int, int, str]]()
    if any("(" in words for words in values.values()):
        edits += [(t.start, t.end, "const") for t in _local_constants(text)]
    for index, words in values.items():
        number = numbers[index]
        edits.append((number.start, number.end, words))
        if number.type_start >= 0 and "(" in words:
            edits.append((number.type_start, number.type_start + len("constexpr"), "const"))
    parts, cursor = list[str](), 0
    for start, end, words in sorted(set(edits)):
        if start < cursor:
            continue
        parts += [text[cursor:start], words]
        cursor = end
    return "".join([*parts, text[cursor:]])
