"""The declarations of a text outside of functions and classes, cut at the brackets and semicolons of its tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sandbox.candidate.pp_tokens import Token

_CONSTANT = frozenset({"constexpr", "consteval"})  # the compiler gives these to both sides
_CLASSES = frozenset({"class", "struct", "union", "enum"})
_OTHER = frozenset({"=", "typedef", "using", "static_assert", *_CLASSES})  # what no prototype begins with
_FIXED = frozenset({"const", *_CONSTANT, "extern", "template", "static_assert", "typedef", "using", *_CLASSES})
_ATTRIBUTES = frozenset({"__align__", "alignas", "__attribute__", "__launch_bounds__"})
_OPEN, _CLOSE = {"(": ")", "[": "]", "{": "}"}, frozenset(")]}")


@dataclass(frozen=True)
class Declaration:
    """Tokens of one declaration outside of functions and classes; `head` of them stand before its body."""

    tokens: tuple[Token, ...]
    head: int
    is_function: bool

    @property
    def name(self) -> str:
        """Of a function: the name before its first parenthesis; of a class: the one behind its keyword."""
        words = [t.text for t in self.tokens[: self.head]]
        if not self.is_function and not self.is_prototype:
            words = without_attributes(_without_template(words))
            index = next(
                (i for i, word in enumerate(words) if word in _CLASSES and words[i - 1 : i] != ["<"]), len(words)
            )
            pairs = zip(words[index + 1 :], [*words[index + 2 :], ""], strict=False)
            return next((a for a, b in pairs if a.isidentifier() and a not in _CLASSES and b != "::"), "")
        words = without_attributes(_without_template(words))
        index = words.index("(") if "(" in words else 0
        return words[index - 1] if index else ""

    @property
    def kind(self) -> str:
        """The first word behind the template's parameters."""
        return next(iter(without_attributes(_without_template([t.text for t in self.tokens]))), "")

    @property
    def type_name(self) -> str:
        """The type that a declaration outside of functions gives a name to; "" where it gives none.

        A specialization gives none: the template is there without it.
        """
        words = _without_template([t.text for t in self.tokens if t.text != ";"])
        if self.is_function or self.is_prototype or not words:
            return ""
        if words[0] == "using":
            return words[1] if words[2:3] == ["="] else ""
        if words[0] == "typedef":
            words = outside_braces(without_attributes(words))
            pointer = next((b for a, b in pairwise(words) if a == "*" and words[words.index(b) - 2] == "("), "")
            return pointer or next((word for word in reversed(words) if word.isidentifier()), "")
        head = words[: words.index("{")] if "{" in words else ["("]
        name = self.name if not _CLASSES.isdisjoint(head) and "(" not in head else ""
        return "" if name and f"{name} <" in " ".join(head) else name

    @property
    def is_prototype(self) -> bool:
        """True for what looks like a function without a body."""
        words = _without_template([t.text for t in self.tokens[: self.head]])
        begins = "(" in words and _OTHER.isdisjoint(words[: words.index("(")])
        return not self.is_function and words[-1:] == [")"] and begins

    @property
    def variable_name(self) -> str:
        """Of a variable that may change: its name; "" for all else."""
        words = [t.text for t in self.tokens]
        end = next((i for i, word in enumerate(words) if word in ("=", "[", "{", ";", "(")), 0)
        if self.is_function or end < 2 or words[end] in ("(", "{") or not _FIXED.isdisjoint(words[:end]):
            return ""
        return words[end - 1] if words[end - 1].isidentifier() and words[end - 2] not in ("::", "operator") else ""

    @property
    def alias_name(self) -> str:
        """Of an alias that is a template: its name; "" for all else."""
        words = _without_template([t.text for t in self.tokens])
        return words[1] if words[:1] == ["using"] and words[2:3] == ["="] else ""

    @property
    def constant_name(self) -> str:
        """Of one constant or variable with a value, also of a template: its name; "" for all else."""
        words = _without_template([t.text for t in self.tokens])
        end = next((i for i, word in enumerate(words) if word in ("=", "[", "{", ";", "(", ",")), 0)
        is_one = end > 1 and words[end] in ("=", "[", "{") and "," not in _outside_brackets(words)
        is_named = is_one and words[end - 1].isidentifier() and words[end - 2] not in ("::", *_CLASSES)
        return words[end - 1] if is_named and not self.is_function else ""

    @property
    def guided_name(self) -> str:
        """Of a deduction guide: the class; "" for all else."""
        words = _without_template([t.text for t in self.tokens])
        index = words.index("(") if "(" in words else 0
        is_guide = "->" in words and 0 < index <= 2 and not self.is_function and "=" not in words
        return words[index - 1] if is_guide and f"-> {words[index - 1]}" in " ".join(words) else ""

    @property
    def is_constant(self) -> bool:
        """True for a function that the compiler gives to both sides."""
        return self.is_function and not _CONSTANT.isdisjoint(t.text for t in self.tokens[: self.head])

    @property
    def is_class_with_functions(self) -> bool:
        """True for a class in which a function has a body."""
        words = without_attributes([t.text for t in self.tokens])
        bodies = zip(words, words[1:], words[2:], strict=False)
        has_body = any(
            before == ")" and (text == "{" or (text in ("const", "override", "noexcept") and after == "{"))
            for before, text, after in bodies
        )
        return has_body and not _CLASSES.isdisjoint(words[:40])


