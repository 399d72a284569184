"""Single vector instructions of gfx942 as C++, for inline assembly: what each reads, what it gives.

A row: the type of the result and of each operand, then the expression over them (`a`, `b`, `c`; `d` is the result's own
value from before). Operands are the bits of a register, or of a pair of registers where the type has eight bytes.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from sandbox.lab.build.lane_modifiers import Lanes, without_modifiers


class VectorInstruction(NamedTuple):
    """The meaning of one instruction."""

    result: str
    operands: tuple[str, ...]
    expression: str


_TYPES = {"u": "unsigned", "i": "int", "f": "float", "h": "_Float16", "p": "ks_asm_halves", "g": "ks_asm_floats"} | {
    "d": "double", "l": "unsigned long", "s": "short", "w": "unsigned short"
}  # fmt: skip
_ROWS = """
v_mov_b32 u=u a; v_accvgpr_read_b32 u=u a; v_accvgpr_write_b32 u=u a
v_readfirstlane_b32 u=u __builtin_amdgcn_readfirstlane(a); v_add_f32 f=ff a + b; v_sub_f32 f=ff a - b
v_subrev_f32 f=ff b - a; v_mul_f32 f=ff a * b; v_mul_legacy_f32 f=ff a == 0 || b == 0 ? 0.0f : a * b
v_fma_f32 f=fff __builtin_fmaf(a, b, c); v_fmac_f32 f=ff __builtin_fmaf(a, b, d)
v_mac_f32 f=ff __builtin_fmaf(a, b, d); v_max_f32 f=ff __builtin_fmaxf(a, b); v_min_f32 f=ff __builtin_fminf(a, b)
v_max3_f32 f=fff __builtin_fmaxf(__builtin_fmaxf(a, b), c)
v_min3_f32 f=fff __builtin_fminf(__builtin_fminf(a, b), c); v_med3_f32 f=fff __builtin_amdgcn_fmed3f(a, b, c)
v_rcp_f32 f=f __builtin_amdgcn_rcpf(a); v_rsq_f32 f=f __builtin_amdgcn_rsqf(a)
v_sqrt_f32 f=f __builtin_amdgcn_sqrtf(a); v_exp_f32 f=f __builtin_amdgcn_exp2f(a)
v_log_f32 f=f __builtin_amdgcn_logf(a); v_sin_f32 f=f __builtin_amdgcn_sinf(a)
v_cos_f32 f=f __builtin_amdgcn_cosf(a); v_fract_f32 f=f __builtin_amdgcn_fractf(a)
v_floor_f32 f=f __builtin_floorf(a); v_ceil_f32 f=f __builtin_ceilf(a); v_trunc_f32 f=f __builtin_truncf(a)
v_rndne_f32 f=f __builtin_rintf(a); v_ldexp_f32 f=fi __builtin_amdgcn_ldexpf(a, b); v_add_u32 u=uu a + b
v_sub_u32 u=uu a - b; v_subrev_u32 u=uu b - a; v_add_i32 u=uu a + b; v_sub_i32 u=uu a - b; v_mul_lo_u32 u=uu a * b
v_mul_hi_u32 u=uu (unsigned)(((unsigned long)a * b) >> 32); v_mul_hi_i32 i=ii (int)(((long)a * b) >> 32)
v_mul_u32_u24 u=uu (a & 0xffffff) * (b & 0xffffff)
v_mul_i32_i24 i=ii (int)((unsigned)(a << 8 >> 8) * (unsigned)(b << 8 >> 8))
v_mad_u32_u24 u=uuu (a & 0xffffff) * (b & 0xffffff) + c
v_mad_i32_i24 i=iii (int)((unsigned)(a << 8 >> 8) * (unsigned)(b << 8 >> 8) + (unsigned)c)
v_add3_u32 u=uuu a + b + c; v_lshl_add_u32 u=uuu (a << (b & 31)) + c; v_add_lshl_u32 u=uuu (a + b) << (c & 31)
v_lshl_or_b32 u=uuu a << (b & 31) | c; v_and_or_b32 u=uuu (a & b) | c; v_or3_b32 u=uuu a | b | c
v_xad_u32 u=uuu (a ^ b) + c; v_and_b32 u=uu a & b; v_or_b32 u=uu a | b; v_xor_b32 u=uu a ^ b; v_not_b32 u=u ~a
v_xnor_b32 u=uu ~(a ^ b); v_lshlrev_b32 u=uu b << (a & 31); v_lshrrev_b32 u=uu b >> (a & 31)
v_ashrrev_i32 i=ui b >> (a & 31); v_lshlrev_b64 l=ul b << (a & 63); v_lshrrev_b64 l=ul b >> (a & 63)
v_ashrrev_i64 l=ul (unsigned long)((long)b >> (a & 63)); v_bfe_u32 u=uuu __builtin_amdgcn_ubfe(a, b, c)
v_bfe_i32 i=iuu __builtin_amdgcn_sbfe(a, b, c); v_bfi_b32 u=uuu (a & b) | (~a & c)
v_bfm_b32 u=uu ((1u << (a & 31)) - 1) << (b & 31); v_alignbit_b32 u=uuu __builtin_amdgcn_alignbit(a, b, c)
v_alignbyte_b32 u=uuu __builtin_amdgcn_alignbyte(a, b, c); v_perm_b32 u=uuu __builtin_amdgcn_perm(a, b, c)
v_bfrev_b32 u=u __builtin_bitreverse32(a); v_ffbh_u32 u=u a ? (unsigned)__builtin_clz(a) : ~0u
v_ffbl_b32 u=u a ? (unsigned)__builtin_ctz(a) : ~0u; v_bcnt_u32_b32 u=uu (unsigned)__builtin_popcount(a) + b
v_mbcnt_lo_u32_b32 u=uu __builtin_amdgcn_mbcnt_lo(a, b); v_mbcnt_hi_u32_b32 u=uu __builtin_amdgcn_mbcnt_hi(a, b)
v_max_u32 u=uu a > b ? a : b; v_min_u32 u=uu a < b ? a : b; v_max_i32 i=ii a > b ? a : b
v_min_i32 i=ii a < b ? a : b; v_max3_u32 u=uuu (a > b ? a : b) > c ? (a > b ? a : b) : c
v_min3_u32 u=uuu (a < b ? a : b) < c ? (a < b ? a : b) : c
v_max3_i32 i=iii (a > b ? a : b) > c ? (a > b ? a : b) : c
v_min3_i32 i=iii (a < b ? a : b) < c ? (a < b ? a : b) : c; v_sad_u8 u=uuu __builtin_amdgcn_sad_u8(a, b, c)
v_cvt_pk_u8_f32 u=fuu __builtin_amdgcn_cvt_pk_u8_f32(a, b, c)
v_sad_hi_u8 u=uuu __builtin_amdgcn_sad_hi_u8(a, b, c); v_sad_u16 u=uuu __builtin_amdgcn_sad_u16(a, b, c)
v_msad_u8 u=uuu __builtin_amdgcn_msad_u8(a, b, c); v_lerp_u8 u=uuu __builtin_amdgcn_lerp(a, b, c)
v_sad_u32 u=uuu (a > b ? a - b : b - a) + c; v_dot4_i32_i8 i=iii __builtin_amdgcn_sdot4(a, b, c, false)
v_dot4_u32_u8 u=uuu __builtin_amdgcn_udot4(a, b, c, false)
v_dot2_f32_f16 f=ppf __builtin_amdgcn_fdot2(a, b, c, false); v_cvt_f32_i32 f=i (float)a; v_cvt_f32_u32 f=u (float)a
v_cvt_f32_f16 f=h (float)a; v_cvt_f16_f32 h=f (_Float16)a
v_cvt_i32_f32 i=f a != a ? 0 : a >= 2147483648.0f ? 2147483647 : a <= -2147483648.0f ? -2147483647 - 1 : (int)a
v_cvt_u32_f32 u=f a != a || a <= 0 ? 0u : a >= 4294967296.0f ? 4294967295u : (unsigned)a
v_cvt_f32_ubyte0 f=u (float)(a & 255); v_cvt_f32_ubyte1 f=u (float)(a >> 8 & 255)
v_cvt_f32_ubyte2 f=u (float)(a >> 16 & 255); v_cvt_f32_ubyte3 f=u (float)(a >> 24); v_cvt_f64_f32 d=f (double)a
v_cvt_f32_f64 f=d (float)a; v_cvt_f64_i32 d=i (double)a
v_cvt_pkrtz_f16_f32 u=ff __builtin_bit_cast(unsigned, __builtin_amdgcn_cvt_pkrtz(a, b)); v_pk_add_f16 p=pp a + b
v_pk_mul_f16 p=pp a * b; v_pk_fma_f16 p=ppp __builtin_elementwise_fma(a, b, c)
v_pk_max_f16 p=pp __builtin_elementwise_max(a, b); v_pk_min_f16 p=pp __builtin_elementwise_min(a, b)
v_pk_add_f32 g=gg a + b; v_pk_mul_f32 g=gg a * b; v_pk_fma_f32 g=ggg __builtin_elementwise_fma(a, b, c)
v_add_f16 h=hh a + b; v_sub_f16 h=hh a - b; v_mul_f16 h=hh a * b; v_fma_f16 h=hhh __builtin_fmaf16(a, b, c)
v_max_f16 h=hh __builtin_fmaxf16(a, b); v_min_f16 h=hh __builtin_fminf16(a, b)
v_add_u16 w=ww (unsigned short)(a + b); v_sub_u16 w=ww (unsigned short)(a - b)
v_mul_lo_u16 w=ww (unsigned short)((unsigned)a * b); v_add_f64 d=dd a + b; v_mul_f64 d=dd a * b
v_fma_f64 d=ddd __builtin_fma(a, b, c); v_max_f64 d=dd __builtin_fmax(a, b); v_min_f64 d=dd __builtin_fmin(a, b)
v_lshl_add_u64 l=lul (a << (b & 63)) + c
"""
_ROW = re.compile(r"(v_\w+) (\w)=(\w+) ([^;\n]+)")
INSTRUCTIONS = {
    m[1]: VectorInstruction(_TYPES[m[2]], tuple(_TYPES[t] for t in m[3]), m[4].strip()) for m in _ROW.finditer(_ROWS)
}
_WRITTEN = re.compile(r"(v_\w+?)(?:_e32|_e64|_dpp)?[ \t]+(.+)")
_WIDE = {"double", "unsigned long", "ks_asm_floats"}
_OPERAND = re.compile(
    r"(?P<minus>-)?(?:%(?P<number>\d)|%\[(?P<name>\w+)\]|(?P<whole>(?:0x[0-9a-fA-F]{1,8}|\d{1,10})(?![\w.]))"
    r"|(?P<real>(?:0\.5|[124]\.0)))"
)


class Operand(NamedTuple):
    """One operand of an instruction: an operand of the statement, by its number or name, or a constant."""

    key: str
    constant: str
    is_negated: bool


class Parsed(NamedTuple):
    """An instruction, its operands, the result first, and from which lanes the first source comes, if from others."""

    known: VectorInstruction
    operands: tuple[Operand, ...]
    lanes: Lanes | None


def parsed(line: str) -> Parsed | None:
    """The instruction of a line; None for what is not known or has modifiers that are not."""
    plain, lanes = without_modifiers(line) or ("", None)
    written = _WRITTEN.fullmatch(plain)
    known = INSTRUCTIONS.get(written[1]) if written else None
    if written is None or known is None:
        return None
    found = [_OPERAND.fullmatch(part) for part in re.split(r"[ \t]*,[ \t]*|[ \t]+", written[2].strip())]
    if len(found) != 1 + len(known.operands) or not all(found):
        return None
    operands = tuple(
        Operand(m["number"] or m["name"] or "", m["whole"] or m["real"] or "", bool(m["minus"])) for m in found if m
    )
    types = ("", *known.operands)
    if any(o.is_negated and types[i] not in ("float", "double", "_Float16") for i, o in enumerate(operands)):
        return None
    fits = all(not o.constant or types[i] in ("unsigned", "int", "float") for i, o in enumerate(operands))
    if lanes and (len(known.operands) > 2 or not operands[1].key or _WIDE & {known.result, *known.operands}):
        return None  # these take one or two registers of 32 bits
    return Parsed(known, operands, lanes) if operands[0].key and not operands[0].is_negated and fits else None


def constant_of(operand: Operand, kind: str) -> str:
    """The value of a constant operand as C++: whole numbers are bits, so small ones are denormal to floats."""
    if "." in operand.constant:
        value = f"{operand.constant}f"
        return value if kind == "float" else f"__builtin_bit_cast({kind}, {value})"
    bits = f"{int(operand.constant, 0) & 0xFFFFFFFF}u"
    return f"__builtin_bit_cast({kind}, {bits})"
