"""Removal of keys and home paths from texts: where they come in from outside, and where they leave the records.

A secret is looked for as it is, in the codes that people use without thinking, backwards, with other signs between its
letters, and by halves. The one rule for all of these: texts are compared by their letters and digits alone, and who
has a half of a secret in one piece has too much of it.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import quote

BLOT = "[removed]"
SHORTEST = 6  # characters of a key that is looked for: a shorter one would blot out words
BEGIN = 6  # of a mark, by which texts without any are told
LEAST = 12  # letters and digits of a piece that is looked for by itself
_BETWEEN = re.compile(r"(?:\\(?:[nrtbf]|u[0-9a-fA-F]{4})|[^A-Za-z0-9])+")  # a JSON text has its line feeds as escapes


@dataclass(frozen=True)
class _SecretTrace:
    """The letters and digits of one form of a secret; `marks`, of which every piece of `need` holds one, by place."""

    text: str
    need: int
    marks: tuple[tuple[int, str], ...]


@dataclass(frozen=True)
class _SecretForms:
    """The texts that are looked for, of some secrets. `begins`: of the marks of the traces."""

    forms: tuple[str, ...]
    traces: tuple[_SecretTrace, ...]
    begins: frozenset[str]


def redacted(text: str, secrets: Sequence[str], home: str) -> str:
    """Redact the text: without keys, and with `~` for the home folder."""
    text = without(text, secrets)
    home = home.rstrip("/")
    return text.replace(home, "~") if home else text


def without(text: str, secrets: Sequence[str], blot: str = BLOT) -> str:
    """Return the text with the blot for each secret in it, and for each piece of one."""
    if len(text) < SHORTEST or not secrets:
        return text
    secret_forms = _forms_of(tuple(secrets))
    for form in [form for form in secret_forms.forms if form in text]:
        text = text.replace(form, blot)
    if len(text) < LEAST or not secret_forms.traces:
        return text
    bare = _BETWEEN.sub("", text)
    if not _may_hold(bare, secret_forms):
        return text
    spans = sorted(span for trace in secret_forms.traces for span in _pieces(bare, trace))
    return _blotted(text, spans, blot) if spans else text


def _may_hold(bare: str, secret_forms: _SecretForms) -> bool:
    """Tell whether a mark begins anywhere: nearly no text holds one."""
    return any(begin in bare for begin in secret_forms.begins)


def _pieces(bare: str, trace: _SecretTrace) -> Iterator[tuple[int, int]]:
    """Find the pieces of one trace, as places in the letters and digits of a text."""
    for offset, mark in trace.marks:
        start = bare.find(mark)
        while start >= 0:
            first, last, before, behind = start, start + len(mark), offset, offset + len(mark)
            while first and before and bare[first - 1] == trace.text[before - 1]:
                first, before = first - 1, before - 1
            while last < len(bare) and behind < len(trace.text) and bare[last] == trace.text[behind]:
                last, behind = last + 1, behind + 1
            if last - first >= trace.need:
                yield first, last
            start = bare.find(mark, start + 1)


def _blotted(text: str, spans: Sequence[tuple[int, int]], blot: str) -> str:
    """Replace what lies between the first and the last letter of each piece."""
    positions, after_gap = list[int](), 0  # in the text, of its letters and digits
    for gap in (*_BETWEEN.finditer(text), None):
        positions += range(after_gap, len(text) if gap is None else gap.start())
        after_gap = len(text) if gap is None else gap.end()
    parts, copied = list[str](), 0
    for first, last in spans:
        begin, end = positions[first], positions[last - 1] + 1
        if end <= copied:
            continue
        if begin >= copied:
            parts += [text[copied:begin], blot]
        copied = end
    return "".join((*parts, text[copied:]))


@lru_cache(maxsize=16)
def _forms_of(secrets: tuple[str, ...]) -> _SecretForms:
    """Prepare the search; of a whole address no piece is looked for, because its host may be told."""
    forms_by_secret = {secret: _forms(secret) for secret in secrets if len(secret) >= SHORTEST}
    texts = {
        _BETWEEN.sub("", form) for secret, forms in forms_by_secret.items() if "://" not in secret for form in forms
    }
    traces = tuple(_trace(text) for text in sorted(texts) if len(text) >= LEAST)
    forms = tuple(dict.fromkeys(form for forms in forms_by_secret.values() for form in forms))
    return _SecretForms(forms, traces, frozenset(mark[:BEGIN] for trace in traces for _, mark in trace.marks))


def _forms(secret: str) -> tuple[str, ...]:
    """List the secret as it is, as an address has it, in base64 at each place it may begin, in hex, and backwards."""
    data = secret.encode("utf-8", "replace")
    coded = {base64.b64encode(b" " * lead + data)[-(-8 * lead // 6) :].decode().rstrip("=")[:-1] for lead in range(3)}
    forms = (secret, quote(secret, safe=""), secret[::-1], data.hex(), *sorted(coded))
    return tuple(dict.fromkeys(form for form in forms if len(form) >= SHORTEST))


def _trace(text: str) -> _SecretTrace:
    need = max(LEAST, len(text) // 2)
    step = need // 2
    size = need - step + 1  # a piece of `need` letters holds a whole mark, wherever it begins
    return _SecretTrace(text, need, tuple((i, text[i : i + size]) for i in range(0, len(text) - size + 1, step)))
