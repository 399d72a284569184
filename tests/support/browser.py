"""Headless Chromium, driven over its own debugging pipe: no driver program, no port, no package."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from app.chromium import browser_path

FLAGS = (
    "--headless=new",
    "--disable-gpu",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-quic",
    "--disable-sync",
    "--hide-scrollbars",
    "--mute-audio",
    "--remote-debugging-pipe",
)
PLACED = (  # the pipe is on descriptors 3 and 4 of the browser
    "import fcntl, os, sys; down, up = (fcntl.fcntl(int(n), fcntl.F_DUPFD, 10) for n in sys.argv[1:3]); "
    "os.dup2(down, 3); os.dup2(up, 4); os.execv(sys.argv[3], sys.argv[3:])"
)
PATIENCE_S = 90.0  # for a machine that is busy: no time is asserted
NAMED_KEYS = {
    **{"Enter": ("\r", 13), "Escape": ("", 27), "Tab": ("", 9), "End": ("", 35), "Home": ("", 36)},
    **{"ArrowLeft": ("", 37), "ArrowUp": ("", 38), "ArrowRight": ("", 39), "ArrowDown": ("", 40)},
}


class Browser:
    """One browser with one page. Use it in a `with` block."""

    def __init__(self, width: int = 1280, height: int = 800, scheme: str = "light") -> None:
        self._folder = tempfile.mkdtemp(prefix="ks-browser-")
        down, self._send = os.pipe()
        self._receive, up = os.pipe()
        path = browser_path()
        assert path is not None
        command = [path, *FLAGS, "--no-sandbox", f"--user-data-dir={self._folder}"]
        environment = {**os.environ, "HOME": self._folder}
        self._process = subprocess.Popen(
            [sys.executable, "-S", "-c", PLACED, str(down), str(up), *command],
            pass_fds=(down, up),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment,
            start_new_session=True,
        )
        os.close(down)
        os.close(up)
        self._rest, self._number, self._session = b"", 0, ""
        self._answers: dict[int, dict[str, Any]] = {}
        self.faults: list[str] = []  # exceptions, refusals by the policy, dialogs
        self.requests: list[str] = []
        try:
            self._begin(width, height, scheme)
        except BaseException:
            self.__exit__(None, None, None)
            raise

    def _begin(self, width: int, height: int, scheme: str) -> None:
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.size(width, height)
        self.show_as(scheme)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        os.killpg(self._process.pid, signal.SIGKILL)  # its helpers too: they still write
        self._process.wait()
        os.close(self._send)
        os.close(self._receive)
        deadline = time.monotonic() + PATIENCE_S
        while Path(self._folder).exists() and time.monotonic() < deadline:
            shutil.rmtree(self._folder, ignore_errors=True)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command of the debugging protocol and its answer."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._send, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + PATIENCE_S
        while self._number not in self._answers:
            self._read(max(0.0, deadline - time.monotonic()), method)
        answer = self._answers.pop(self._number)
        assert "error" not in answer, f"{method}: {answer['error']}"
        return answer["result"]  # type: ignore[no-any-return]

    def size(self, width: int, height: int) -> None:
        """Set the size of the window in CSS pixels."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def show_as(self, scheme: str = "light", media: str = "") -> None:
        """Prefer light or dark colours; `media` is "print" for the printed page."""
        self.call(
            "Emulation.setEmulatedMedia", media=media, features=[{"name": "prefers-color-scheme", "value": scheme}]
        )

    def open(self, address: str) -> None:
        """Go to an address and wait until its program has put something into `main`."""
        self.call("Page.navigate", url=address)
        self.wait("document.readyState === 'complete' && document.querySelector('main')?.childNodes.length > 0")

    def run(self, script: str) -> Any:
        """The value of an expression in the page; a promise is waited for."""
        evaluated = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in evaluated, f"{script}: {evaluated['exceptionDetails']}"
        return evaluated["result"].get("value")

    def wait(self, condition: str) -> Any:
        """Wait until an expression is true; one that fails, since an element is not there yet, is not."""
        deadline = time.monotonic() + PATIENCE_S
        script = f"(() => {{ try {{ return {condition}; }} catch (fault) {{ return false; }} }})()"
        while not (value := self.run(f"(value => value instanceof Element || value)({script})")):
            assert time.monotonic() < deadline, f"never true: {condition}; the page says {self.text()[:2000]!r}"
            time.sleep(0.05)
        return value

    def text(self, selector: str = "body") -> str:
        """The text that a reader sees."""
        return str(self.run(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''"))

    def click(self, selector: str) -> None:
        """Click on the first element of a selector as a mouse does."""
        element = f"document.querySelector({json.dumps(selector)})"
        self.wait(f"!!{element}")
        self.run(f"{element}.scrollIntoView({{block: 'nearest'}})")
        x, y = self.run(
            f"(() => {{const b = {element}.getBoundingClientRect(); return [b.x + b.width/2, b.y + b.height/2]}})()"
        )
        self.point(x, y)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def point(self, x: float, y: float) -> None:
        """Move the pointer."""
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def press(self, *keys: str) -> None:
        """Press keys, one after the other."""
        for key in keys:
            text, number = NAMED_KEYS.get(key, (key, 0))
            for kind in ("keyDown", "keyUp"):
                typed: dict[str, Any] = {"text": text} if text and kind == "keyDown" else {}
                typed |= {"windowsVirtualKeyCode": number} if number else {}
                self.call("Input.dispatchKeyEvent", type=kind, key=key, **typed)

    def picture(self, path: Path, kind: str = "png", **options: Any) -> Path:
        """Take a picture of the window."""
        data = self.call("Page.captureScreenshot", format=kind, **options)["data"]
        path.write_bytes(base64.b64decode(data))
        return path

    def _read(self, patience_s: float, method: str) -> None:
        ready, _, _ = select.select([self._receive], [], [], patience_s)
        assert ready, f"the browser did not answer {method}"
        data = os.read(self._receive, 1 << 20)
        assert data, "the browser ended"
        *messages, self._rest = (self._rest + data).split(b"\0")
        for message in messages:
            self._take(json.loads(message))

    def _take(self, message: dict[str, Any]) -> None:
        if "id" in message:
            self._answers[message["id"]] = message
            return
        kind, parameters = message.get("method", ""), message.get("params", {})
        if kind == "Runtime.exceptionThrown":
            self.faults.append(
                f"exception: {parameters['exceptionDetails'].get('exception', {}).get('description', parameters)}"
            )
        elif kind == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            self.faults.append(f"{parameters['entry']['source']}: {parameters['entry']['text']}")
        elif kind == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
            self.faults.append(f"console: {[one.get('value', one.get('description')) for one in parameters['args']]}")
        elif kind == "Page.javascriptDialogOpening":
            self.faults.append(f"dialog: {parameters['message']}")
        elif kind == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
