"""Fuzzes the machine: listings with mutated instructions are decoded and executed, and nothing may crash or hang.

A mutant is refused by the decoder, or it runs to a result within its deadline, whatever it computes. Seeds of crashes
are printed; `--seconds` of processor time bounds a run, `--seed` chooses where it begins.

    python -m benchmarks.machine_fuzz --seconds 600                  mutates one listing of its own
    python -m benchmarks.machine_fuzz --seconds 600 --listings *.s   and these, of any kernels
"""

from __future__ import annotations

import argparse
import json
import random
import re
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from app.settings import load_settings
from records.errors import LabError, NoAnswer, PlanError
from sandbox.amdgcn.compiler import Compiler
from sandbox.amdgcn.toolchain import find_toolchain
from sandbox.candidate.arguments import BufferArg, ResolvedArg, ScalarArg, StructArg
from sandbox.candidate.plan import Candidate, Launch, Plan
from sandbox.candidate.resolve import ResolvedLaunch, ResolvedPlan
from sandbox.lab.cost.clock import Residency, TimelineRequest, needed_clock
from sandbox.lab.cost.neighbours import NONE
from sandbox.lab.lab import Buffer, ExecutionRequest
from sandbox.lab.lab_program import LabProgram
from sandbox.lab.machine_lab import MachineLab
from sandbox.machine.instruction_set import instruction_table
from sandbox.target import load_target

KERNEL = Path(__file__).parent / "kernels" / "fuzz_base.hip"
OPERANDS = ("v255", "s[100:101]", "exec", "vcc", "m0", "0x80000000", "-1", "a[252:255]", "scc")
CLOCK = needed_clock(load_target("mi300x"))
DEADLINE_S = 0.3
LATE_S = 5.0  # that decoding one mutant may take
MOST_CHANGES = 6
_SYMBOL = re.compile(r"^\s*\.amdhsa_kernel\s+(\S+)", re.M)


@dataclass(frozen=True)
class Mutant:
    """One listing, and the number that it was drawn by."""

    seed: int
    text: str


def mutated(lines: Sequence[str], names: Sequence[str], seed: int) -> Mutant:
    """Change a few instructions of a listing: other mnemonics, operands, numbers, order, or none of them left."""
    rng, text = random.Random(seed), list(lines)
    lines_of_code = [i for i, line in enumerate(text) if line.startswith("\t") and line[1:2].isalpha()]
    for _ in range(rng.randint(1, MOST_CHANGES)):
        line_index = rng.choice(lines_of_code)
        other = rng.choice(lines_of_code)
        words = text[line_index].split()
        match rng.randrange(7):
            case 0:
                text[line_index] = "\t" + " ".join([rng.choice(names), *words[1:]])
            case 1:
                text[line_index] = "\t" + " ".join([*words[:1], *text[other].split()[1:]])
            case 2:
                text[line_index], text[other] = text[other], text[line_index]
            case 3:
                text[line_index] = ""
            case 4:
                text[line_index] = text[other]
            case 5:
                text[line_index] = "".join(str(rng.randrange(300)) if c.isdigit() else c for c in text[line_index])
            case _:
                text[line_index] = "\t" + " ".join([*words[:-1], rng.choice(OPERANDS)])
    return Mutant(seed, "\n".join(text))


@dataclass(frozen=True)
class Base:
    """A listing that is mutated: its lines, and the symbol of its first kernel."""

    lines: tuple[str, ...]
    symbol: str

    @staticmethod
    def of(listing: str) -> Base:
        """Find the kernel in a listing; LabError where there is none."""
        symbol = _SYMBOL.search(listing)
        if not symbol:
            raise LabError("a listing to mutate needs a kernel with .amdhsa_kernel")
        return Base(tuple(listing.split("\n")), symbol[1])


def own_listing(compiler: Compiler) -> str:
    """Compile the kernel of these benchmarks."""
    source = KERNEL.read_text(encoding="utf-8")
    plan = Plan((Launch("fuzzed", ("1",), ("1",), "0", ("a",) * 3, 1),))
    return compiler.compile(Candidate("fuzz", source, plan), {}, is_assembled=False).listing


def arguments(program: LabProgram) -> tuple[ResolvedArg, ...]:
    """Give pointers the buffers in turn, and numbers the small value that fills their bytes."""
    values, names = list[ResolvedArg](), iter("xyw" * 400)
    for parameter in program.layouts["fuzzed"].explicit:
        dtype = {1: "i8", 2: "i16", 4: "i32", 8: "i64"}.get(parameter.size)
        scalar = ScalarArg(dtype, 64) if dtype else StructArg((), parameter.size)
        values.append(BufferArg(next(names)) if parameter.buffer else scalar)
    return tuple(values)


def outcome(lab: MachineLab, mutant: Mutant, symbol: str) -> str:
    """Name what became of a mutant: refused, executed, found at fault, or a failure of ours."""
    begun = time.process_time()
    program = lab.program(mutant.text, {"fuzzed": symbol}, "candidate.hip")
    if time.process_time() - begun > LATE_S:
        return "slow to decode"
    if not isinstance(program, LabProgram):
        return "refused"
    values = np.arange(65536, dtype=np.float32)
    buffers = [Buffer("x", values, "input"), Buffer("y", values * 0, "output"), Buffer("w", values * 0, "workspace")]
    launch = ResolvedLaunch("fuzzed", (2, 1, 1), (128, 1, 1), 1024, arguments(program))
    request = ExecutionRequest(program, ResolvedPlan((launch,), {}), buffers, DEADLINE_S)
    if mutant.seed % 2:  # half of them are counted, and walked through by a timeline
        timed = TimelineRequest(CLOCK, (Residency(4, 8, 2, 1),), ((1, NONE, NONE, 0, 1),))
        request = replace(request, count=True, timeline=timed)
    try:
        execution = lab.execute(request)
    except (LabError, PlanError):
        return "refused by the interpreter"
    except NoAnswer:
        return "crashed"
    return "at fault" if execution.findings else "executed"


def main() -> None:
    """Fuzz for the seconds that were asked for and print one line of figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--listings", type=Path, nargs="*", default=[])
    options = parser.parse_args()
    cache = load_settings().cache_folder
    toolchain, target = find_toolchain(cache / "toolchain"), load_target("mi300x")
    lab = MachineLab(toolchain, cache / "kernels", target, 1)
    texts = [own_listing(Compiler(toolchain, cache / "kernels", target))]
    texts += [path.read_text(encoding="utf-8") for path in options.listings]
    print(json.dumps(fuzz(lab, [Base.of(text) for text in texts], options.seconds, options.seed)))


def fuzz(lab: MachineLab, bases: Sequence[Base], seconds: float, first: int) -> dict[str, object]:
    """Mutate the bases in turn for these seconds of processor time; figures, and the seeds of what went wrong."""
    names, counts, bad, number = list(instruction_table()), Counter[str](), list[int](), first
    while time.process_time() + lab.cpu_s < seconds:
        base = bases[number % len(bases)]
        kind = outcome(lab, mutated(base.lines, names, number), base.symbol)
        counts[kind] += 1
        bad += [number] if kind in ("crashed", "slow to decode") else []
        number += 1
    return {"mutants": number - first, **counts, "bad_seeds": bad}


if __name__ == "__main__":
    main()
