"""The same loop in OpenEvolve: N candidates from a model and an evaluator that cost nothing.

Run by `benchmarks.loop_rate --openevolve PYTHON` with the interpreter that has OpenEvolve 0.4.0 installed; it imports
nothing else. `PYTHON openevolve_loop.py N FOLDER SOURCE` evolves the file SOURCE and prints how many programs it holds.
"""

from __future__ import annotations

import itertools
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

EVALUATOR = """
import re
def evaluate(path):
    time_us = float(re.findall(r"// time_us = (.*)", open(path).read())[-1])
    return {"combined_score": 1.0 / time_us}
"""


def serve(source: str) -> ThreadingHTTPServer:
    """Serve an endpoint that answers every question at once with a new, slightly faster program."""
    numbers = itertools.count(1)

    class Model(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            number = next(numbers)
            text = f"```cpp\n// {number}\n// time_us = {1e6 / (1e3 + number)}\n{source}```\n"
            choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
            usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
            body = {"id": "x", "object": "chat.completion", "created": 0, "model": "stub", "choices": [choice]}
            data = json.dumps({**body, "usage": usage}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def main(candidates: int, folder: Path, source: str) -> int:
    """Evolve and print the count."""
    from openevolve import run_evolution  # type: ignore[import-not-found]
    from openevolve.config import Config, LLMModelConfig  # type: ignore[import-not-found]

    server = serve(source)
    model = LLMModelConfig(
        name="stub", api_base=f"http://127.0.0.1:{server.server_address[1]}/v1", api_key="none", weight=1.0
    )
    config = Config(max_iterations=candidates, checkpoint_interval=10**9, language="cpp", diff_based_evolution=False)
    config.llm.models = config.llm.evaluator_models = [model]
    config.evaluator.parallel_evaluations, config.evaluator.cascade_evaluation = 2, False
    (folder / "evaluator.py").write_text(EVALUATOR)
    (folder / "first.cpp").write_text(f"// time_us = 1000\n{source}")
    evolution = run_evolution(
        str(folder / "first.cpp"),
        str(folder / "evaluator.py"),
        config,
        iterations=candidates,
        output_dir=str(folder / "out"),
    )
    server.shutdown()
    print(json.dumps({"best": evolution.best_score}))
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]).read_text()))
