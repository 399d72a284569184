"""The files that a source may make a vendor's compiler read: known headers by their literal name, and nothing else.

Those compilers cannot be given a virtual file system as clang can, so the text decides before they see it. Whatever two
compilers might read differently is refused. This is the first fence; the second is around the compiler's process, see
`compile_child.py`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterator
from functools import lru_cache

from records.evaluation import Finding
from sandbox.candidate.diagnostics import MAX_FINDINGS, refusal
from sandbox.candidate.pp_tokens import Token, is_directive, rows, scan

_NAME = re.compile(r"<[\w.+-]+(?:/[\w.+-]+)*>")  # a header that may be asked for
_FILE_PRAGMA = re.compile(r"\b(?:dependency|include_alias|module)\b")
_RAW = frozenset({"R", "u8R", "uR", "UR", "LR"})  # prefixes, which make a name where no raw string follows
_READERS = frozenset({"include_next", "import", "embed", "include_alias", "line"})
_ASKERS = frozenset({"__has_include", "__has_include_next", "__has_embed"})
_ASM = frozenset({"asm", "__asm", "__asm__"})
_DIRECTIVE = re.compile(
    r"\.(incbin|include|macro|irpc?|rept|altmacro|secure_log_unique|secure_log_reset)\b|\bincbin\b", re.I
)
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{1,8})|([0-7]{1,3})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.S)


@lru_cache(maxsize=32)  # a tuner asks for one source many times, with other tunables
def refusals(source: str, headers: frozenset[str], assembler_reads: bool) -> tuple[Finding, ...]:
    """Report each way by which the source would read more than the headers of these names; at most 20.

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
    tokens = scan(source)
    yield from _strings(tokens, source)
    for row in rows(tokens):
        yield from _directive(row, headers) if is_directive(row) else _imports(row)
        yield from _questions(row)
    yield from _pragma_operators(tokens)
    if assembler_reads:
        yield from _assembly(tokens)


def _strings(tokens: list[Token], source: str) -> Iterator[Finding]:
    for token, after in itertools.zip_longest(tokens, tokens[1:]):
        is_raw = token.kind == "raw"
        if is_raw and re.search(r"\\\r?\n", source[token.start : token.end]):
            yield refusal(
                "a raw string may not hold a backslash at a line's end; write it as plain strings", token.line
            )
        elif is_raw and re.search(r"\n[ \t]*(#|%:)", token.text):
            yield refusal(
                "a raw string may not hold a line that looks like a directive; write it as plain strings", token.line
            )
        elif (
            token.kind == "open"
            or (token.kind == "mark" and token.text[0] in "\"'")
            or _is_raw_without_end(token, after)
        ):
            yield refusal(
                "a comment or a quotation has no end (a quotation ends on its line, also where the "
                "preprocessor skips it)",
                token.line,
            )


def _is_raw_without_end(token: Token, after: Token | None) -> bool:
    """Tell whether a prefix of raw strings stands before a quotation that is none."""
    return token.text in _RAW and after is not None and after.start == token.end and after.text[0] == '"'


def _directive(row: list[Token], headers: Collection[str]) -> Iterator[Finding]:
    if len(row) < 2:
        return
    word, arguments = row[1], row[2:]
    if word.text == "include":
        if len(arguments) != 1 or arguments[0].kind != "header":
            yield refusal("an #include must name its header literally, as in #include <hip/hip_runtime.h>", word.line)
        elif (name := arguments[0].text[1:-1]) not in headers:
            message = f"{name!r} may not be included; there are only: {', '.join(sorted(headers)[:40])}"
            yield refusal(message, word.line, "A.3")
    elif word.text in _READERS or word.kind == "number":
        yield refusal(f"the directive #{'line' if word.kind == 'number' else word.text} may not be used", word.line)
    elif word.text == "pragma" and any(_FILE_PRAGMA.search(token.text) for token in arguments):
        yield refusal("a pragma may not name a file", word.line)


def _imports(row: list[Token]) -> Iterator[Finding]:
    if row[0].text == "import" or [token.text for token in row[:2]] == ["export", "import"]:
        yield refusal("modules may not be imported; include a header instead", row[0].line)


def _questions(row: list[Token]) -> Iterator[Finding]:
    defines = is_directive(row) and len(row) > 1 and row[1].text == "define"
    for index, token in enumerate(row):
        if token.text in _ASKERS and (defines or not _asks_fairly(token, row[index + 1 : index + 4])):
            yield refusal(f"{token.text} may ask only for a header's literal name in <>", token.line)


def _asks_fairly(token: Token, after: list[Token]) -> bool:
    """Tell whether a header's literal name is asked for, or, without parentheses, whether the word is known."""
    if not after or after[0].text in (")", "&&", "||"):
        return True
    if after[0].text != "(" or token.text != "__has_include" or len(after) < 3 or after[2].text != ")":
        return False
    return after[1].kind == "header" and ".." not in after[1].text and _NAME.fullmatch(after[1].text) is not None


def _pragma_operators(tokens: list[Token]) -> Iterator[Finding]:
    """Refuse `_Pragma` of a file in a plain string, else of all that stands anywhere: macros may make it of that."""
    for index, token in enumerate(tokens):
        if token.text == "_Pragma":
            after = [t for t in tokens[index + 1 : index + 8] if t.kind != "end"][:2]
            is_plain = len(after) == 2 and after[0].text == "(" and after[1].kind in ("string", "raw")
            if any(_FILE_PRAGMA.search(t.text) for t in (after if is_plain else tokens)):
                yield refusal("a pragma may not name a file", token.line)


def _assembly(tokens: list[Token]) -> Iterator[Finding]:
    """Refuse inline assembly that may read files: its text must be plain strings, without such a directive."""
    sentence = "the assembler directive {} may not be used"
    for index, token in enumerate(tokens):
        if token.text == "incbin" and token.kind == "name":
            yield refusal(sentence.format(".incbin"), token.line)
        if token.text not in _ASM or token.kind != "name":
            continue
        text, depth = "", 0
        for after in itertools.islice(tokens, index + 1, None):
            if after.kind == "end" or after.text in ("volatile", "__volatile__", "inline", "goto"):
                continue
            if not depth and after.text != "(":
                yield refusal("asm must be followed by its text in parentheses; do not hide it in a macro", token.line)
                break
            if after.text == "(":
                depth += 1
            elif after.kind in ("string", "raw"):
                text += _plain(after)
            elif after.text in (":", "::", ")"):
                break
            else:
                message = "the text of inline assembly must be plain strings, not a macro or an expression"
                yield refusal(message, token.line)
                break
        if match := _DIRECTIVE.search(text):
            yield refusal(sentence.format("." + (match[1] or "incbin").lower()), token.line)


def _plain(token: Token) -> str:
    """Read the characters that a string stands for."""
    body = token.text[token.text.index('"') + 1 : token.text.rindex('"')]
    if token.kind == "raw":
        return body[body.index("(") + 1 : body.rindex(")")]
    return _ESCAPE.sub(_character, body)


def _character(match: re.Match[str]) -> str:
    code = int(match[1] or match[3] or match[4] or "0", 16) or int(match[2] or "0", 8)
    return chr(code) if 0 < code < 0x110000 else {"n": "\n", "t": "\t"}.get(match[5] or "", match[5] or "")
