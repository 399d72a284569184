from __future__ import annotations

import pytest

from sandbox.machine.instruction_set import operand_type
from sandbox.machine.operands import constant, register
from sandbox.machine.unreadable import UnreadableListing


@pytest.mark.parametrize(
    ("token", "kind", "bits"),
    [
        # inline integers: sign-extended to the operand's width
        ("-1", "i32", 0xFFFFFFFF),
        ("-16", "b64", 0xFFFFFFFFFFFFFFF0),
        ("-1", "u16", 0xFFFF),
        ("-1", "2xi16", 0xFFFFFFFF),
        ("2", "f64", 2),
        ("-2", "f64", 0xFFFFFFFFFFFFFFFE),
        ("64", "u64", 64),
        # literals: 32 bits, the upper half of a double, by sign for i64 alone
        ("0x40240000", "f64", 0x4024000000000000),
        ("0x80000000", "b64", 0x80000000),
        ("0x80000000", "u64", 0x80000000),
        ("0x80000000", "i64", 0xFFFFFFFF80000000),
        ("0xffffffffffffffff", "b64", 0xFFFFFFFFFFFFFFFF),
        ("0x12345678", "b32", 0x12345678),
        ("0x12345678", "2xf16", 0x12345678),
        # floats by the operand's type
        ("1.0", "f32", 0x3F800000),
        ("1.0", "b32", 0x3F800000),
        ("-4.0", "f16", 0xC400),
        ("1.0", "i16", 0x3C00),
        ("1.0", "2xf16", 0x3C00),
        ("1.0", "2xi16", 0x3F800000),
        ("1.0", "2xf32", 0x3F800000),
        ("2.0", "16xf32", 0x40000000),
        ("2.0", "4xf64", 0x4000000000000000),
        ("1.0", "b64", 0x3FF0000000000000),
        ("2.5", "f64", 0x4004000000000000),
        ("2.1", "f64", 0x4000CCCC00000000),  # a literal has no lower half
        ("0.15915494", "f32", 0x3E22F983),
        ("0.15915494", "f16", 0x3118),
        ("0.15915494309189532", "f64", 0x3FC45F306DC9C882),
        ("3.14159274", "f32", 0x40490FDB),
        ("src_shared_base", "b64", 1 << 48),
        ("private_base", "b64", 2 << 48),
    ],
)
def test_constants_are_extended_as_the_type_says(token: str, kind: str, bits: int) -> None:
    assert constant(token, operand_type(kind)) == bits


@pytest.mark.parametrize(
    ("token", "kind"),
    [
        ("0x1ffffffff", "b32"),
        ("-2147483649", "i32"),
        ("0x123456789a", "f64"),
        ("2.5", "b64"),
        ("1.0e39", "f32"),
        ("70000.0", "f16"),
        ("1" * 30, "b64"),
        ("src_shared_base", "b32"),
        ("v", "f32"),
        ("0x", "f32"),
        ("1.2.3", "f32"),
        ("nan", "f32"),
    ],
)
def test_constants_that_do_not_fit_are_refused(token: str, kind: str) -> None:
    with pytest.raises(UnreadableListing):
        constant(token, operand_type(kind))


@pytest.mark.parametrize(
    ("token", "expected"),
    [
        ("v255", ("v", 255, 1)),
        ("v[4:7]", ("v", 4, 4)),
        ("v[4]", ("v", 4, 1)),
        ("a[0:31]", ("a", 256, 32)),
        ("s101", ("s", 101, 1)),
        ("[s2,s3]", ("s", 2, 2)),
        ("vcc_hi", ("s", 107, 1)),
        ("ttmp[2:3]", ("s", 110, 2)),
        ("flat_scratch", ("s", 102, 2)),
        ("w3", None),
        ("v", None),
    ],
)
def test_registers(token: str, expected: tuple[str, int, int] | None) -> None:
    assert register(token) == expected


@pytest.mark.parametrize("token", ["v256", "s102", "v[5:4]", "v[250:260]", "ttmp16", "[s2,s4]", "[s2,v3]"])
def test_registers_that_do_not_exist_are_refused(token: str) -> None:
    with pytest.raises(UnreadableListing):
        register(token)
