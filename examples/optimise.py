"""Make the softmax kernel faster without a GPU or a key: `.venv/bin/python examples/optimise.py`."""

from pathlib import Path

from app.run_request import RunRequest
from app.session import open_session
from app.settings import Settings
from graph import build_graph

asked = RunRequest("row_softmax", author="playbook", limits={"generations": 2})

with open_session(Settings(runs_folder=Path("runs")), asked) as session:
    graph = build_graph().compile()  # give a checkpointer to resume later, or call session.drive(print)
    for event in graph.stream({"run_id": session.run.id}, context=session.context, stream_mode="custom"):
        if event["event"] in ("generation", "attempt", "best"):
            print({name: value for name, value in event.items() if value not in (None, "")})
    best = session.conclude().best
    assert best is not None  # the seed at least
    print(f"{best.geomean_us:.2f} us ({best.time_kind}), {best.speedup_over_seed:.2f} times the best seed: {best.path}")
