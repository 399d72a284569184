"""Make the transpose kernel faster without a GPU or a key: `.venv/bin/python examples/optimise.py`."""

from kernel_scientist import AttemptMade, NewBest, RunEvent, run


def show(event: RunEvent) -> None:
    """Print the events that tell most."""
    if isinstance(event, AttemptMade | NewBest):
        print(event)


result = run("transpose", author="playbook", on="lab", generations=1, picks=2, tunings=4, progress=show)
best = result.best
assert best is not None  # the seed at least
print(f"{best.geomean_us:.2f} us ({best.time_kind}), {best.speedup_over_seed:.2f} times the best seed: {best.path}")