def declarations_of(tokens: Sequence[Token], macros: set[str]) -> list[Declaration] | None:
    """List the declarations of all namespaces; None where the brackets do not fit."""
    closing = _partners(tokens)
    if closing is None:
        return None
    return list(_declarations(tokens, closing, macros))


def _partners(tokens: Sequence[Token]) -> dict[int, int] | None:
    """Map the index of each opening bracket to that of its closing one; None where they do not fit."""
    closing, opened = dict[int, int](), list[int]()
    for index, token in enumerate(tokens):
        if token.kind != "mark":
            continue
        if token.text in _OPEN:
            opened.append(index)
        elif token.text in _CLOSE:
            if not opened or _OPEN[tokens[opened[-1]].text] != token.text:
                return None
            closing[opened.pop()] = index
    return None if opened else closing


def _declarations(tokens: Sequence[Token], closing: dict[int, int], macros: set[str]) -> Iterator[Declaration]:
    start = index = 0
    has_braces = False  # a class or a list of values: what follows is no body
    while index < len(tokens):
        text, end = tokens[index].text if tokens[index].kind == "mark" else "", index
        is_whole = is_function = False
        if text == ";":
            is_whole = True
        elif text == "}":  # of a namespace
            start = index + 1
        elif text == "{" and not has_braces:
            words = [t.text for t in tokens[start:index]]
            if words[:1] == ["namespace"] or words[:2] == ["inline", "namespace"] or _is_c(words):
                start = index + 1
            else:
                is_body, end = _is_body(words), closing[index]
                if not (is_body and _is_initialised(words)):
                    is_whole = is_function = is_body
                    has_braces = not is_body
        else:
            end = closing.get(index, index)
            is_macro = text == "(" and index - start == 1 and tokens[start].text in macros
            is_whole = is_macro and [t.text for t in tokens[end + 1 : end + 2]] not in ([";"], ["{"])
        if is_whole:
            yield Declaration(tuple(tokens[start : end + 1]), (index if is_function else end) - start, is_function)
            start, has_braces = end + 1, False
        index = end + 1


def _is_c(words: Sequence[str]) -> bool:
    return len(words) == 2 and words[0] == "extern" and words[1].startswith('"')


def _is_body(words: Sequence[str]) -> bool:
    """Tell whether the brace behind these words opens a function's body, not a class or a list of values."""
    words = without_attributes(_without_template(words))
    if "(" not in words or words[0] == "typedef" or ("=" in _outside_parentheses(words) and "operator" not in words):
        return False
    return _CLASSES.isdisjoint(words[: words.index("(")]) or words[-1] == ")"


def _is_initialised(words: Sequence[str]) -> bool:
    """Tell whether the brace behind these words holds the value of a member, in a constructor's list."""
    return ":" in _outside_parentheses(words) and (words[-1].isidentifier() or words[-1] in (">", ">>"))


def without_attributes(words: Sequence[str]) -> list[str]:
    """Leave out `__align__(...)` and the like, whose parentheses are no parameters."""
    outside, index = list[str](), 0
    while index < len(words):
        if words[index] in _ATTRIBUTES and words[index + 1 : index + 2] == ["("]:
            depth, index = 1, index + 2
            while depth and index < len(words):
                depth += (words[index] == "(") - (words[index] == ")")
                index += 1
        else:
            outside.append(words[index])
            index += 1
    return outside


def outside_braces(words: Sequence[str]) -> list[str]:
    """List the words that stand in no braces: of a type and its other names, not of its members."""
    depth, outside = 0, list[str]()
    for word in words:
        depth -= word == "}"
        if depth == 0:
            outside.append(word)
        depth += word == "{"
    return outside


def _outside_brackets(words: Sequence[str]) -> list[str]:
    """List the words that stand in no brackets at all."""
    depth, outside = 0, list[str]()
    for word in words:
        depth += (word in ("(", "[", "{", "<")) - (word in (")", "]", "}", ">")) - 2 * (word == ">>")
        if depth == 0:
            outside.append(word)
    return outside


def _outside_parentheses(words: Sequence[str]) -> list[str]:
    """List the words that stand in no parentheses; a default value of a parameter is not among them."""
    depth, outside = 0, list[str]()
    for word in words:
        depth += (word == "(") - (word == ")")
        if depth == 0:
            outside.append(word)
    return outside


def _without_template(words: Sequence[str]) -> list[str]:
    """List the words behind each `template <...>`, in which `class` declares a type's name."""
    if words[:1] != ["template"]:
        return list(words)
    depth = 0
    for index, word in enumerate(words):
        depth += {"<": 1, ">": -1, ">>": -2}.get(word, 0)
        if index > 1 and depth <= 0:
            return _without_template(words[index + 1 :])
    return []
