"""The binary layout of a decoded program, as interpreter/program.h declares it."""

from __future__ import annotations

import struct
from enum import IntEnum, IntFlag

MAGIC = 0x4B534D4143303031
NAME_BYTES = 48
NOWHERE = 0xFFFFFFFF
CODE_BASE = 3 << 48
CODE_STRIDE = 8  # guest bytes from one instruction to the next
DATA_BASE = 4 << 48
LDS_BASE = 1 << 48
PRIVATE_BASE = 2 << 48

OPERAND = struct.Struct("<BBBBIQ")
HEAD = struct.Struct("<IBBBB")  # semantics, results, sources, bytes, unit
TAIL = struct.Struct("<qIIIHBBBBBBBBBB")  # from offset on; see tail()
KERNEL = struct.Struct("<15Q")
SECTION = struct.Struct("<3Q")
HEADER = struct.Struct("<6Q")
RESULTS, SOURCES = 2, 4
INSTRUCTION_BYTES = HEAD.size + (RESULTS + SOURCES) * OPERAND.size + TAIL.size
TARGET_OFFSET = HEAD.size + (RESULTS + SOURCES) * OPERAND.size + 12
ABSENT = bytes(OPERAND.size)


class OperandKind(IntEnum):
    """The place of an operand."""

    NONE = 0
    VECTOR = 1
    SCALAR = 2
    CONSTANT = 3


class Unit(IntEnum):
    """The part of the hardware that executes an instruction; see program.h."""

    OTHER_UNIT = 0
    NO_UNIT = 1
    PAUSE = 2
    SALU = 3
    VALU = 4
    TRANS = 5
    DOT = 6
    XDL = 7
    SGEMM = 8
    DGEMM = 9
    VMEM = 10
    FLAT_UNIT = 11
    LDS_UNIT = 12


class Modifier(IntFlag):
    """Changes of an operand; see program.h."""

    NEGATE = 1
    ABSOLUTE = 2
    SIGN_EXTEND = 4
    HIGH = 8
    HIGH_OF_HIGH = 16
    NEGATE_HIGH = 32


class Flag(IntFlag):
    """Properties of an instruction; see program.h."""

    CLAMP = 1 << 0
    DPP = 1 << 1
    SDWA = 1 << 2
    BOUND_CONTROL = 1 << 3
    SC0 = 1 << 4
    SC1 = 1 << 5
    NON_TEMPORAL = 1 << 6
    OFFSET_ENABLED = 1 << 7
    INDEX_ENABLED = 1 << 8
    TO_LDS = 1 << 9
    STRIDE_64 = 1 << 10
    PRESERVES_UNUSED = 1 << 11
    SIGN_EXTENDS_UNUSED = 1 << 12
    GDS = 1 << 13
    HAS_ADDRESS = 1 << 14
    HAS_BASE = 1 << 15
    DPP_ON_SECOND = 1 << 16
    GENERIC = 1 << 17
    LOCAL = 1 << 18
    READS_SCC = 1 << 19
    READS_VCC = 1 << 20
    READS_EXEC = 1 << 21
    READS_M0 = 1 << 22
    WRITES_SCC = 1 << 23
    WRITES_EXEC = 1 << 24
    WRITES_M0 = 1 << 25


FLAT_SCRATCH, XNACK_MASK, VCC, TRAP_TEMPORARIES, M0, EXEC, SCC = 102, 104, 106, 108, 124, 126, 128
ACCUMULATION = 256  # index of a0
LAST_VECTOR, LAST_SCALAR = 255, 101
