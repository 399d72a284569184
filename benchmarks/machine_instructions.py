"""Processor time of the machine's interpreter for one instruction of each class, all checks on, 64 lanes a wave.

A program that holds one instruction many times runs on many states of the registers; the same states under a program
of one instruction are taken off. Every class and the anchor, a plain v_add_f32, are timed in turns within one run, and
the least of all turns counts: a ratio to the anchor travels between machines, a time does not.
"""

from __future__ import annotations

import os
import re
import struct
import sys
import tempfile
from pathlib import Path

import numpy as np

from app.settings import load_settings
from benchmarks.figure import Figure, report
from sandbox.amdgcn.toolchain import find_toolchain
from sandbox.machine.decoded_program import decode_listing
from sandbox.machine.executor import executor

REPEATS = 1000  # of the instruction in its program
STATES = 40
TURNS = 5
ANCHOR = "v_add_f32"
FIRST = "\tds_write_b128 v126, v[0:3]\n\ts_waitcnt lgkmcnt(0)\n"  # LDS that is loaded has been written
EXEC, VCC, VECTORS, SCALARS = 126, 106, 128, 1024  # registers as interpreter/steps.h counts them
CLASSES = {
    "move": "v_mov_b32_e32 v0, v1",
    ANCHOR: "v_add_f32_e32 v0, v1, v2",
    "fma": "v_fma_f32 v0, v1, v2, v3",
    "negated fma": "v_fma_f32 v0, -v1, |v2|, v3",
    "packed f32": "v_pk_fma_f32 v[0:1], v[2:3], v[4:5], v[6:7]",
    "packed f16": "v_pk_fma_f16 v0, v1, v2, v3",
    "half": "v_fma_f16 v0, v1, v2, v3",
    "double": "v_fma_f64 v[0:1], v[2:3], v[4:5], v[6:7]",
    "integer": "v_add_u32_e32 v0, v1, v2",
    "integer multiply": "v_mul_lo_u32 v0, v1, v2",
    "64-bit multiply-add": "v_mad_u64_u32 v[0:1], s[4:5], v2, v3, v[4:5]",
    "64-bit address": "v_lshl_add_u64 v[0:1], v[2:3], 2, v[4:5]",
    "carry": "v_addc_co_u32_e32 v0, vcc, v1, v2, vcc",
    "bits": "v_and_or_b32 v0, v1, v2, v3",
    "byte permute": "v_perm_b32 v0, v1, v2, v3",
    "compare": "v_cmp_lt_f32_e32 vcc, v1, v2",
    "select": "v_cndmask_b32_e32 v0, v1, v2, vcc",
    "exponential": "v_exp_f32_e32 v0, v1",
    "reciprocal": "v_rcp_f32_e32 v0, v1",
    "convert to f16": "v_cvt_f16_f32_e32 v0, v1",
    "convert to fp8": "v_cvt_pk_fp8_f32 v0, v1, v2",
    "convert from fp8": "v_cvt_f32_fp8_sdwa v0, v1 src0_sel:BYTE_1",
    "DPP": "v_add_f32_dpp v0, v1, v2 row_shr:1 row_mask:0xf bank_mask:0xf",
    "SDWA": "v_add_u32_sdwa v0, v1, v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1 src1_sel:BYTE_0",
    "dot product": "v_dot4_i32_i8 v0, v1, v2, v3",
    "read a lane": "v_readlane_b32 s4, v1, 5",
    "read the first lane": "v_readfirstlane_b32 s4, v1",
    "shuffle": "ds_bpermute_b32 v0, v127, v1",
    "LDS load and wait": "ds_read_b32 v0, v127\n\ts_waitcnt lgkmcnt(0)",
    "wide LDS load and wait": "ds_read_b128 v[0:3], v126\n\ts_waitcnt lgkmcnt(0)",
    "wide LDS store": "ds_write_b128 v126, v[0:3]",
    "accumulation register": "v_accvgpr_write_b32 a0, v1",
    "scalar": "s_add_u32 s4, s5, s6",
    "scalar 64-bit": "s_and_b64 s[4:5], s[6:7], s[8:9]",
    "mfma 4x4x4 f16": "v_mfma_f32_4x4x4_16b_f16 v[0:3], v[4:5], v[6:7], v[0:3]",
    "mfma 16x16x4 f32": "v_mfma_f32_16x16x4_f32 v[0:3], v4, v5, v[0:3]",
    "mfma 16x16x16 f16": "v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], v[0:3]",
    "mfma 16x16x32 fp8": "v_mfma_f32_16x16x32_fp8_fp8 v[0:3], v[4:5], v[6:7], v[0:3]",
    "mfma 32x32x8 bf16": "v_mfma_f32_32x32x8_bf16 v[0:15], v[16:17], v[18:19], v[0:15]",
    "mfma 32x32x16 fp8": "v_mfma_f32_32x32x16_fp8_fp8 v[0:15], v[16:17], v[18:19], v[0:15]",
    "mfma 32x32x16 i8": "v_mfma_i32_32x32x16_i8 v[0:15], v[16:17], v[18:19], v[0:15]",
    "mfma 16x16x4 f64": "v_mfma_f64_16x16x4_f64 v[0:7], v[8:9], v[10:11], v[0:7]",
    "smfmac 32x32x16 f16": "v_smfmac_f32_32x32x16_f16 v[0:15], v[16:17], v[18:21], v22",
}


