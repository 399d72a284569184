"""The files that a source may make a vendor's compiler read: known headers by their literal name, and nothing else.

Those compilers cannot be given a virtual file system as clang can, so the text decides before they see it. It is read
as a compiler reads it (line splices, comments, strings, digraphs); whatever two compilers might read differently is
refused. This is the first fence; the second is around the compiler's process, see `compile_child.py`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterator
from functools import lru_cache
from typing import NamedTuple

from records.evaluation import Finding
from sandbox.candidate.diagnostics import MAX_FINDINGS, refusal

_TOKEN = re.compile(
    r"""(?P<space>[ \t\f\v]+|//[^\n]*|/\*.*?\*/)|(?P<end>\n)
    |(?P<raw>(?:u8|[uUL])?R"(?P<mark>[^()\\\s"]{0,16})\(.*?\)(?P=mark)")
    |(?P<text>(?:u8|[uUL])?"(?:\\.|[^"\\\n])*")|(?P<char>(?:u8|[uUL])?'(?:\\.|[^'\\\n])+')
    |(?P<word>[^\W\d]\w*)|(?P<number>\.?\d(?:[eEpP][+-]|'?[\w.])*)|(?P<paste>\#\#|%:%:)|(?P<hash>\#|%:)|(?P<other>.)""",
    re.S | re.X,
)
_OPEN = re.compile(r"""/\*|["']|(?:u8|[uUL])?R\"""")
_OPENING = frozenset("/\"'R")  # how a token ends that _OPEN may match
_LONG = frozenset({"space", "end", "raw"})  # kinds that may hold a line's end
_NAME = re.compile(r"[ \t]*(?:<([^<>\n]*)>|\"([^\"\\\n]*)\")[ \t]*(?=\n|/[/*]|$)")
_ASKED = re.compile(r"[ \t]*\([ \t]*<[\w.+-]+(?:/[\w.+-]+)*>[ \t]*\)|[ \t]*(?![ \t(/])")
_FILE_PRAGMA = re.compile(r"dependency|include_alias|\bmodule\b")
_READERS = frozenset({"include_next", "import", "embed", "include_alias", "line"})
_ASKERS = frozenset({"__has_include", "__has_include_next", "__has_embed"})
_ASM = frozenset({"asm", "__asm", "__asm__"})
_DIRECTIVE = re.compile(
    r"\.(incbin|include|macro|irpc?|rept|altmacro|secure_log_unique|secure_log_reset)\b|\bincbin\b", re.I
)
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{1,8})|([0-7]{1,3})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.S)


class _Token(NamedTuple):
    kind: str  # a group of _TOKEN, or open; spaces and comments make none
    text: str
    at: int  # in the text after splicing
    line: int
    spliced: bool  # a backslash at a line's end stood in it


@lru_cache(maxsize=32)  # a tuner asks for one source many times, with other tunables
def refusals(source: str, headers: frozenset[str], assembler_reads: bool) -> tuple[Finding, ...]:
    """One finding for each way by which the source would read more than the headers of these names; at most 20.

    `assembler_reads`: the vendor's assembler knows directives that open files (AMD's does, PTX has none).
    """
    return tuple(itertools.islice(_refusals(source, headers, assembler_reads), MAX_FINDINGS))


def _refusals(source: str, headers: Collection[str], assembler_reads: bool) -> Iterator[Finding]:
    for pattern, message in (
        ("\0", "the source holds a zero byte; remove it"),
        ("\r(?!\n)", "the source holds a lone carriage return; use line feeds"),
        (r"\?\?[/=]", "trigraphs may not be used; write the character itself"),
        (
            r"\\[ \t\f\v]+\r?\n",
            "spaces behind a backslash at a line's end are read differently by different compilers; remove them",
        ),
    ):
        if match := re.search(pattern, source):
            yield refusal(message, source.count("\n", 0, match.start()) + 1)
            return
    text, splices = _spliced(source.replace("\r\n", "\n"))
    tokens = list(_tokens(text, splices))
    yield from _strings(tokens)
    yield from _directives(tokens, text, headers)
    if assembler_reads:
        yield from _assembly(tokens)


def _spliced(source: str) -> tuple[str, list[int]]:
    """The text without backslashes at line ends, and the places where they stood."""
    parts = source.split("\\\n")
    places = list(itertools.accumulate(len(part) for part in parts[:-1]))
    return "".join(parts), places


def _tokens(text: str, splices: list[int]) -> Iterator[_Token]:
    """Up to the first comment or string without an end, which makes the last token: of kind "open"."""
    line, passed, next_splice = 1, 0, splices[0] if splices else len(text) + 1
    for match in _TOKEN.finditer(text):
        kind, start, end = match.lastgroup or "", match.start(), match.end()
        while next_splice <= start:
            line, passed = line + 1, passed + 1
            next_splice = splices[passed] if passed < len(splices) else len(text) + 1
        word = text[start:end]
        if kind != "space":
            is_open = (kind == "other" or kind == "word") and word[-1] in _OPENING and _OPEN.match(text, start)
            yield _Token("open" if is_open else kind, word, start, line, next_splice < end)
            if is_open:
                return
        if kind in _LONG:
            line += word.count("\n")


