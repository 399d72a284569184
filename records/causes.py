"""What a kernel waits for, in words: the resources that bind, and the causes of stalls beside them."""

from __future__ import annotations

from collections.abc import Mapping

RESOURCES: Mapping[str, str] = {
    "hbm": "the memory: move fewer bytes, or the same in whole cache lines",
    "mall": "the Infinity Cache: reuse data in L2, in LDS or in registers",
    "l2": "the L2 cache: coalesce accesses, keep what is read again in LDS",
    "l1": "the vector L1 cache: load wider values, so that fewer lines are asked for",
    "lds": "the LDS: read wider values, pad or swizzle against conflicts of banks, keep what is reused in registers",
    "mfma": "the matrix cores: the arithmetic itself; take a cheaper type or form of instruction",
    "valu": "the vector ALUs: fewer or cheaper instructions, packed ones, matrix instructions",
    "atomics": "atomic operations on one line, which follow one another: reduce in the block first, or spread them",
    "latency": "latency: more waves, more independent work between a load and its use",
    "launch": "the launch of kernels: fuse them, or give each more work",
}

STALLS: Mapping[str, str] = {  # beside the resources that are causes, too
    "issue": "the issue of instructions: unroll, and use wider ones",
    "vmcnt": "waits for loads from global memory: load earlier, load more at once, or have more waves",
    "lgkmcnt": "waits for LDS or for scalar loads: read ahead of the use, and wait for several at once",
    "dependency": "an instruction waits for the result of the one before it: put independent work between them",
    "barrier": "waves wait for the others of their workgroup: fewer barriers, or more even work between them",
    "memory": "the bandwidth of caches or HBM: move fewer bytes, or reuse them nearer",
    "tail": "the last workgroups run on few units: smaller workgroups, or a grid that divides evenly",
}
