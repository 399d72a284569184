"""What the candidates of a made-up run are about."""

from __future__ import annotations

CASES = (("rows=8192,cols=1024", 12.66), ("rows=8192,cols=4096", 50.65), ("rows=2048,cols=16384", 50.65))
IDEAS = (
    ("Keep the row in registers", "Read x once; the second pass uses what is already in registers.", "K1"),
    ("Vectorise loads to 16 bytes", "dwordx4 loads where the row's start is aligned, a scalar head otherwise.", "V16"),
    ("Two rows a block", "Hide latency of the reduction by interleaving a second row.", "B128"),
    ("Split the reduction over waves", "Reduce in a wave first, then over LDS once.", "S1"),
    ("Online maximum and sum", "One pass keeps maximum and rescaled sum together.", "L1"),
    ("Order blocks by XCD", "Neighbouring rows share an L2.", "G1"),
)
STOP = "the budget of 2000 candidates is used up"
FAULTS = (
    (
        "out_of_bounds",
        "B.3",
        "execute",
        "the load reads element {n} of x, which has {m}; guard the tail with `col < cols`",
    ),
    (
        "race",
        "C.1",
        "execute",
        "lanes 0 and 64 write LDS word {n} between two barriers; add __syncthreads() after the loop",
    ),
    (
        "wrong_result",
        "C.4",
        "correct",
        "the error is {n} times the baseline's own, {m} is allowed; accumulate in float32",
    ),
    ("compile_error", "A.1", "compile", "use of undeclared identifier 'rowMax{n}'"),
    ("over_limit", "B.4", "compile", "the kernel needs {n} bytes of LDS, 65536 is the limit; use smaller tiles"),
)
LITERATURE = (
    {"title": "CDNA3 memory hierarchy", "section": "Infinity Cache", "source": "CDNA3 white paper, section 4"},
    {"title": "Softmax", "section": "Online normaliser", "source": "arXiv 1805.02867"},
    {"title": "Reductions", "section": "Across a wave", "source": "CDNA3 ISA guide, DPP"},
)
