"""An `eval.py` of GPU MODE's process protocol, written from its description: `eval.py MODE CASES`.

It stands in a folder with `submission.py` (`custom_kernel`) and `reference.py` (`generate_input`,
`check_implementation`). Modes are test, benchmark and leaderboard. It answers to the descriptor POPCORN_FD, in lines
`key: value`, times in nanoseconds.
"""

from __future__ import annotations

import math
import os
import sys
from pathlib import Path
from typing import Any

PASSED, NO_PIPE, FAILED, BAD_CASES = 0, 111, 112, 113
MOST_REPEATS, ENOUGH_ERROR = 100, 0.001


def cases_of(path: str) -> list[dict[str, int]]:
    """One case a line, `k: v; k: v`."""
    lines = [line for line in Path(path).read_text(encoding="utf-8").splitlines() if line.strip()]
    return [{k.strip(): int(v) for k, v in (pair.split(":") for pair in line.split(";"))} for line in lines]


def cloned(data: Any) -> Any:
    return tuple(cloned(part) for part in data) if isinstance(data, tuple) else data.clone()


def checked(case: dict[str, int]) -> str:
    """Empty where the submission is right on fresh inputs, else what is wrong."""
    import torch
    from reference import check_implementation, generate_input
    from submission import custom_kernel

    data = generate_input(**case)
    copy = cloned(data)
    torch.cuda.synchronize()
    output = custom_kernel(data)
    torch.cuda.synchronize()
    good, message = check_implementation(copy, output)
    return "" if good else str(message) or "mismatch"


def timed(case: dict[str, int], is_ranked: bool) -> tuple[list[float], str]:
    """Nanoseconds of each call; in a ranked run with new inputs, and a check, each time."""
    import torch
    from reference import generate_input
    from submission import custom_kernel

    wrong = checked(case)
    times = list[float]()
    while not wrong and len(times) < MOST_REPEATS:
        if is_ranked and "seed" in case:
            case = {**case, "seed": case["seed"] + 13}
            wrong = checked(case)
        data = generate_input(**case)
        torch.cuda.synchronize()
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        custom_kernel(data)
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) * 1e6)
        mean = math.fsum(times) / len(times)
        error = math.sqrt(math.fsum((t - mean) ** 2 for t in times) / max(1, len(times) - 1) / len(times))
        if len(times) > 2 and error / mean < ENOUGH_ERROR:
            break
    return times, wrong


def main() -> int:
    if "POPCORN_FD" not in os.environ:
        return NO_PIPE
    mode, path = sys.argv[1:3]
    if mode not in ("test", "benchmark", "leaderboard"):
        return 2
    try:
        cases = cases_of(path)
    except ValueError:
        return BAD_CASES
    is_right, word = True, "test" if mode == "test" else "benchmark"
    with os.fdopen(int(os.environ["POPCORN_FD"]), "w", encoding="utf-8") as pipe:
        print(f"{word}-count: {len(cases)}", file=pipe)
        for number, case in enumerate(cases):
            head = f"{word}.{number}"
            print(f"{head}.spec: {'; '.join(f'{k}: {v}' for k, v in case.items())}", file=pipe)
            times, wrong = ([], checked(case)) if mode == "test" else timed(case, mode == "leaderboard")
            is_right = is_right and not wrong
            if times and not wrong:
                print(f"{head}.runs: {len(times)}\n{head}.mean: {math.fsum(times) / len(times)}", file=pipe)
                print(f"{head}.best: {min(times)}\n{head}.worst: {max(times)}", file=pipe)
            print(f"{head}.status: {'fail' if wrong else 'pass'}", file=pipe)
            if wrong:
                print(f"{head}.error: {wrong}", file=pipe)
        print(f"check: {'pass' if is_right else 'fail'}", file=pipe)
    return PASSED if is_right else FAILED


if __name__ == "__main__":
    sys.exit(main())
