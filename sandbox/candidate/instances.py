"""The kernels that a plan names by an expression: instantiations of templates, and functions in namespaces.

The compiler itself finds the function of a name: behind the candidate's text comes a constant for each name, which
holds the function's address, and so makes the compiler instantiate it and print its symbol. The kernels of a plan's
fills and copies stand there, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from sandbox.candidate.header_names import is_ours
from sandbox.candidate.plan import CONTENTS, COPY, FILL, VALUE, Candidate, Launch
from sandbox.candidate.pp_tokens import is_directive, rows, scan

MAX_NAME = 300
STEP_ITEMS = 256  # work-items of a block that fills or copies
STEP_BYTES = 8  # of each of them
_PLAIN = re.compile(r"[A-Za-z_]\w{0,99}")
_NAME = re.compile(  # a word is taken whole: tried in all its parts, a long one would take for ever
    r"(?:::)?[A-Za-z_]\w*+(?:::[A-Za-z_]\w*+)*"
    r"(?:\s*<(?:[A-Za-z_]\w*+|\d[\w']*+|::|[<>,*&()+!~|^/%?-]|\s)*>(?:::[A-Za-z_]\w*+)*)?"
    r"(?P<parameters>\s*\((?:[A-Za-z_]\w*+|\d++|::|[<>,*&]|\s)*\))?"
)
_PARENTHESES, _ARGUMENTS = re.compile(r"\([^()]*\)"), re.compile("<[^<>]*>")
_PART = re.compile(r"[A-Za-z_]\w*")
_WORD = re.compile(r"(?<![\w.])(?<!::)[A-Za-z_]\w*")
_SYMBOL = re.compile(
    r"^\t\.protected\tks_kernel_\d+\b.*\n|^\t\.type\tks_kernel_\d+,@object\n|^\t\.section\t\.ks_names,.*\n"
    r"|^\t\.addrsig_sym ks_kernel_\d+\n|^\t\.globl\tks_kernel_\d+\n(?:^\t\.p2align\t.*\n)?"
    r"|^ks_kernel_(?P<number>\d+):.*\n\t\.quad\t(?P<symbol>\S+)\n\t\.size\tks_kernel_\d+, 8\n",
    re.M,
)
_SET = re.compile(rf"(?:{CONTENTS}|{VALUE})<&(?P<variable>.+)>", re.S)
# A host that sets a variable uses it: else the optimiser takes what a static one begins with for its value.
_HOST_USE = "__host__ inline const void* ks_host_{number}() {{ return __builtin_addressof({variable}); }}\n"
_SECTION = '__attribute__((device, used, section(".ks_names")))'
_STEPS: Mapping[str, str] = {
    FILL: """\
extern "C" __global__ __launch_bounds__(256) void ks_fill(
    unsigned char* to, unsigned long long value, long long bytes) {
    const long long at = (blockIdx.x * 256ll + threadIdx.x) * 8;
    if (at + 8 <= bytes) {
        *(unsigned long long*)(to + at) = value;
        return;
    }
    for (long long i = at; i < bytes; i++) to[i] = (unsigned char)(value >> 8 * (i - at));
}
""",
    COPY: """\
extern "C" __global__ __launch_bounds__(256) void ks_copy(
    unsigned char* to, const unsigned char* from, long long bytes) {
    const long long at = (blockIdx.x * 256ll + threadIdx.x) * 8;
    if (at + 8 <= bytes) {
        *(unsigned long long*)(to + at) = *(const unsigned long long*)(from + at);
        return;
    }
    for (long long i = at; i < bytes; i++) to[i] = from[i];
}
""",
    # A constant cannot be written, says the optimiser; it leaves volatile writes alone.
    CONTENTS: """template <auto* ks_variable>
__global__ __launch_bounds__(256) void ks_contents(const unsigned char* from, long long bytes) {
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < bytes && i < (long long)sizeof(*ks_variable);
         i += gridDim.x * 256ll)
        ((volatile unsigned char*)ks_variable)[i] = from[i];
}
""",
    VALUE: """template <unsigned long long ks_size, unsigned long long ks_align>
struct ks_bytes {
    alignas(ks_align) unsigned char at[ks_size];
};
template <auto* ks_variable>
__global__ void ks_value(ks_bytes<sizeof(*ks_variable), alignof(decltype(*ks_variable))> given) {
    for (unsigned long long i = 0; i < sizeof(*ks_variable); i++)
        ((volatile unsigned char*)ks_variable)[i] = given.at[i];
}
""",
}


def is_kernel_name(text: str) -> bool:
    """Tell whether this is a function's name: qualified, with template arguments, with the types of its parameters."""
    return len(text) <= MAX_NAME and bool(_NAME.fullmatch(text))


def bare(name: str) -> str:
    """Strip namespaces, template arguments and parameters from a kernel's name."""
    for inner in (_PARENTHESES, _ARGUMENTS):
        while (shorter := inner.sub("", name)) != name:
            name = shorter
    return name.strip().rpartition("::")[2]


