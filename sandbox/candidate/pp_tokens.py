"""C++20 preprocessing tokens, [lex.phases] 2 and 3: the one scanner on which every rule about source text rests.

Splices (a backslash at a line's end), comments, strings and characters with prefixes, escapes and suffixes, raw
strings, digit separators, digraphs, names with universal characters, header names. C++20 has no trigraphs. The time is
linear in the text, whatever it holds: what has no end takes the rest of its line, or of the text, as in clang.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import accumulate
from typing import Literal, NamedTuple, cast

Kind = Literal["name", "number", "string", "raw", "character", "header", "mark", "end", "open"]

_UCN = r"\\(?:u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|u\{[0-9a-fA-F]{1,8}\}|N\{[^}\n]{1,100}\})"
# What ASCII has beside letters, digits, _ and $: a set that goes up to U+10FFFF takes twenty times as long to compile.
_NO_NAME = r"\x00-#%-/:-@\[-^`{-\x7f"
_WORD = rf"(?:[^0-9{_NO_NAME}]|{_UCN})(?:[^{_NO_NAME}]|{_UCN})*+"
_TOKEN = re.compile(
    rf"""(?:[ \t\f\v\r]++|//[^\n]*+)*+
    (?:(?P<end>\n)|(?P<comment>/\*)
    |(?P<raw>(?:u8|[uUL])?R"(?P<delimiter>[^()\\\s"]{{0,16}})\()
    |(?P<string>(?:u8|[uUL])?"[^"\\\n]*+(?:\\[^\n][^"\\\n]*+)*+"(?:{_WORD})?)
    |(?P<character>(?:u8|[uUL])?'[^'\\\n]*+(?:\\[^\n][^'\\\n]*+)*+'(?:{_WORD})?)
    |(?P<name>{_WORD})|(?P<number>\.?[0-9](?:[eEpP][+-]|'[0-9A-Za-z_]|\.|[^{_NO_NAME}]|{_UCN})*+)
    |(?P<mark>%:%:|<=>|\.\.\.|->\*|<<=|>>=|\#\#|%:|<%|%>|:>|<:(?!:[^:>])|::|\.\*|->|\+\+|--|&&|\|\||<<|>>|[-+*/%^&|=!<>]=
    |["'][^\n]*+|.))""",
    re.X | re.S,
)
_SPLICE = re.compile(r"\\[ \t\f\v]*+\r?\n")
_HEADER = re.compile(r"<[^>\n]*+>|\"[^\"\n]*+\"")
_SUFFIX = re.compile(rf"(?:{_WORD})?")
_CODE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|u\{([0-9a-fA-F]{1,8})\}|N\{[^}\n]*\})")
_READS = frozenset({"include", "include_next", "import", "embed"})
_ASKS = frozenset({"__has_include", "__has_include_next", "__has_embed"})
_DIGRAPHS = {"%:": "#", "%:%:": "##", "<:": "[", ":>": "]", "<%": "{", "%>": "}"}


class Token(NamedTuple):
    """One token; `text` is what it means: without splices, marks in their usual spelling, names decoded."""

    kind: Kind  # "end" is a line's end; "open" a comment or raw string without an end, the last token there is
    text: str
    start: int  # in the text that was scanned, splices included
    end: int
    line: int  # of its first character, from 1


class _Source:
    """A text without its splices, and the place in the text of each of its characters."""

    def __init__(self, text: str) -> None:
        cuts = [(m.start(), m.end()) for m in _SPLICE.finditer(text)] if "\\" in text else []
        self.is_spliced = bool(cuts)
        self.original, self.text = text, _SPLICE.sub("", text) if cuts else text
        self._removed = [0, *accumulate(end - start for start, end in cuts)]
        self._starts = [start for start, _ in cuts]
        self._cut_indices = [start - removed for start, removed in zip(self._starts, self._removed, strict=False)]

    def start(self, index: int) -> int:
        """Find the character's offset in the original; splices before it are left out."""
        return index + self._removed[bisect_left(self._cut_indices, index + 1)]

    def end(self, index: int) -> int:
        """Find the original offset behind the character before `index`; splices behind it are left out."""
        return index + self._removed[bisect_left(self._cut_indices, index)]

    def index(self, offset: int) -> int:
        """Find the index, without splices, of the character at this offset of the original."""
        return offset - self._removed[bisect_left(self._starts, offset)]


def scan(text: str) -> list[Token]:
    """All tokens of a text; comments and spaces are none."""
    return list(_tokens(text))


@lru_cache(maxsize=8)  # several rules read one text, and a source is read again for each choice of its tunables
def _tokens(text: str) -> tuple[Token, ...]:
    return tuple(_scan(_Source(text)))


def first_row(text: str) -> list[Token]:
    """Scan the first line that has any tokens; what follows is not read."""
    return next(rows(_scan(_Source(text))), [])


def rows(tokens: Iterable[Token]) -> Iterator[list[Token]]:
    """Yield the tokens of each line that has any; a line goes on behind a splice, a comment or a raw string."""
    row = list[Token]()
    for token in tokens:
        if token.kind != "end":
            row.append(token)
        elif row:
            yield row
            row = []
    if row:
        yield row


def is_directive(row: list[Token]) -> bool:
    """Tell whether the preprocessor takes a line for itself."""
    return row[0].kind == "mark" and row[0].text == "#"


def _scan(source: _Source) -> Iterator[Token]:
    text, original, is_spliced = source.text, source.original, source.is_spliced
    index, line, counted, row = 0, 1, 0, list[str]()
    while match := _TOKEN.match(text, index):
        group = match.lastgroup or ""
        word, index, stop = match[group], match.start(group), match.end()
        start = source.start(index) if is_spliced else index
        line, counted = line + original.count("\n", counted, start), start
        if group == "comment":
            index = text.find("*/", stop) + 2
            if index < 2:
                yield Token("open", word, start, len(original), line)
                return
            continue
        kind = cast(Kind, group)
        if kind == "raw":
            close = original.find(f'){match["delimiter"]}"', source.start(stop))
            if close < 0:
                yield Token("open", word, start, len(original), line)
                return
            tail = source.index(close + len(match["delimiter"]) + 2)
            stop = cast(re.Match[str], _SUFFIX.match(text, tail)).end()
            word = original[start : source.end(stop)]
        elif row and row[0] == "#" and _wants_header(row) and (header := _HEADER.match(text, index)):
            kind, word, stop = "header", header[0], header.end()
        elif kind == "name":
            word = _decoded(word)
        elif kind == "mark":
            word = _DIGRAPHS.get(word, word)
        yield Token(kind, word, start, source.end(stop) if is_spliced else stop, line)
        if kind == "end":
            row = []
        elif not row or row[0] == "#":  # of other rows the first word is enough
            row = [*row, word] if len(row) < 2 else [row[0], row[-1], word]
        index = stop


def _wants_header(row: list[str]) -> bool:
    """Tell whether a directive goes on with a name in <> or quotes, in which nothing is a comment or an escape."""
    return (len(row) == 2 and row[1] in _READS) or (row[-1] == "(" and row[-2] in _ASKS)


def _decoded(name: str) -> str:
    """Put a name's universal characters in place of their codes."""
    if "\\" not in name:
        return name

    def character(match: re.Match[str]) -> str:
        digits = match[1] or match[2] or match[3]
        code = int(digits, 16) if digits else -1
        return chr(code) if 0 <= code < 0x110000 and not 0xD800 <= code < 0xE000 else match[0]

    return _CODE.sub(character, name)
