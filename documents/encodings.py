"""Bytes to text in whichever encoding they are, and text without control characters."""

from __future__ import annotations

import codecs
import re
import unicodedata
from contextlib import suppress
from pathlib import Path

from records.errors import DocumentError

_DECLARED = re.compile(rb"(?:charset|coding)\s*[=:]\s*[\"']?([\w.:-]+)")  # in HTML, XML and source code
_ALPHABET = re.compile(r"(iso8859|cp\d|mac|koi8|shift_jis|euc_|iso2022|big5|gb)\S*")  # codecs that are tables
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?)")  # a terminal's colours and titles
_STRUCK = re.compile(rb"[^\n]\x08")  # what a printed manual overstrikes for bold and underlined letters
_LINE_ENDS = dict.fromkeys("\n\v\f\x1c\x1d\x1e\x85\u2028\u2029", "\n")
_NO_CONTROL = dict.fromkeys([*range(32), 127]) | {ord(end): "\n" for end in _LINE_ENDS} | {ord("\t"): "\t"}
_CONTROL_BYTES = bytes([*range(1, 9), *range(14, 27), *range(28, 32), 127])
_ALPHABETS = ("gb18030", "big5", "shift_jis", "euc_jp", "euc_kr", "cp1251", "koi8_r", "cp1253", "cp1255", "cp1256")


def decode(path: Path, data: bytes) -> str:
    """Text in its encoding, UTF-8 or UTF-16 as marked or found, else the likeliest; DocumentError where it is none."""
    text = _wide(data)
    if text is None and b"\x08" in data:
        data = _STRUCK.sub(b"", data)
    head = data[:65536] if text is None else text[:65536].encode("latin-1", "replace")
    is_text = b"\0" not in data if text is None else "\0" not in text and text.count("\ufffd") <= len(text) // 100
    if not is_text or len(head) - len(head.translate(None, _CONTROL_BYTES)) > len(head) // 50:
        raise DocumentError(f"the document {path} is binary, not text; it cannot be added")
    with suppress(UnicodeDecodeError):
        return data.decode("utf-8-sig") if text is None else text
    return _guessed(data)


def _wide(data: bytes) -> str | None:
    """Text of two or four bytes a letter: by its mark, or where every other byte of mostly Latin text is zero."""
    if data.startswith((b"\xff\xfe\0\0", b"\0\0\xfe\xff")):
        return data.decode("utf-32", "replace")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    head = data[:4096]
    half = len(head) // 2
    is_wide = [head[start::2].count(0) > half * 0.7 for start in (0, 1)]
    if half < 8 or len(data) % 2 or is_wide[0] == is_wide[1]:
        return None
    return data.decode("utf-16-be" if is_wide[0] else "utf-16-le", "replace")


def _guessed(data: bytes) -> str:
    """Text in the encoding it names, else UTF-8 with some damage, else Windows' Latin or, by statistics, another."""
    declared = _DECLARED.search(data[:2048])
    with suppress(LookupError, UnicodeError):
        codec = codecs.lookup(declared[1].decode()).name if declared else ""
        if _ALPHABET.fullmatch(codec):
            return data.decode(codec)
    text = data.decode("utf-8-sig", "replace")
    if text.count("\ufffd") * 4 < len(text) - len(text.encode("ascii", "ignore")):
        return text
    best = None
    if sum(byte > 127 for byte in data[:20000]) > len(data[:20000]) // 4:
        from charset_normalizer import from_bytes

        best = from_bytes(data[:20000], cp_isolation=list(_ALPHABETS)).best()
    return data.decode(best.encoding if best else "cp1252", "replace")


def clean(text: str) -> str:
    """Drop control and invisible format characters (escape codes, direction overrides), and unify line ends."""
    unified = text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
    if "\x1b" in unified:
        unified = _ESCAPE.sub("", unified)
    if unified.isascii():
        return unified.translate(_NO_CONTROL)
    bad = [c for c in set(unified) if c != "\t" and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")]
    return unified.translate({ord(c): _LINE_ENDS.get(c) for c in bad}) if bad != ["\n"] else unified
