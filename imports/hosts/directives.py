"""The lines of a file that its conditions leave, and its macros."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from imports.hosts.word_reader import Macro
from imports.hosts.words import Word, words_of
from sandbox.candidate.pp_tokens import Token, is_directive, rows, scan

DEFINED = frozenset({"__HIP_PLATFORM_AMD__", "__HIPCC__", "__HIP__", "USE_ROCM", "__cplusplus", "__CUDACC__"})
_CONDITION = re.compile(r"[\d\s()!&|<>=+\-*/%]*")


def read_lines(text: str) -> tuple[list[Token], dict[str, Macro]]:
    """Read the tokens outside of directives, and the macros that are defined where they stand last."""
    macros: dict[str, Macro] = {}
    tokens = list[Token]()
    for row in _active_rows(rows(scan(text)), macros):
        tokens += row
    return tokens, macros


def _active_rows(lines: Iterator[list[Token]], macros: dict[str, Macro]) -> Iterator[list[Token]]:
    """Yield the rows of taken branches; definitions are put into `macros`."""
    open_ = list[tuple[bool, bool]]()  # of each condition: it is taken, one of its branches was
    for row in lines:
        is_on = all(is_taken for is_taken, _ in open_)
        if not is_directive(row):
            if is_on:
                yield row
            continue
        word = row[1].text if len(row) > 1 else ""
        if word in ("if", "ifdef", "ifndef"):
            holds = is_on and _holds(word, row[2:], macros)
            open_.append((holds, holds or not is_on))
        elif word in ("elif", "else") and open_:
            _, was = open_.pop()
            holds = not was and (word == "else" or _holds("if", row[2:], macros))
            open_.append((holds, was or holds))
        elif word == "endif" and open_:
            open_.pop()
        elif word == "define" and is_on and len(row) > 2:
            macros[row[2].text] = _macro(row)
        elif word == "undef" and is_on and len(row) > 2:
            macros.pop(row[2].text, None)


def _holds(word: str, operands: Sequence[Token], macros: dict[str, Macro]) -> bool:
    texts = [t.text for t in operands]

    def is_defined(name: str) -> bool:
        return name in macros or name in DEFINED

    if word in ("ifdef", "ifndef"):
        return bool(texts) and is_defined(texts[0]) == (word == "ifdef")
    text = re.sub(r"defined\s*\(?\s*(\w+)\s*\)?", lambda m: str(int(is_defined(m[1]))), " ".join(texts))
    for _ in range(4):
        text = re.sub(r"[A-Za-z_]\w*", lambda m: _value_of(m[0], macros), text)
    text = re.sub(r"(\d)[uUlL]+", r"\1", text)
    if not _CONDITION.fullmatch(text):
        return False
    plain = text.replace("&&", " and ").replace("||", " or ")
    return _truth(re.sub(r"!(?!=)", " not ", plain))


def _truth(text: str) -> bool:
    from records.errors import PlanError
    from tasks.expressions import evaluate

    try:
        return bool(evaluate(text.strip().replace("/", "//"), {}))
    except PlanError:
        return False


def _value_of(name: str, macros: dict[str, Macro]) -> str:
    macro = macros.get(name)
    if macro is None or macro.parameters is not None:
        return "0" if macro is None and name not in DEFINED else "1"
    return " ".join(w.text for w in macro.body) or "1"


def _macro(row: Sequence[Token]) -> Macro:
    name = row[2]
    if len(row) > 3 and row[3].text == "(" and row[3].start == name.end:
        close = next((i for i, t in enumerate(row) if t.text == ")"), len(row) - 1)
        parameters = tuple(t.text for t in row[4:close] if t.text != ",")
        return Macro(tuple("__VA_ARGS__" if p == "..." else p for p in parameters), _body(row[close + 1 :]))
    return Macro(None, _body(row[3:]))


def _body(tokens: Sequence[Token]) -> tuple[Word, ...]:
    return tuple(words_of(tokens))
