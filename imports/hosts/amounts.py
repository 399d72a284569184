"""Whole numbers of host code: polynomials over names, with the value that they have for the file's own sizes.

The text is in the language of launch plans. Atoms are names and what is no polynomial: `ceil_div(n, 256)`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tasks.expressions import MAX_LENGTH

Terms = Sequence[tuple[tuple[str, ...], int]]
MOST_TERMS = 24


@dataclass(frozen=True)
class Amount:
    """A number: a sum of products of atoms, and its value; None where a size that it needs is not known."""

    terms: tuple[tuple[tuple[str, ...], int], ...]
    value: int | None

    @property
    def text(self) -> str:
        """The expression."""
        parts = [_product(atoms, scale) for atoms, scale in self.terms]
        return " + ".join(parts).replace("+ -", "- ") or "0"

    @property
    def constant(self) -> int | None:
        """The number, where it follows from no name."""
        return self.value if all(not atoms for atoms, _ in self.terms) else None

    @property
    def names(self) -> frozenset[str]:
        """The names it follows from."""
        words = re.findall(r"[A-Za-z_]\w*", " ".join(" ".join(atoms) for atoms, _ in self.terms))
        return frozenset(words) - {"ceil_div", "min", "max", "log2", "and", "or", "not", "if", "else"}

    @property
    def bracketed(self) -> str:
        """The expression as a part of another."""
        return self.text if re.fullmatch(r"\w+|\w+\([^()]*\)", self.text) else f"({self.text})"


def number(value: int) -> Amount:
    """Make the amount of a constant."""
    return Amount((((), value),) if value else (), value)


def named(name: str, value: int | None) -> Amount:
    """Make the amount of a name, or of an expression that is no sum of products."""
    return Amount((((name,), 1),), value)


def plus(left: Amount, right: Amount, sign: int = 1) -> Amount:
    """Give the sum, or the difference where the sign is -1."""
    terms = [*left.terms, *((atoms, sign * scale) for atoms, scale in right.terms)]
    return _collected(terms, _value(left, right, lambda a, b: a + sign * b))


def times(left: Amount, right: Amount) -> Amount:
    """Give the product."""
    terms = [((*atoms, *more), scale * factor) for atoms, scale in left.terms for more, factor in right.terms]
    return _collected(terms, _value(left, right, lambda a, b: a * b))


def divided(dividend: Amount, divisor: Amount) -> Amount:
    """Give the quotient of C++, for numbers that are not negative; ZeroDivisionError."""
    if divisor.value == 0:
        raise ZeroDivisionError
    value = _value(dividend, divisor, lambda a, b: a // b)
    if dividend.constant is not None and divisor.constant is not None:
        return number(dividend.constant // divisor.constant)
    exact = _exact(dividend, divisor)
    if exact is not None:
        return Amount(exact.terms, value)
    count = plus(plus(dividend, divisor, -1), number(1))  # of (count + each - 1) / each
    if len(count.terms) < len(dividend.terms) and count.terms:
        return named(f"ceil_div({count.text}, {divisor.text})", value)
    return named(f"{dividend.bracketed} // {divisor.bracketed}", value)


def called(name: str, parts: list[Amount], of: Callable[..., int]) -> Amount:
    """Make the amount of a function of several numbers."""
    values = [part.value for part in parts]
    value = None if None in values else of(*values)
    if all(part.constant is not None for part in parts) and value is not None:
        return number(value)
    return named(f"{name}({', '.join(part.text for part in parts)})", value)


def joined(left: Amount, sign: str, right: Amount, of: Callable[[int, int], int]) -> Amount:
    """Two numbers with an operator of the plan's language between them."""
    value = _value(left, right, of)
    if left.constant is not None and right.constant is not None and value is not None:
        return number(value)
    return named(f"({left.bracketed} {sign} {right.bracketed})", value)


def _exact(dividend: Amount, divisor: Amount) -> Amount | None:
    """Give the quotient where the divisor is a product that is in every term."""
    if len(divisor.terms) != 1 or not dividend.terms:
        return None
    (factors, divisor_scale), terms = divisor.terms[0], list[tuple[tuple[str, ...], int]]()
    for atoms, scale in dividend.terms:
        remaining = list(atoms)
        for atom in factors:
            if atom not in remaining:
                return None
            remaining.remove(atom)
        if scale % divisor_scale:
            return None
        terms.append((tuple(remaining), scale // divisor_scale))
    return _collected(terms, None)


def _collected(terms: Terms, value: int | None) -> Amount:
    """Put the terms together; of equal products the first order of factors stays, which is that of the file's axes."""
    sums: dict[tuple[str, ...], tuple[tuple[str, ...], int]] = {}
    for atoms, scale in terms:
        key = tuple(sorted(atoms))
        first, so_far = sums.get(key, (atoms, 0))
        sums[key] = (first, so_far + scale)
    nonzero = tuple((atoms, scale) for atoms, scale in sums.values() if scale)
    amount = Amount(nonzero, value)
    if not nonzero:
        return number(0)
    if amount.value is None and all(not atoms for atoms, _ in nonzero):
        return number(sum(scale for _, scale in nonzero))
    if len(nonzero) > MOST_TERMS or len(amount.text) > MAX_LENGTH:
        raise OverflowError("an expression of the host half is too long")
    return amount


def _value(left: Amount, right: Amount, of: Callable[[int, int], int]) -> int | None:
    return None if left.value is None or right.value is None else of(left.value, right.value)


def _product(atoms: tuple[str, ...], scale: int) -> str:
    texts = [
        a if (len(atoms) == 1 and scale == 1) or re.fullmatch(r"\w+|\w+\([^()]*\)|\(.*\)", a) else f"({a})"
        for a in atoms
    ]
    factors = [str(scale)] if scale != 1 or not atoms else []
    if scale == -1 and atoms:
        return "-" + " * ".join(texts)
    return " * ".join([*factors, *texts])
