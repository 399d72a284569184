"""Changes inside loops and statements: unrolling, stores past the caches, the hardware's own functions."""

from __future__ import annotations

import re

from agents.source import KernelFile, KernelText, closing, on_directive, substitute, words

_PLAIN = frozenset(
    {
        "float",
        "double",
        "int",
        "unsigned",
        "unsigned int",
        "short",
        "unsigned short",
        "char",
        "signed char",
        "unsigned char",
        "long",
        "long long",
        "unsigned long long",
        "int32_t",
        "uint32_t",
        "_Float16",
        "uint16_t",
        "int16_t",
        "uint8_t",
        "int8_t",
    }
)
_FAST = {"expf": "__expf", "logf": "__logf"}
_TANH = ("(1.0f - __fdividef(2.0f, 1.0f + __expf(2.0f * (", "))))")  # the ends of what stands for tanhf(...)


def unroll_variants(file: KernelFile, arch: str, reserved: frozenset[str]) -> tuple[str, ...]:
    """Factors, where an innermost loop has no pragma yet."""
    return ("2", "4", "8") if _innermost(file) else ()


def unroll(file: KernelFile, variant: str) -> str:
    """Put the pragma on a line of its own before each loop."""
    edits = []
    for offset in _innermost(file):
        start = file.code.rfind("\n", 0, offset) + 1
        indent = file.source[start:offset] if not file.source[start:offset].strip() else ""
        if indent or start == offset:
            edits.append((start, start, f"{indent}#pragma unroll {variant}\n"))
        else:
            edits.append((offset, offset, f"\n#pragma unroll {variant}\n"))
    return substitute(file.source, edits)


def store_variants(file: KernelFile, arch: str, reserved: frozenset[str]) -> tuple[str, ...]:
    """List `outputs` where every use of a written pointer is a plain store to an element of a built-in type."""
    return ("outputs",) if any(_stores(file, k) for k in file.kernels) else ()


def nontemporal_stores(file: KernelFile, variant: str) -> str:
    """Replace `y[i] = v;` by the builtin."""
    edits = []
    for kernel in file.kernels:
        for start, bracket, equals, end in _stores(file, kernel):
            target, value = file.source[start : bracket + 1], file.source[equals + 1 : end].strip()
            edits.append((start, end, f"__builtin_nontemporal_store({value}, &{target})"))
    return substitute(file.source, edits)


def math_variants(file: KernelFile, arch: str, reserved: frozenset[str]) -> tuple[str, ...]:
    """`native` where a precise function is called that has a hardware form."""
    return ("native",) if any(words(file.code, rf"{name}\s*(?=\()") for name in (*_FAST, "tanhf")) else ()


def fast_math(file: KernelFile, variant: str) -> str:
    """Replace the calls."""
    edits = [
        (m.start(), m.start() + len(name), fast)
        for name, fast in _FAST.items()
        for m in words(file.code, rf"{name}\s*(?=\()")
    ]
    for call in words(file.code, r"tanhf\s*(?=\()"):
        close = closing(file.code, call.end())
        if close > 0 and not on_directive(file.code, call.start()):
            edits += [(call.start(), call.end() + 1, _TANH[0]), (close, close + 1, _TANH[1])]
    return substitute(file.source, edits)


def _innermost(file: KernelFile) -> list[int]:
    """Offsets of `for` keywords whose loop holds no other loop and follows no pragma."""
    offsets = []
    for match in words(file.code, "for"):
        opening = re.compile(r"\s*\(").match(file.code, match.end())
        if not opening or on_directive(file.code, match.start()):
            continue
        close = closing(file.code, opening.end() - 1)
        if close < 0:
            continue
        end = statement_end(file.code, close + 1)
        before = file.source[: match.start()].rstrip().rpartition("\n")[2].lstrip()
        if end > 0 and not words(file.code, "(?:for|while|do)", close, end) and not before.startswith(("#", "_Pragma")):
            offsets.append(match.start())
    return offsets


def statement_end(code: str, offset: int) -> int:
    """Offset behind the statement that starts at `offset`: a block, or up to its semicolon."""
    start = re.compile(r"\s*").match(code, offset)
    offset = start.end() if start else offset
    if offset < len(code) and code[offset] == "{":
        return closing(code, offset) + 1
    depth = 0
    for index in range(offset, len(code)):
        depth += (code[index] in "([{") - (code[index] in ")]}")
        if depth < 0:
            return -1
        if code[index] == ";" and depth == 0:
            return index + 1
    return -1


def _stores(file: KernelFile, kernel: KernelText) -> list[tuple[int, int, int, int]]:
    """(start, closing bracket, equals sign, semicolon) of every plain store to a pointer that is only stored to."""
    spans: list[tuple[int, int, int, int]] = []
    for parameter in kernel.parameters:
        is_read_only = "const" in parameter.text.split("*")[0].split()
        if parameter.pointee not in _PLAIN or is_read_only:
            continue
        uses = [
            m
            for m in words(file.code, re.escape(parameter.name), *kernel.body)
            if not re.compile(r"\s*[+-]=").match(file.code, m.end())
        ]  # moving the pointer reads nothing
        stores = [_store(file.code, use) for use in uses]
        if stores and all(stores):
            spans += [s for s in stores if s]
    return spans


def _store(code: str, use: re.Match[str]) -> tuple[int, int, int, int] | None:
    before = code[: use.start()].rstrip()
    opening = re.compile(r"\s*\[").match(code, use.end())
    if not opening or on_directive(code, use.start()) or not before.endswith((";", "{", "}", ")", "else")):
        return None
    bracket = closing(code, opening.end() - 1)
    equals = re.compile(r"\s*=(?!=)").match(code, bracket + 1) if bracket > 0 else None
    end = statement_end(code, equals.end()) - 1 if equals else -1
    if not equals or end < 0 or (before.endswith(")") and _is_cast(code, len(before))):
        return None
    depth = 0
    for char in code[equals.end() : end]:
        depth += (char in "([{") - (char in ")]}")
        if (char == "," and depth == 0) or char == "=" or char == "{":
            return None
    return use.start(), bracket, equals.end() - 1, end


def _is_cast(code: str, end: int) -> bool:
    """Tell whether the parenthesis that ends here is not the head of an if, for or while."""
    depth = 0
    for index in range(end - 1, -1, -1):
        depth += (code[index] == ")") - (code[index] == "(")
        if depth == 0:
            return not re.search(r"\b(?:if|for|while|constexpr)\s*$", code[:index])
    return True