def _strings(tokens: list[_Token]) -> Iterator[Finding]:
    for token in tokens:
        if token.kind == "raw" and token.spliced:
            yield refusal(
                "a raw string may not hold a backslash at a line's end; write it as plain strings", token.line
            )
        elif token.kind == "raw" and re.search(r"\n[ \t]*(#|%:)", token.text):
            yield refusal(
                "a raw string may not hold a line that looks like a directive; write it as plain strings", token.line
            )
        elif token.kind == "open":
            yield refusal(
                "a comment or a quotation has no end (a quotation ends on its line, also where the "
                "preprocessor skips it)",
                token.line,
            )


def _directives(tokens: list[_Token], text: str, headers: Collection[str]) -> Iterator[Finding]:
    fresh, directive = True, ""
    for index, token in enumerate(tokens):
        if token.kind == "end":
            fresh, directive = True, ""
            continue
        if fresh and token.kind == "hash":
            word = next(_after(tokens, index), token)
            directive = word.text
            yield from _directive(word, text, headers)
        elif fresh and token.text == "import":
            yield refusal("modules may not be imported; include a header instead", token.line)
        elif token.text in _ASKERS and (directive == "define" or not _asks_fairly(token, text)):
            yield refusal(f"{token.text} may ask only for a header's literal name in <>", token.line)
        elif token.text == "_Pragma" and _FILE_PRAGMA.search(text, token.at, token.at + 200):
            yield refusal("a pragma may not name a file", token.line)
        fresh = False


def _after(tokens: list[_Token], index: int) -> Iterator[_Token]:
    return (tokens[i] for i in range(index + 1, len(tokens)))


def _asks_fairly(token: _Token, text: str) -> bool:
    """`__has_include` without parentheses is the question whether the compiler knows it."""
    match = _ASKED.match(text, token.at + len(token.text))
    return match is not None and ".." not in match[0] and (token.text == "__has_include" or "(" not in match[0])


def _directive(word: _Token, text: str, headers: Collection[str]) -> Iterator[Finding]:
    start = word.at + len(word.text)
    if word.text == "include":
        name = _NAME.match(text, start)
        found = (name[1] or name[2] or "") if name else ""
        if not name:
            yield refusal("an #include must name its header literally, as in #include <hip/hip_runtime.h>", word.line)
        elif found not in headers:
            message = f"{found!r} may not be included; there are only: {', '.join(sorted(headers)[:40])}"
            yield refusal(message, word.line, "A.3")
    elif word.text in _READERS or word.kind == "number":
        yield refusal(f"the directive #{'line' if word.kind == 'number' else word.text} may not be used", word.line)
    elif word.text == "pragma" and _FILE_PRAGMA.search(text, start, text.find("\n", start) % (len(text) + 1)):
        yield refusal("a pragma may not name a file", word.line)


def _assembly(tokens: list[_Token]) -> Iterator[Finding]:
    """Inline assembly may not read files: its text must be plain strings, and these may not hold such a directive."""
    sentence = "the assembler directive {} may not be used"
    for index, token in enumerate(tokens):
        if token.text == "incbin" and token.kind == "word":
            yield refusal(sentence.format(".incbin"), token.line)
        if token.text not in _ASM or token.kind != "word":
            continue
        written, depth = "", 0
        for after in _after(tokens, index):
            if after.kind == "end" or after.text in ("volatile", "__volatile__", "inline", "goto"):
                continue
            if not depth and after.text != "(":
                yield refusal("asm must be followed by its text in parentheses; do not hide it in a macro", token.line)
                break
            if after.text == "(":
                depth += 1
            elif after.kind in ("text", "raw"):
                written += _plain(after)
            elif after.text in (":", ")"):
                break
            else:
                message = "the text of inline assembly must be plain strings, not a macro or an expression"
                yield refusal(message, token.line)
                break
        if match := _DIRECTIVE.search(written):
            yield refusal(sentence.format("." + (match[1] or "incbin").lower()), token.line)


def _plain(token: _Token) -> str:
    """The characters that a string stands for."""
    body = token.text[token.text.index('"') + 1 : -1]
    if token.kind == "raw":
        return body[body.index("(") + 1 : body.rindex(")")]
    return _ESCAPE.sub(_character, body)


def _character(match: re.Match[str]) -> str:
    code = int(match[1] or match[3] or match[4] or "0", 16) or int(match[2] or "0", 8)
    return chr(code) if 0 < code < 0x110000 else {"n": "\n", "t": "\t"}.get(match[5] or "", match[5] or "")
