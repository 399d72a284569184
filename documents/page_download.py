"""Pages from the hosts that a person has named: addresses are resolved once and pinned, and everything has a bound.

Off unless `KERNEL_SCIENTIST_FETCH_HOSTS` names hosts. A name must resolve to public addresses only; an address of a
private network is asked only where the setting has it as a number. Redirects are checked as the first address was.
"""

from __future__ import annotations

import ipaddress
import re
import socket
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urljoin, urlsplit

from records.errors import DocumentError

if TYPE_CHECKING:
    import httpx

SCHEMES = {"https": 443, "http": 80}
MOST_BYTES = 100_000_000
MOST_S = 120.0
MOST_REDIRECTS = 5
_WAIT_S = 15.0  # for the connection, and for each part of an answer
_KINDS = {
    "application/pdf": ".pdf",
    "application/x-ipynb+json": ".ipynb",
    "application/xhtml+xml": ".html",
    "text/html": ".html",
    "text/markdown": ".md",
    "text/x-markdown": ".md",
    "text/x-rst": ".rst",
}


@dataclass(frozen=True)
class PageHost:
    """An address whose host may be asked, with the one number that is asked."""

    url: str
    scheme: str
    host: str
    port: int
    number: str  # IPv4 or IPv6
    path: str


def is_address(text: str) -> bool:
    """Tell whether a text has a scheme, as no path of a file has."""
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", text) is not None


def download(
    url: str, hosts: Sequence[str], folder: Path, most_bytes: int = MOST_BYTES, most_s: float = MOST_S
) -> Path:
    """Fetch one page into a folder; the file's ending says what it is.

    Raises:
        DocumentError: the address may not be asked, or gave no document within the bounds.
    """
    import httpx

    until = time.monotonic() + most_s
    try:
        with httpx.Client(trust_env=False, timeout=_WAIT_S, follow_redirects=False) as client:
            watch = threading.Timer(most_s + 1, client.close)  # ends one that sends its headers a byte at a time
            watch.daemon = True
            watch.start()
            try:
                return _followed(client, url, hosts, folder, most_bytes, until)
            finally:
                watch.cancel()
    except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
        reason = (str(error).splitlines() or [""])[0][:200]
        raise DocumentError(f"the page {url} cannot be fetched: {type(error).__name__} {reason}".strip()) from error


def _followed(
    client: httpx.Client, url: str, hosts: Sequence[str], folder: Path, most_bytes: int, until: float
) -> Path:
    for _ in range(MOST_REDIRECTS + 1):
        page_host = resolved(url, hosts)
        number = f"[{page_host.number}]" if ":" in page_host.number else page_host.number
        request = client.build_request(
            "GET",
            f"{page_host.scheme}://{number}:{page_host.port}{page_host.path}",
            headers={"Host": urlsplit(url).netloc.rpartition("@")[2], "Accept-Encoding": "identity"},
            extensions={"sni_hostname": page_host.host},
        )
        answer = client.send(request, stream=True)
        try:
            if answer.is_redirect:
                url = urljoin(url, answer.headers["location"])
                continue
            return _stored(answer, url, folder, most_bytes, until)
        finally:
            answer.close()
    raise DocumentError(f"the page {url} is behind more than {MOST_REDIRECTS} redirects")


def resolved(url: str, hosts: Sequence[str]) -> PageHost:
    """Resolve the place of an address; DocumentError where its host may not be asked."""
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").rstrip("."), parts.port or SCHEMES.get(parts.scheme, 0)
    except ValueError:
        raise DocumentError(f"{url} is no address") from None
    if parts.scheme not in SCHEMES or not host or "@" in parts.netloc or not url.isprintable():
        raise DocumentError(f"{url} cannot be fetched; only http:// and https:// addresses without a user are")
    host_name = f"[{host}]" if ":" in host else host
    if port != SCHEMES[parts.scheme]:
        host_name = f"{host_name}:{port}"
    allowed = [
        entry
        for entry in hosts
        if _has_port(entry) == _has_port(host_name) and (entry == host_name or fnmatch(host_name, entry))
    ]
    if not allowed:
        raise DocumentError(
            f"{url} is not fetched; add {host_name} to KERNEL_SCIENTIST_FETCH_HOSTS, or save the page and add the file"
        )
    numbers = {str(info[4][0]) for info in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)}
    is_written = host in numbers and host_name in allowed
    if not numbers or not (is_written or all(is_public(number) for number in numbers)):
        raise DocumentError(
            f"{url} is not fetched: {host} is an address of a private network; name it by its number and port"
        )
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return PageHost(url, parts.scheme, host, port, min(numbers, key=lambda number: (":" in number, number)), path)


def _has_port(host: str) -> bool:
    return re.search(r":\d+$", host) is not None and not host.endswith("]")


def is_public(number: str) -> bool:
    """Tell whether anybody's machine would reach this address; one within another is looked at as well."""
    address = ipaddress.ip_address(number.partition("%")[0])
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)
        if address in ipaddress.ip_network("64:ff9b::/96"):
            inner = ipaddress.ip_address(int(address) & 0xFFFFFFFF)  # type: ignore[assignment]
        if inner is not None:
            return is_public(str(inner))
    return address.is_global and not address.is_multicast


def _stored(answer: httpx.Response, url: str, folder: Path, most_bytes: int, until: float) -> Path:
    if answer.status_code != 200:
        raise DocumentError(f"the page {url} cannot be fetched: the server answers {answer.status_code}")
    if answer.headers.get("content-encoding", "identity") != "identity":
        raise DocumentError(f"the page {url} cannot be fetched: the server packs it although it was asked not to")
    path = folder / _name(url, answer.headers.get("content-type", ""))
    size = 0
    with path.open("wb") as file:
        for part in answer.iter_raw(65536):
            size += len(part)
            if size > most_bytes:
                raise DocumentError(f"the page {url} is larger than {most_bytes // 10**6} MB")
            if time.monotonic() > until:
                raise DocumentError(f"the page {url} takes too long to fetch")
            file.write(part)
    return path


def _name(url: str, content_type: str) -> str:
    """Name a file by the address, with the ending of what the server says it sends."""
    last = re.sub(r"[^\w.-]+", "-", unquote(urlsplit(url).path.rstrip("/").rpartition("/")[2]))[-80:].lstrip(".")
    ending = _KINDS.get(content_type.partition(";")[0].strip().lower(), "")
    name = Path(last or "page")
    return str(name.with_suffix(ending)) if ending else (last if name.suffix else f"{name}.txt")
