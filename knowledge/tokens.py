"""Words for lexical search over kernel literature: identifiers whole and in parts, and one word for synonyms."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from functools import lru_cache

TOKENISER = 2  # part of every derived index: raise it when tokens change or weigh otherwise

_WORD = re.compile(r"\w+")
_PIECE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\dA-Z_]+|\d+")
_VOWEL = re.compile(r"[aeiouy]")
_SHAPE = re.compile(r"\d+x\d+(?:x\d+)?")
_STOP = frozenset(
    """
    a an and are as at be been but by can do does for from get has have how i if in into is it its may me my not of on
    one or should so such than that the their them then there these they this those to was we what when where which
    while who why will with would you your
    """.split()  # noqa: SIM905
)

# Phrases that mean one thing, compared word by word after stemming; the first is the name of the concept.
_SYNONYMS = (
    ("lds", "shared memory", "local data share", "smem", "shared mem", "on chip memory"),
    ("wavefront", "wave", "warp", "wave64", "subgroup"),
    ("mfma", "tensor core", "matrix core", "matrix instruction", "mma", "wmma", "matrix unit"),
    ("workgroup", "work group", "thread block", "threadblock", "cta", "block"),
    ("compute unit", "cu", "sm", "streaming multiprocessor"),
    ("xcd", "chiplet", "accelerator die"),
    ("work item", "workitem", "thread", "lane"),
    ("vgpr", "vector register", "register file", "agpr"),
    ("scratch", "spill", "local memory", "private memory"),
    ("barrier", "syncthreads", "synchronise", "synchronize"),
    ("infinity cache", "mall", "last level cache", "l3"),
    ("hbm", "hbm3", "dram", "device memory", "vram"),
    ("shuffle", "shfl", "dpp", "bpermute", "cross lane", "crosslane"),
    ("fp8", "e4m3", "e4m3fnuz", "float8", "f8", "8 bit float"),
    ("bf8", "e5m2", "e5m2fnuz"),
    ("bf16", "bfloat16", "hip_bfloat16"),
    ("f16", "fp16", "float16", "half precision"),
    ("f32", "fp32", "float32", "single precision"),
    ("f64", "fp64", "float64", "double precision"),
    ("occupancy", "waves per simd", "waves per eu", "resident wave"),
    ("double buffer", "ping pong", "prefetch", "software pipeline", "pipeline"),
    ("coalesce", "contiguous access", "coalescing"),
    ("roofline", "speed of light", "ridge point"),
    ("convert", "conversion", "cast", "cvt"),
    ("gemm", "matmul", "matrix multiply", "matrix multiplication", "matrix product"),
    ("autotune", "tune", "tunable", "tuning", "hyperparameter"),
    ("builtin", "intrinsic"),
    ("split k", "splitk", "stream k"),
    ("epilogue", "write back", "output store"),
    ("reduction", "reduce"),
    ("subnormal", "denormal"),
    ("memory fence", "threadfence", "fence", "s_waitcnt", "waitcnt"),
)


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Fold plural and verb endings of a lower-case word, so that `padding` meets `pad` and `caches` meets `cache`."""
    if len(word) < 4 or not word.isascii() or not word.isalpha():
        return word
    if word.endswith("ies"):
        word = word[:-3] + "y"
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed"):
        if word.endswith(ending) and len(word) > len(ending) + 2 and _VOWEL.search(word[: -len(ending)]):
            word = word[: -len(ending)]
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
        word = word[:-1]
    return word[:-1] if len(word) > 3 and word.endswith("e") else word


def _tables() -> tuple[dict[str, list[str]], dict[tuple[str, ...], str]]:
    """Concepts by word, and by phrase of two or three words."""
    words, phrases = defaultdict[str, list[str]](list), dict[tuple[str, ...], str]()
    for group in _SYNONYMS:
        for phrase in group:
            found, concept = tuple(stem(part) for part in re.split(r"[ _]+", phrase)), "=" + group[0].replace(" ", "-")
            if len(found) == 1:
                words[found[0]] = [concept]
            else:
                phrases[found] = concept
    return dict(words), phrases


CONCEPTS, PHRASES = _tables()
_SPACED = str.maketrans({chr(code): " " for code in range(128) if not (chr(code).isalnum() or chr(code) == "_")})


def split(text: str) -> list[str]:
    """The words of a text in their order, as they stand."""
    if text.isascii():
        return text.translate(_SPACED).split()
    return _WORD.findall(unicodedata.normalize("NFKC", text))


def words(text: str) -> list[str]:
    """Plain stemmed words in their order: identifiers are cut at underscores, stop words are left out."""
    return [part for word in split(text) for part in parts(word)]


def parts(word: str) -> tuple[str, ...]:
    """A word's stem, or those of the parts between underscores; nothing for a stop word."""
    return tuple(stem(part) for part in word.lower().split("_") if part and part not in _STOP)


def identifier(word: str) -> tuple[str, ...]:
    """The whole and the inner parts of an identifier; nothing for a plain word."""
    bare = word.strip("_")
    if bare.isalpha() and (bare.islower() or bare.istitle() or bare.isupper()):
        return ()
    found = [bare.lower()] if "_" in bare else []
    found += _SHAPE.findall(bare.lower())
    for part in bare.split("_"):
        pieces = [piece.lower() for piece in _PIECE.findall(part)]
        if len(pieces) > 1:
            found += [stem(piece) for piece in pieces if len(piece) > 1]
    return tuple(found)
