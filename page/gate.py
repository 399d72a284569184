"""The gate before the page: who may ask, from where, and what a browser may do with the answer.

A stranger's page in the same browser can send requests here but knows no token, has another origin, and cannot make the
browser send the cookie; a name that is bent to this machine's address (DNS rebinding) fails by its `Host`.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Set
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), usb=()",
    "cache-control": "no-store",
}
STRANGER = "another site asked for this; it may not"
READ_ONLY = "this page only shows; nothing can be changed through it"
NO_TOKEN = "open the address that `kernel-scientist serve` printed: it carries the token of this page"


@dataclass(frozen=True)
class Shield:
    """Let only what this page itself asks for through; another application around it says who may reach the page.

    A server that answers every origin (CORS) would otherwise hand the page's data to any site in the same browser.
    """

    inner: Application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return  # a web socket is closed without a word
        headers, answered = _texts_of(scope), _with_headers(send, {})
        host, is_first = headers.get("host", ""), scope["path"].removeprefix(scope.get("root_path", "")) in ("", "/")
        if _is_strange(headers, {f"{scheme}://{host}" for scheme in ("http", "https")}, is_first):
            await _say(answered, 403, STRANGER)
        elif scope["method"] not in ("GET", "HEAD"):
            await _say(answered, 405, READ_ONLY)
        else:
            await self.inner(scope, receive, answered)


@dataclass(frozen=True)
class Gate:
    """Passes on what may pass, and answers the rest with one sentence."""

    inner: Application
    token: str
    hosts: frozenset[str]  # values of the header `Host` that are this page's own

    @property
    def cookie(self) -> str:
        """Name of the cookie: browsers share cookies between the ports of a host."""
        return f"kernel_scientist_{min(self.hosts).rsplit(':', 1)[-1]}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.inner(scope, receive, send)
            return  # a web socket is closed without a word
        headers = _texts_of(scope)
        status, why = self._refusal(scope, headers)
        fresh = not why and not self._is_known(headers)
        answered = _with_headers(send, {"set-cookie": self._cookie_text()} if fresh else {})
        if why:
            await _say(answered, status, why)
        else:
            await self.inner(scope, receive, answered)

    def _refusal(self, scope: Scope, headers: Mapping[str, str]) -> tuple[int, str]:
        """Status and sentence; an empty one lets the request pass."""
        if headers.get("host", "") not in self.hosts:
            return 421, "this name is not the page's own; use the address that `kernel-scientist serve` printed"
        if _is_strange(headers, {f"http://{host}" for host in self.hosts}, scope["path"] == "/"):
            return 403, STRANGER
        if scope["method"] not in ("GET", "HEAD"):
            return 405, READ_ONLY
        if not self._is_known(headers) and not self._has_token(scope):
            return 401, NO_TOKEN
        return 200, ""

    def _is_known(self, headers: Mapping[str, str]) -> bool:
        jar = SimpleCookie()
        try:
            jar.load(headers.get("cookie", ""))
        except CookieError:
            return False
        cookie = jar.get(self.cookie)
        return cookie is not None and self._is_token(cookie.value)

    def _has_token(self, scope: Scope) -> bool:
        """Tell whether the first page comes with the token: in any other address it would end in logs and histories."""
        tokens = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [""])
        return scope["path"] == "/" and self._is_token(tokens[0])

    def _is_token(self, text: str) -> bool:
        return hmac.compare_digest(text.encode(), self.token.encode())

    def _cookie_text(self) -> str:
        return f"{self.cookie}={self.token}; Path=/; HttpOnly; SameSite=Strict"


def _texts_of(scope: Scope) -> dict[str, str]:
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}


def _is_strange(headers: Mapping[str, str], origins: Set[str], is_first_page: bool) -> bool:
    """Tell whether another site asks, as browsers report it; a link to the first page may stand anywhere."""
    origin = headers.get("origin")
    if origin is not None and origin not in origins:
        return True
    return headers.get("sec-fetch-site", "none") not in ("same-origin", "none") and not is_first_page


def _with_headers(send: Send, more: Mapping[str, str]) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = [(name.encode(), value.encode()) for name, value in {**HEADERS, **more}.items()]
            message = {**message, "headers": [*message.get("headers", ()), *headers]}
        await send(message)

    return sending


async def _say(send: Send, status: int, text: str) -> None:
    body = f"kernel-scientist: {text}\n".encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
