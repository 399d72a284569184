"""Binary floating-point formats in exact integers: the oracle of rounding, fused products and awkward operands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

NEAREST, UP, DOWN, TO_ZERO = range(4)
Exact = tuple[int, int]  # n, e: the number n * 2^e


@dataclass(frozen=True)
class FloatFormat:
    """An IEEE format of `mantissa` stored bits and `exponent` bits, in NumPy's unsigned integer type `word`."""

    mantissa: int
    exponent: int
    word: Any
    value: Any  # NumPy's type

    @property
    def bits(self) -> int:
        """Its width."""
        return 1 + self.mantissa + self.exponent

    @property
    def infinity(self) -> int:
        """The code of +infinity."""
        return ((1 << self.exponent) - 1) << self.mantissa

    @property
    def default_nan(self) -> int:
        """What an invalid operation gives: a negative quiet NaN, as v_div_fixup's."""
        return (1 << (self.bits - 1)) | self.infinity | self.quiet

    @property
    def quiet(self) -> int:
        """The bit of a quiet NaN."""
        return 1 << (self.mantissa - 1)

    @property
    def least(self) -> int:
        """The exponent of the least denormal."""
        return 2 - (1 << (self.exponent - 1)) - self.mantissa

    def is_nan(self, code: int) -> bool:
        """True of every NaN."""
        return bool(self.size(code) > self.infinity)

    def size(self, code: Any) -> Any:
        """A code, or an array of codes, without the sign."""
        mask = (1 << (self.bits - 1)) - 1
        return code & (mask if isinstance(code, int) else self.word(mask))

    def is_finite(self, code: int) -> bool:
        """False of infinities and NaN."""
        return bool(self.size(code) < self.infinity)

    def exact(self, code: int) -> Exact:
        """The number that a finite code means."""
        size = self.size(code)
        field, fraction = size >> self.mantissa, size & ((1 << self.mantissa) - 1)
        n = fraction | (1 << self.mantissa if field else 0)
        return (-n if code >> (self.bits - 1) else n), max(field, 1) - 1 + self.least

    def rounded(self, number: Exact, rounding: int = NEAREST, *, negative_zero: bool = False) -> int:
        """The code of a number, rounded once; of 0 the sign is as told."""
        n, e = number
        sign, n = (n < 0 or (n == 0 and negative_zero)), abs(n)
        shift = max(n.bit_length() - 1 - self.mantissa, self.least - e)
        if shift > 0:
            quotient, remainder, half = n >> shift, n & ((1 << shift) - 1), 1 << (shift - 1)
            away = remainder and ((rounding == UP and not sign) or (rounding == DOWN and sign))
            tie = rounding == NEAREST and (remainder > half or (remainder == half and quotient & 1))
            n, e = quotient + bool(away or tie), e + shift
        else:
            n, e = n << -shift, e + shift
        if n >> (self.mantissa + 1):
            n, e = n >> 1, e + 1
        code = n + ((e - self.least) << self.mantissa) if n >> self.mantissa else n
        if code >= self.infinity:
            grows = rounding == NEAREST or rounding == (DOWN if sign else UP)
            code = self.infinity if grows else self.infinity - 1
        return code | (1 << (self.bits - 1) if sign else 0)

    def fused(self, a: int, b: int, c: int, rounding: int = NEAREST) -> int | None:
        """The code of a * b + c, of finite codes; None otherwise."""
        if not (self.is_finite(a) and self.is_finite(b) and self.is_finite(c)):
            return None
        (m, e), (n, f), (k, g) = self.exact(a), self.exact(b), self.exact(c)
        low = min(e + f, g)
        total = (m * n << (e + f - low)) + (k << (g - low))
        signs = (a ^ b) >> (self.bits - 1), c >> (self.bits - 1)
        negative = bool(signs[0] and signs[1]) or (signs[0] != signs[1] and rounding == DOWN)
        if m * n and k:
            negative = rounding == DOWN
        return self.rounded((total, low), rounding, negative_zero=negative)


HALF = FloatFormat(10, 5, np.uint16, np.float16)
SINGLE = FloatFormat(23, 8, np.uint32, np.float32)
DOUBLE = FloatFormat(52, 11, np.uint64, np.float64)


def awkward(form: FloatFormat, count: int, seed: int) -> npt.NDArray[Any]:
    """Codes: special ones and their neighbours, small whole numbers, any bits, and numbers of ordinary size."""
    rng = np.random.default_rng(seed)
    top, unity = form.infinity, ((1 << (form.exponent - 1)) - 1) << form.mantissa
    near = [0, 1 << form.mantissa, unity, top, unity + (1 << form.mantissa), unity - (1 << form.mantissa)]
    codes = [c + d for c in near for d in (-2, -1, 0, 1, 2) if c + d >= 0] + [top | form.quiet, top | form.quiet | 5]
    special = np.array([s | c for c in codes for s in (0, 1 << (form.bits - 1))], np.uint64).astype(form.word)
    random = rng.integers(0, 1 << form.bits, count, np.uint64, endpoint=False) if form.bits < 64 else None
    mixed = (rng.integers(0, 2**64, count, np.uint64) if random is None else random).astype(form.word)
    plain = (rng.standard_normal(count) * 2.0 ** rng.uniform(-8, 8, count)).astype(form.value).view(form.word)
    integers = rng.integers(-40, 40, count).astype(form.value).view(form.word)
    kind = rng.integers(0, 10, count)
    mixed = np.where(
        kind < 2, rng.choice(special, count), np.where(kind < 5, plain, np.where(kind < 6, integers, mixed))
    )
    return np.asarray(mixed.astype(form.word))
