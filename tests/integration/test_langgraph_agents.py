"""A scripted agent in a chat of `langgraph dev`, from a kernel of its own to files; and a run that is cancelled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langgraph_sdk.client import SyncLangGraphClient

from tests.integration.test_cli_optimise import INPUTS, KERNEL, REFERENCE
from tests.integration.test_langgraph_server import ASKED, client, server, watched, within

pytestmark = pytest.mark.long
_FIXTURES = (client, server, watched)


def test_an_agent_goes_from_its_kernel_to_exported_files_in_a_chat(client: SyncLangGraphClient, tmp_path: Path) -> None:
    thread = client.threads.create()["thread_id"]

    def say(text: str, **more: Any) -> Any:
        message = {"role": "user", "content": text}
        return client.runs.wait(thread, "scientist", input={"messages": [message], **more})

    asked = say(f"make this faster:\n```hip\n{KERNEL}```", author="playbook", on="lab")
    assert "the size rows" in asked["messages"][-1]["content"] and not asked["run_id"]
    asked = say(f"It computes\n```python\n{REFERENCE}```")
    assert "the size rows" in asked["messages"][-1]["content"]
    final = say(f"{' '.join(INPUTS)} rows=256 cols=512 grid=ceil_div(rows * cols, 256) block=256 generations=1 picks=1")
    assert final["headline"] in final["messages"][-1]["content"]
    for name, text in final["files"].items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert "bias_relu_launch(" in (tmp_path / "bias_relu.h").read_text()
    assert final["main_file"] == "bias_relu.hip" and final["best_us"] > 0 and final["gain"] >= 1
    page = f"/scientist/api/runs/{final['run_id']}/candidates/{final['best_id']}/source"
    assert client.http.client.get(page).json() == final["best_source"]


def test_a_cancelled_run_is_paused_and_goes_on_from_where_it_was(client: SyncLangGraphClient) -> None:
    thread = client.threads.create()["thread_id"]
    request = {**ASKED, "seed": 8, "limits": {"generations": 2, "picks": 1, "tunings": 1}}
    run = client.runs.create(thread, "scientist", input=request)
    within(60, lambda: client.threads.get_state(thread)["values"].get("generation") == 1)
    client.runs.cancel(thread, run["run_id"], wait=True)
    run_id = client.threads.get_state(thread)["values"]["run_id"]  # type: ignore[index,call-overload]
    told = client.http.client.get(f"/scientist/api/runs/{run_id}").json()["head"]
    assert told["status"] == "paused", told
    final: Any = client.runs.wait(thread, "scientist", input=None)
    assert (final["run_id"], final["generation"]) == (run_id, 2)
