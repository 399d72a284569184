"""Arrays as a safetensors file: a header in JSON with types and places, then the bytes. Narrow floats are kept."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping

import numpy as np

from tasks.task import Array

NAMES = {
    "f64": "F64",
    "f32": "F32",
    "f16": "F16",
    "bf16": "BF16",
    "e4m3fn": "F8_E4M3",
    "e5m2": "F8_E5M2",
    "i64": "I64",
    "i32": "I32",
    "i16": "I16",
    "i8": "I8",
    "u8": "U8",
    "bool": "BOOL",
}


def safetensors_file(arrays: Mapping[str, tuple[str, Array]]) -> bytes:
    """Give the file's bytes; arrays come with one of the names in `NAMES`."""
    header, bodies, offset = dict[str, object](), list[bytes](), 0
    for name, (dtype, array) in arrays.items():
        body = np.ascontiguousarray(array).tobytes()
        header[name] = {"dtype": NAMES[dtype], "shape": list(array.shape), "data_offsets": [offset, offset + len(body)]}
        bodies.append(body)
        offset += len(body)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # the tensors begin at a multiple of 8
    return b"".join([struct.pack("<Q", len(text)), text, *bodies])