def states() -> bytes:
    """Make registers of all states: floats near one, v126 and v127 with addresses, and scalars, all of them defined."""
    lanes = np.arange(64, dtype="<u4")
    vectors = [(1 + (lanes + register) / 1024).astype("<f4").tobytes() for register in range(VECTORS - 2)]
    vectors += [(lanes * 16).tobytes(), (lanes * 20 % 256).tobytes()]
    scalars = [*range(4, 12), VCC, VCC + 1, EXEC, EXEC + 1]
    codes = [*range(VECTORS), *(SCALARS + s for s in scalars)]
    head = struct.pack(f"<{3 + len(codes) + 1}Q", STATES, len(codes), 1, *codes, SCALARS + EXEC)
    values = [0x12345678] * (len(scalars) - 2) + [0xFFFFFFFF] * 2
    state = b"".join(values + b"\xff" * 256 for values in vectors)
    return head + (state + b"".join(struct.pack("<II", value, 0xFFFFFFFF) for value in values)) * STATES


def spent(tool: Path, image: Path, registers: Path, results: Path) -> float:
    """Measure one run's processor time in seconds; a run that fails, or reports a finding, ends the benchmark."""
    child = os.posix_spawn(tool, [str(tool), "step", str(image), str(registers), str(results)], dict(os.environ))
    _, status, usage = os.wait4(child, 0)
    if status or any(struct.unpack_from("<I", results.read_bytes(), 12 * (i + 1) - 4)[0] for i in range(STATES)):
        sys.exit(f"the interpreter does not run {image.stem} (status {status})")
    return usage.ru_utime + usage.ru_stime


def measure(tool: Path, folder: Path) -> dict[str, float]:
    """Measure the nanoseconds of one instruction of each class."""
    registers, results = folder / "states", folder / "results"
    registers.write_bytes(states())
    images: dict[str, tuple[Path, Path]] = {}
    for name, text in CLASSES.items():
        pair = folder / f"{_file(name)}.one", folder / f"{_file(name)}.many"
        for path, count in zip(pair, (1, REPEATS), strict=True):
            decode_listing(FIRST + f"\t{text}\n" * count).write_image(path)
        images[name] = pair
    least = {name: [float("inf")] * 2 for name in images}
    for _ in range(TURNS):
        for name, pair in images.items():
            for i, image in enumerate(pair):
                least[name][i] = min(least[name][i], spent(tool, image, registers, results))
    return {name: (many - single) / (STATES * (REPEATS - 1)) * 1e9 for name, (single, many) in least.items()}


def _file(name: str) -> str:
    return re.sub(r"\W+", "_", name).lower()


def figures(times: dict[str, float]) -> list[Figure]:
    """Compare every class with the plain addition."""
    return [
        Figure(f"machine_instructions.{_file(name)}", time, "ns", ANCHOR, times[ANCHOR])
        for name, time in times.items()
        if name != ANCHOR
    ]


def main() -> int:
    """Time every class and report."""
    cache = load_settings().cache_folder
    tool = executor(find_toolchain(cache / "toolchain"), cache, print)
    with tempfile.TemporaryDirectory() as folder:
        return report("The interpreter's time for one instruction of a wave", figures(measure(tool, Path(folder))))


if __name__ == "__main__":
    sys.exit(main())
