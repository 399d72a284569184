"""Coordinate expressions as sums of products, so that `row * cols + col` is the same however it is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from agents.cpp.expression import Expression

Terms = Mapping[tuple[str, ...], int]  # sorted factors to their coefficient; () is the constant
MOST_TERMS = 64


@dataclass(frozen=True)
class Polynomial:
    """A sum of products of atoms: names, members such as `threadIdx.x`, and whatever else as its text."""

    terms: Terms

    def __add__(self, other: Polynomial) -> Polynomial:
        """Sum."""
        terms = dict(self.terms)
        for factors, count in other.terms.items():
            terms[factors] = terms.get(factors, 0) + count
        return Polynomial({f: c for f, c in terms.items() if c})

    def __mul__(self, other: Polynomial) -> Polynomial:
        """Product."""
        total = Polynomial({})
        for mine, count in self.terms.items():
            total += Polynomial({tuple(sorted((*mine, *f))): count * c for f, c in other.terms.items()})
        return total

    def __neg__(self) -> Polynomial:
        """Return the negative."""
        return Polynomial({f: -c for f, c in self.terms.items()})

    @property
    def atoms(self) -> frozenset[str]:
        """Everything that it is made of."""
        return frozenset(a for factors in self.terms for a in factors)

    def along(self, atom: str) -> Polynomial | None:
        """Find the factor of an atom; None where the atom stands in it in another way than to the first power."""
        if any(factors.count(atom) > 1 for factors in self.terms):
            return None
        terms: dict[tuple[str, ...], int] = {}
        for factors, count in self.terms.items():
            if atom in factors:
                other_factors = list(factors)
                other_factors.remove(atom)
                terms[tuple(other_factors)] = count
        return Polynomial(terms)


ONE = Polynomial({(): 1})
ZERO = Polynomial({})


def atom(name: str) -> Polynomial:
    """Make a polynomial of one atom."""
    return Polynomial({(name,): 1})


def polynomial(node: Expression, code: str, values: Mapping[str, Polynomial]) -> Polynomial:
    """Read an integer expression as a polynomial; names with a value stand for it. Casts are left out."""
    match node.kind:
        case "number":
            digits = node.value.rstrip("uUlL").replace("'", "")
            if digits.isdigit() and (digits == "0" or not digits.startswith("0")):
                return Polynomial({(): int(digits)}) if int(digits) else ZERO
        case "name":
            return values.get(node.value, atom(node.value))
        case "cast" if "*" not in node.value and "float" not in node.value and "double" not in node.value:
            return polynomial(node.parts[0], code, values)
        case "unary" if node.value in "+-":
            inner = polynomial(node.parts[0], code, values)
            return -inner if node.value == "-" else inner
        case "binary" if node.value in "+-*":
            left, right = (polynomial(p, code, values) for p in node.parts)
            if len(left.terms) * len(right.terms) <= MOST_TERMS:
                return left * right if node.value == "*" else left + (right if node.value == "+" else -right)
    text = " ".join(code[node.start : node.end].split())
    return values.get(text, atom(text))
