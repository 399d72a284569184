"""The forms of a request's parts: each has a next simpler one, taken when a refusal names the part.

A part's form is a number that only grows, so that no request is ever sent in the same form twice, whatever a server
says: with all parts together there are at most `MOST_STEPS` steps.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Literal

Part = Literal["wire", "roles", "token_field", "temperature", "effort", "json_mode", "tools"]


@dataclass(frozen=True)
class Forms:
    """The form of each part, 0 the fullest. The last form of `tools` is a request without any."""

    wire: int = 0  # chat completions, then Responses
    roles: int = 0  # system; then none: its text before the first question, turns of one role joined
    token_field: int = 0  # into TOKEN_FIELDS
    temperature: int = 0  # sent, then not
    effort: int = 0  # of reasoning: sent, then not
    json_mode: int = 0  # into structured_output.JSON_MODES
    tools: int = 0  # with the choice stated, then not

    def simpler(self, part: Part) -> Forms | None:
        """Return the next form of one part, None after its last."""
        now: int = getattr(self, part)
        return replace(self, **{part: now + 1}) if now < LAST[part] else None

    def merged(self, other: Forms) -> Forms:
        """Return the simpler form of each part."""
        return Forms(**{f.name: max(getattr(self, f.name), getattr(other, f.name)) for f in fields(Forms)})

    @property
    def token_name(self) -> str:
        """The field with the most tokens of an answer, in chat completions."""
        return TOKEN_FIELDS[self.token_field]


TOKEN_FIELDS = ("max_tokens", "max_completion_tokens")
LAST: Mapping[Part, int] = {
    "wire": 1,
    "roles": 1,
    "token_field": 1,
    "temperature": 1,
    "effort": 1,
    "json_mode": 3,
    "tools": 1,
}
MOST_STEPS = sum(LAST.values())
_TOOLS = re.compile(r"tool|function[_ ]?call|\bfunctions?\b", re.I)
_UNKNOWN = r"unsupported|not supported|not permitted|unrecogni[sz]ed|unexpected|unknown|extra|deprecat|invalid|does not"
# Words by which servers name a part, in the order in which they are looked for: a server that wants another interface
# names what it refuses in this one, too.
NAMED: tuple[tuple[Part, re.Pattern[str]], ...] = (
    ("wire", re.compile(r"v1/responses|\bresponses (?:api|endpoint|interface)|only supported in responses", re.I)),
    ("effort", re.compile(r"reasoning[_. ]?effort|\breasoning\b|\bthinking\b", re.I)),
    ("temperature", re.compile(r"\btemperature\b", re.I)),
    (
        "roles",
        re.compile(
            r"\b(?:system|developer)\b[^.]{0,40}\b(?:role|message|prompt|instruction)|roles?\b[^.]{0,60}\b(?:system|developer|"
            r"alternat)|role must be|conversation roles|must alternate|invalid role|supported roles",
            re.I,
        ),
    ),
    (
        "json_mode",
        re.compile(
            r"response_?format|json_?schema|json_?object|\bstrict\b|\bschema\b|\bgrammar\b|guided|text\.format", re.I
        ),
    ),
    ("tools", re.compile(r"tool[_ -]?choice", re.I)),
)  # fmt: skip


def named_part(text: str, param: str, sent_parts: frozenset[str], forms: Forms) -> Part | None:
    """Return the part that a refusal is about, of those that were sent and have a simpler form.

    It is None for none of them.
    """
    by_field = next((part for part, pattern in NAMED if param and pattern.search(param)), None)
    if by_field in sent_parts and by_field is not None and forms.simpler(by_field):
        return by_field
    if "token_field" in sent_parts and forms.simpler("token_field") and _refuses_name(f"{param} {text}", forms):
        return "token_field"
    for part, pattern in NAMED:
        if part in sent_parts and forms.simpler(part) and pattern.search(text):
            return part
    return None


def names_tools(text: str) -> bool:
    """Tell whether a refusal is of tools, by any of the names that servers give them."""
    return bool(_TOOLS.search(text))


def _refuses_name(text: str, forms: Forms) -> bool:
    """Tell whether the name of the token limit is refused, not its value: another name is told, or it is unknown."""
    if not re.search(rf"\b{forms.token_name}\b", text):
        return False
    other = TOKEN_FIELDS[1 - forms.token_field]
    return bool(re.search(rf"\b{other}\b", text) or re.search(_UNKNOWN, text, re.I))


def weaker_json(forms: Forms) -> Forms:
    """Forms for a server that was given a schema and returned no JSON."""
    return replace(forms, json_mode=min(LAST["json_mode"], max(2, forms.json_mode + 1)))