def address(name: str) -> str:
    """Write the C++ expression for a kernel's address; the types of its parameters choose one of several functions."""
    match = _NAME.fullmatch(name)
    parameters = match["parameters"] if match else None
    if not parameters:
        return f"&{name}"
    return f"static_cast<void (*){parameters.strip()}>(&{name.removesuffix(parameters)})"


def names_of_the_judge(text: str) -> tuple[str, ...]:
    """List the names in a kernel's that only the judge may use."""
    return tuple(part for part in _PART.findall(text) if is_ours(part))


def is_plain(name: str) -> bool:
    """Tell whether a name has no qualification and no arguments."""
    return bool(_PLAIN.fullmatch(name))


def with_tunables(name: str, tunables: Mapping[str, int]) -> str:
    """Put the values of the tunables into a kernel's name."""
    if is_plain(name):
        return name

    def value(word: re.Match[str]) -> str:
        return str(tunables[word[0]]) if word[0] in tunables else word[0]

    return _WORD.sub(value, name)


def launches_with(launches: Iterable[Launch], tunables: Mapping[str, int]) -> tuple[Launch, ...]:
    """Put the values of the tunables into the names of the launches' kernels."""
    return tuple(replace(launch, kernel=with_tunables(launch.kernel, tunables)) for launch in launches)


def instantiated(candidate: Candidate, tunables: Mapping[str, int]) -> Candidate:
    """Return the candidate whose plan names each kernel as it is with these tunables."""
    launches = launches_with(candidate.plan.launches, tunables)
    if launches == candidate.plan.launches:
        return candidate
    return replace(candidate, plan=replace(candidate.plan, launches=launches))


def expressions(launches: Iterable[Launch]) -> tuple[str, ...]:
    """List the names that only the compiler can read, each once, in order."""
    return tuple(dict.fromkeys(launch.kernel for launch in launches if not is_plain(launch.kernel)))


def step_kernels(launches: Iterable[Launch]) -> str:
    """Write the kernels of fills and copies as far as these launches need them."""
    used = {launch.kernel.partition("<")[0] for launch in launches}
    return "".join(text for name, text in _STEPS.items() if name in used)


def appended(launches: Sequence[Launch], source: str, *, is_symbol: bool = False) -> str:
    """Write the text behind a candidate's own; empty where its plan needs none.

    With `is_symbol` the listing shows each name's symbol; without, the function is instantiated and no more.
    """
    lines = {launch.kernel: launch.line for launch in reversed(launches)}
    parts = list[str]()
    if steps := step_kernels(launches):
        parts.append(f'#line 1 "steps"\n{steps}')
    for number, name in enumerate(expressions(launches)):
        start = f'extern "C" {_SECTION} const void* const' if is_symbol else "__device__ const void* const"
        parts.append(f'#line {lines[name]} "{source}"\n{start} ks_kernel_{number} = (const void*){address(name)};\n')
        if set_by_host := _SET.fullmatch(name):
            parts.append(_HOST_USE.format(number=number, variable=set_by_host["variable"]))
    return "".join(["\n\n", *parts]) if parts else ""  # a candidate's last line may have no end, or splice the next


def read_symbols(listing: str, launches: Sequence[Launch]) -> tuple[str, dict[str, str]]:
    """Take the constants that `appended` put there out of a listing; return it and the symbol of each name."""
    names, symbols = expressions(launches), dict[str, str]()
    if not names:
        return listing, symbols

    def without(match: re.Match[str]) -> str:
        if match["number"] and int(match["number"]) < len(names):
            symbols[names[int(match["number"])]] = match["symbol"]
        return ""

    return _SYMBOL.sub(without, listing), symbols


def macros(source: str, tunables: Mapping[str, int]) -> dict[str, int]:
    """Select the tunables that are macros: all but those whose name the code declares as its own.

    `template <int BLOCK>` could not be compiled with BLOCK as a macro; such a tunable is a name of the plan alone, and
    reaches the code by the kernel's name and arguments. Where a directive asks for the name, it is a macro.
    """
    declared = _declared(source, frozenset(tunables)) if tunables else frozenset()
    return {name: value for name, value in tunables.items() if name not in declared}


@lru_cache(maxsize=8)  # a source is compiled for each choice of its tunables
def _declared(source: str, names: frozenset[str]) -> frozenset[str]:
    """Those of the names that the code declares and no directive asks for."""
    declared, directive_names, before = set[str](), set[str](), ""
    for row in rows(scan(source)):
        if is_directive(row):
            directive_names |= (
                set() if [t.text for t in row[1:2]] == ["pragma"] else {t.text for t in row if t.text in names}
            )
            continue
        for token in row:
            if token.kind == "name" and token.text in names and before:
                declared.add(token.text)
            before = token.text if token.kind == "name" and token.text not in _BEFORE_VALUES else ""
    return frozenset(declared - directive_names)


_BEFORE_VALUES = frozenset(
    re.findall(
        r"\w+",
        """
        return case else do goto throw sizeof alignof alignas new delete co_return and or not xor bitand bitor compl
        and_eq or_eq xor_eq not_eq constexpr if while __launch_bounds__
        """,
    )
)
