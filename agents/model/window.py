"""The size of a model's window, learnt from its server's refusal: no wording is known, only what numbers can mean.

A refusal holds some of four numbers: the window, the tokens of the prompt, the tokens asked for the answer, their sum.
What was asked is known, the prompt is known roughly, and the window is smaller than both together. The words decide
only between a limit of the whole and one of the answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

SMALLEST = 64  # below this a number is no size
LARGEST = 100_000_000
_NUMBER = re.compile(r"(?<![\w.])(?<![a-z]-)(\d{1,3}(?:[,_'  ]\d{3})+|\d+)(k\b)?(?![\w.]*[a-z])", re.I)
_ABOUT_SIZE = re.compile(
    r"context|window|n_ctx|num_ctx|max_model_len|too (?:long|large|big|many tokens)|token|maximum length"
    r"|input length|prompt length|prompt is|exceed",
    re.I,
)
_TOO_LARGE = re.compile(
    r"too (?:long|large|big|many)|exceed|longer than|greater than|more than|at most|maximum|less than|<=|>|<|limit"
    r"|range|larger than|does not fit|out of (?:range|context)|not enough|insufficient|reduce",
    re.I,
)
_WHOLE = re.compile(
    r"context|window|n_ctx|num_ctx|model_len|prompt|input|messages|kv.?cache|\btotal\b|\binputs\b", re.I
)
_ANSWER = re.compile(r"output|completion|new_tokens|max_tokens|generat", re.I)
_A_MINUTE = re.compile(r"tokens? per (?:min|day|hour)|\b[ti]p[md]\b", re.I)
_NAMES = re.compile(r"[`'\"]?max_(?:completion_|output_|new_)?tokens[`'\"]?", re.I)
_STATUS = re.compile(r"[\"'](?:code|status|status_code)[\"']\s*:\s*[\"']?\d+|\bhttp[ /]*\d+|error code:? \d+", re.I)
_IDS = re.compile(r"\breq[_-][\w-]+|\b[0-9a-f]{8,}(?:-[0-9a-f]+)*\b", re.I)
_LIMIT = re.compile(r"limit:?\s+(\d+)", re.I)


@dataclass(frozen=True)
class Size:
    """The lesson of a refusal: the window, or the most of an answer; and the tokens that the prompt had."""

    window: int | None = None
    answer: int | None = None
    prompt: int | None = None

    @property
    def is_known(self) -> bool:
        """True where some limit was read."""
        return bool(self.window or self.answer)


def size_in(text: str, answer_tokens: int, prompt_tokens: float, has_status: bool = True) -> Size | None:
    """Read a refusal of `answer_tokens` after a prompt of about so many; None where it is about something else.

    `has_status`: the status is one that a size is refused with; else the words must be about a window.
    """
    bare = _IDS.sub(" ", _STATUS.sub(" ", text))
    numbers = numbers_in(bare)
    if not _ABOUT_SIZE.search(bare) or not (_TOO_LARGE.search(bare) or (answer_tokens in numbers and len(numbers) > 1)):
        return None
    if _A_MINUTE.search(bare):
        return _minute(bare, numbers)
    spoken = _NAMES.sub(" ", bare)
    is_whole = bool(_WHOLE.search(spoken))
    if not has_status and not is_whole:
        return None
    if not numbers:
        return Size() if is_whole and not _says_unknown(bare) else None
    if not is_whole:
        caps = [n for n in numbers if n < answer_tokens]
        return Size(answer=max(caps)) if caps and (_ANSWER.search(bare)) else None
    return _window(numbers, answer_tokens, prompt_tokens, bare)


def numbers_in(text: str) -> list[int]:
    """Read the sizes in a text in their order, each once: `32,768`, `32_768`, `32k`."""
    numbers = []
    for digits, thousands in _NUMBER.findall(text):
        value = int(re.sub(r"\D", "", digits)) * (1024 if thousands else 1)
        if SMALLEST <= value <= LARGEST:
            numbers.append(value)
    return list(dict.fromkeys(numbers))


def _minute(text: str, numbers: Sequence[int]) -> Size | None:
    """Find the request that no minute has room for; None for a minute that is used up, which passes."""
    limit = _LIMIT.search(text)
    if limit is None or "used" in text.lower() or int(limit[1]) < SMALLEST:
        return None
    return Size(window=int(limit[1])) if any(n > int(limit[1]) for n in numbers) else None


def _window(numbers: Sequence[int], answer_tokens: int, prompt_tokens: float, text: str) -> Size:
    sums = {(p, s) for p in numbers for s in numbers if p != answer_tokens and s == p + answer_tokens}
    candidates = [n for n in numbers if n != answer_tokens and n not in {s for _, s in sums}]
    if sums:
        prompt = min(p for p, _ in sums)
        windows = [n for n in candidates if n != prompt and n < prompt + answer_tokens]
        return (
            Size(window=max(windows), prompt=prompt)
            if windows
            else Size(window=_window_named(text, candidates) or None, prompt=prompt)
        )
    if (
        answer_tokens not in numbers
        and len(candidates) == 1
        and _ANSWER.search(_NAMES.sub(" ", text))
        and candidates[0] < answer_tokens
    ):
        only_answer = not re.search(r"context|window|ctx|model_len|prompt|input", _NAMES.sub(" ", text), re.I)
        if only_answer:
            return Size(answer=candidates[0])
    return _told_apart(candidates, answer_tokens, prompt_tokens, text)


def _told_apart(candidates: Sequence[int], answer_tokens: int, prompt_tokens: float, text: str) -> Size:
    """Window and prompt among numbers of which none is a sum: by the words beside them, else by the prompt's size."""
    if not candidates:
        return Size(window=answer_tokens - 1)  # the only number is what was asked
    window = _window_named(text, candidates)
    if window is None:
        likely = sorted(candidates, key=lambda n: abs(n - prompt_tokens) / max(n, prompt_tokens))
        windows = [n for n in candidates if n != likely[0]] or list(candidates)
        below = [n for n in windows if n < likely[0] + answer_tokens] or windows
        window = max(below)
    prompts = [n for n in candidates if n != window and 0.25 * prompt_tokens <= n <= 4 * prompt_tokens + 64]
    prompt = min(prompts, key=lambda n: abs(n - prompt_tokens)) if prompts else None
    return Size(window=window, prompt=prompt)


_BESIDE = (  # a number right behind a comparison or such words is the window, or right before them
    re.compile(r"(?:>=?|<=|≤|≥)\s*(\d[\d,_]*)"),
    re.compile(
        r"(?:context (?:length|size|window)|context|window|n_ctx|num_ctx|max_model_len|model'?s? (?:max\w*|limit)"
        r"|maximum (?:\w+ )?(?:length|tokens|input\w*)|must (?:have )?be (?:less than|at most|<=?)|must have less than"
        r"|limit)[^\d.;]{0,40}?(\d[\d,_]*)",
        re.I,
    ),
    re.compile(r"(\d[\d,_]*)\s*(?:-?token)?\s*(?:context|window|maximum|limit)", re.I),
)  # fmt: skip


def _window_named(text: str, candidates: Sequence[int]) -> int | None:
    """Find the number that the words call the window; None where they call none so, or several."""
    for pattern in _BESIDE:
        matches = {int(re.sub(r"\D", "", n)) for n in pattern.findall(text)} & set(candidates)
        if len(matches) == 1:
            return matches.pop()
    return None


def _says_unknown(text: str) -> bool:
    return bool(re.search(r"unsupported|not supported|not permitted|unrecogni[sz]ed|unknown|unexpected", text, re.I))
