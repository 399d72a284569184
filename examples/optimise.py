"""Make a softmax kernel faster without a GPU or a key: `.venv/bin/python examples/optimise.py`."""

from pathlib import Path

from kernel_scientist import AttemptMade, NewBest, RunEvent, run


def show(event: RunEvent) -> None:
    """Print the events that tell most."""
    if isinstance(event, AttemptMade | NewBest):
        print(event)


KERNEL = Path(__file__).parent / "block_softmax.hip"
result = run("row_softmax", starts=KERNEL, seeds=False, author="playbook", on="lab", generations=1, progress=show)
print(result)
