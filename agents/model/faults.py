"""Faults of an endpoint, classed by one question: would the same request pass later? The classes are tables of data.

`passing`   an outage, a limit of requests or tokens a minute: waited for, as long as the patience lasts
`late`      the deadline of a whole call: asked again a few times, for each may be billed
`odd`       an answer that is none, or a refusal by an endpoint that took the same before: asked again twice
`window`    more tokens than the model takes: fitted and asked again
`part`      one part of the request is refused by name: its next simpler form
`declined`  this prompt is refused by a filter: no other request is concerned
`model`     this model cannot be had: the next one of the list
`account`   key, credit or address: a person is needed
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["passing", "late", "odd", "window", "part", "declined", "model", "account"]

ACCOUNT = frozenset({301, 302, 303, 307, 308, 401, 402, 407, 511})
MODEL = frozenset({403, 404, 405, 406, 410, 415, 451, 501, 505})
TIMED_OUT_BEHIND = frozenset({504, 524})  # a proxy gave up waiting for a server that may have gone on, and bills it
PAYLOAD = frozenset({400, 413, 414, 422, 431})
# Whatever the status says, these words decide. The first row that matches counts.
WORDS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    (
        "account",
        re.compile(
            r"insufficient_quota|exceeded your current quota|credit balance|out of credit|billing (?:hard|is|not)"
            r"|payment required|insufficient (?:balance|credit|fund)|account (?:is )?(?:suspended|deactivated|"
            r"disabled)",
            re.I,
        ),
    ),
    (
        "declined",
        re.compile(r"content[_ ](?:filter|management|policy)|moderation|flagged|safety (?:system|polic)", re.I),
    ),
    (
        "passing",
        re.compile(r"overloaded|temporarily (?:un|over)|model is (?:currently )?loading|loading model|warming up"
                   r"|rate[ _-]?limit(?:ed|s)?\b(?! of 0\b)|too many requests|try again (?:later|in|after)", re.I),
    ),
)  # fmt: skip
MOST_TEXT = 400  # characters of a server's words in ours
MOST_READ = 20_000  # of them that are looked at
TRIES: Mapping[Kind, int] = {"odd": 3, "late": 6}  # requests in a row; a passing fault has the patience


class Fault(Exception):
    """One request that brought no answer. `after_s`: what the server asks to wait; `is_sent`: it may be billed."""

    def __init__(
        self, kind: Kind, text: str, status: int = 0, after_s: float | None = None, is_sent: bool = False
    ) -> None:
        super().__init__(text)
        self.kind: Kind = kind
        self.text = text
        self.status = status
        self.after_s = after_s
        self.is_sent = is_sent
        self.whole = text  # the server's words, not cut
        self.param = ""  # the field that it names

    def known_good(self) -> Fault:
        """Return the same where the endpoint took such requests before: what it refuses now may pass."""
        if self.kind not in ("account", "model") or self.is_credit:
            return self
        fault = Fault("odd", self.text, self.status, self.after_s, self.is_sent)
        fault.whole, fault.param = self.whole, self.param
        return fault

    @property
    def named_s(self) -> float:
        """The wait that the server names; 0 for none."""
        return 0.0 if self.after_s is None else self.after_s

    @property
    def is_credit(self) -> bool:
        """True for an account without credit, which no second request fills."""
        return self.status == 402 or (self.kind == "account" and bool(WORDS[0][1].search(self.whole)))


@dataclass(frozen=True)
class ErrorWords:
    """A server's account of a fault: its words, the part it names, a code."""

    text: str
    param: str = ""
    code: str = ""


def error_words_in(body: bytes | str) -> ErrorWords:
    """Read the error in a body of any of the shapes in use: `error` as object or text, `message`, `detail`, bare."""
    text = body.decode("utf-8", "replace") if isinstance(body, bytes) else body
    text = text[:MOST_READ]
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return ErrorWords(text.strip())
    return error_words(document)


def error_words(document: Any) -> ErrorWords:
    """Read the error in a document."""
    inner, param, code = document, "", ""
    for _ in range(4):  # routers wrap the error of the server behind them
        if isinstance(inner, list) and inner:
            inner = inner[0]
        if not isinstance(inner, Mapping):
            break
        param = param or _word(inner.get("param"))
        code = code or _word(inner.get("code")) or _word(inner.get("type"))
        deeper = next((inner[k] for k in ("error", "detail", "message", "msg", "errors") if inner.get(k)), None)
        if deeper is None:
            break
        if isinstance(deeper, str):
            sizes = {k: v for k, v in inner.items() if type(v) in (int, float) and k not in ("code", "status")}  # sizes
            return ErrorWords(f"{deeper} {json.dumps(sizes)}" if sizes else deeper, param, code)
        inner = deeper
    message = inner if isinstance(inner, str) else json.dumps(inner, ensure_ascii=False, default=str)
    return ErrorWords(message[:MOST_READ], param, code)


def of_status(status: int, error: ErrorWords, after_s: float | None, is_window: bool, is_part: bool) -> Fault:
    """Find the class of an HTTP error.

    `is_window` and `is_part` say that its words are of the request's size, of one of its parts.
    """
    text = error.text[:MOST_TEXT]
    kind = _kind(status, f"{error.code} {error.text}", is_window, is_part)
    if kind == "account" and status == 429 and after_s is not None and "insufficient_quota" not in error.code:
        kind = "passing"  # a quota of the minute: the server names the wait
    if kind == "passing":
        text = f"HTTP {status}" if status >= 500 else f"HTTP {status}, {_first_line(text)}".rstrip(", ")
    fault = Fault(kind, text, status, after_s, status in TIMED_OUT_BEHIND)
    fault.whole, fault.param = f"{error.code} {error.param} {error.text}", error.param
    return fault


def would_pass(words: str) -> bool:
    """Tell whether the words of an error say that it is one of the moment."""
    return next((kind for kind, pattern in WORDS if pattern.search(words)), None) == "passing"


def _kind(status: int, words: str, is_window: bool, is_part: bool) -> Kind:
    if is_window:
        return "window"
    kind_by_words = next((kind for kind, pattern in WORDS if pattern.search(words)), None)
    if kind_by_words == "account" or (kind_by_words == "declined" and status in (400, 403, 422, 451)):
        return kind_by_words
    if status in PAYLOAD or (is_part and status in MODEL):
        return "part"
    if status == 501 or status == 505 or status in MODEL:
        return "passing" if kind_by_words == "passing" and status == 403 else "model"
    if status in ACCOUNT:
        return "account"
    return "passing"  # 408, 409, 423, 425, 429, 5xx, and what no table knows


def _word(value: Any) -> str:
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _first_line(text: str) -> str:
    return text.strip().splitlines()[0][:120] if text.strip() else ""


def hidden(fault: Fault, hide: Any) -> Fault:
    """Return the fault with the key taken out of its texts."""
    fault.text, fault.whole = hide(fault.text), hide(fault.whole)
    fault.args = (fault.text,)
    return fault
