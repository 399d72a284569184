"""Text from outside: models, servers, files, tools. It is cleaned once, where it comes in, after every decoding.

JSON can hold what no file and no terminal takes: halves of characters, NULs. `decoded` reads JSON and cleans what came
out, because cleaning the text before would see the escape only.
"""

from __future__ import annotations

import json
import re
from typing import Any

HALF = "\ufffd"  # stands for half a character, as decoders write it
_UNUSABLE = re.compile("[\x00\ud800-\udfff]")
# Control characters but tab and line feed; characters that are invisible or reorder text; tags; fillers that render as
# nothing; halves of characters; private selectors in which text can be hidden.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff\ud800-\udfff]"
)


def cleaned(text: str) -> str:
    """Clean text so that every store and connection takes it: no NUL, and a mark for each half of a character."""
    if text.isascii():
        return text.replace("\0", "")
    return _UNUSABLE.sub(lambda match: "" if match.group() == "\0" else HALF, text)


def is_whole(text: str) -> bool:
    """Tell whether cleaning leaves the text as it is."""
    return _UNUSABLE.search(text) is None


def cleaned_value(value: Any) -> Any:
    """Clean every text of plain data, keys as well."""
    if isinstance(value, str):
        return cleaned(value)
    if isinstance(value, dict):
        return {cleaned_value(key): cleaned_value(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [cleaned_value(inner) for inner in value]
    return value


def decoded(text: str | bytes | bytearray, is_strict: bool = True) -> Any:
    """Decode JSON from outside as plain data, cleaned; ValueError or RecursionError where it is none."""
    return cleaned_value(json.loads(text, strict=is_strict))


def visible(text: str) -> str:
    """Show characters that hide or reorder text as code points: a reader then sees what a compiler or a model sees."""
    if text.isascii() and text.isprintable():
        return text
    return _HIDDEN.sub(lambda match: f"⟨U+{ord(match.group()):04X}⟩", text)


def escaped(document: str) -> str:
    """Escape hidden characters of JSON text: whoever reads the text sees them, and a program gets what was."""
    return _HIDDEN.sub(lambda match: _escape(ord(match.group())), document)


def _escape(code: int) -> str:
    if code < 1 << 16:
        return f"\\u{code:04x}"
    code -= 1 << 16
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"


def visible_value(value: Any) -> Any:
    """Make every text of plain data visible."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {visible_value(key): visible_value(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [visible_value(inner) for inner in value]
    return value
