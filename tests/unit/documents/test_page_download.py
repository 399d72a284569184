"""Pages of the web: only hosts that were named, no address of a private network, redirects and sizes bounded."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from documents.page_download import download, is_address, is_public, resolved
from records.errors import DocumentError

PRIVATE = [
    "http://127.0.0.1/", "http://127.1/", "http://0x7f000001/", "http://2130706433/", "http://017700000001/",
    "http://localhost/", "http://LOCALHOST./", "http://[::1]/", "http://[::]/", "http://0.0.0.0/", "http://0/",
    "http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/", "http://[64:ff9b::7f00:1]/", "http://[2002:7f00:1::]/",
    "http://169.254.169.254/latest/meta-data/", "http://[fe80::1]/", "http://[fd00:ec2::254]/", "http://10.0.0.1/",
    "http://172.16.5.4/", "http://192.168.1.1/", "http://100.64.0.1/", "http://224.0.0.1/", "http://255.255.255.255/",
    "http://127.0.0.1%00.example.org/", "http://[::1%25lo]/", "http://198.18.0.1/", "http://[ff02::1]/",
]  # fmt: skip
NO_PAGE = [
    "file:///etc/passwd", "gopher://127.0.0.1:70/x", "ftp://example.org/x", "http://user@example.org/",
    "http://user:word@127.0.0.1/", "http:///x", "https://", "http://example.org:99999/", "http://[::1/",
    "dict://127.0.0.1:11211/", "http://exa\nmple.org/", "jar:http://example.org!/x", "data:text/html,x",
    "http://example.org:x/",
]  # fmt: skip


class Pages(BaseHTTPRequestHandler):
    """Pages of each kind by their path."""

    def do_GET(self) -> None:
        self.server.asked.append(self.path)  # type: ignore[attr-defined]
        name = self.path.partition("?")[0]
        getattr(self, f"give_{name.strip('/').partition('.')[0] or 'index'}", self.give_nothing)()

    def give(self, body: bytes, kind: str = "text/html; charset=utf-8", **headers: str) -> None:
        self.send_response(200)
        for key, value in {"Content-Type": kind, **{k.replace("_", "-"): v for k, v in headers.items()}}.items():
            self.send_header(key, value)
        self.end_headers()
        self.wfile.write(body)

    def give_index(self) -> None:
        self.give(f"<h1>Waves</h1><p>{self.headers['Host']}</p>".encode())

    def give_notes(self) -> None:
        self.give(b"# Notes", "text/plain")

    def give_large(self) -> None:
        self.give(b"x" * 300_000)

    def give_packed(self) -> None:
        self.give(b"x", Content_Encoding="gzip")

    def give_slow(self) -> None:
        self.send_response(200)
        self.end_headers()
        for _ in range(600):
            self.wfile.write(b"x" * 70_000)
            time.sleep(0.05)

    def give_again(self) -> None:
        self.send_response(302)
        self.send_header("Location", self.path.partition("?")[2] or "/")
        self.end_headers()

    def give_nothing(self) -> None:
        self.send_error(404)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is logged."""


@pytest.fixture
def server() -> Iterator[ThreadingHTTPServer]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Pages) as made:
        made.daemon_threads = True
        made.asked = []  # type: ignore[attr-defined]
        threading.Thread(target=made.serve_forever, args=(0.02,), daemon=True).start()
        yield made
        made.shutdown()


def address(server: ThreadingHTTPServer, path: str = "/") -> str:
    return f"http://127.0.0.1:{server.server_port}{path}"


def hosts(server: ThreadingHTTPServer) -> list[str]:
    return [f"127.0.0.1:{server.server_port}"]


def test_a_named_host_is_asked_and_the_file_has_the_kind_it_was_sent_as(
    server: ThreadingHTTPServer, tmp_path: Path
) -> None:
    page = download(address(server), hosts(server), tmp_path)
    assert page.name == "page.html" and f"127.0.0.1:{server.server_port}" in page.read_text()
    assert download(address(server, "/notes.rst?v=1"), hosts(server), tmp_path).name == "notes.rst"
    assert download(address(server, "/notes"), hosts(server), tmp_path).name == "notes.txt"


def test_redirects_are_followed_and_checked(server: ThreadingHTTPServer, tmp_path: Path) -> None:
    assert download(address(server, "/again?/notes.md"), hosts(server), tmp_path).name == "notes.md"
    with pytest.raises(DocumentError, match="KERNEL_SCIENTIST_FETCH_HOSTS"):
        download(address(server, "/again?http://127.0.0.1:1/x"), hosts(server), tmp_path)
    with pytest.raises(DocumentError, match="only http"):
        download(address(server, "/again?file:///etc/passwd"), hosts(server), tmp_path)
    with pytest.raises(DocumentError, match="redirects"):
        download(address(server, "/again?/again?/again?/again?/again?/again?/again?/again"), hosts(server), tmp_path)


@pytest.mark.parametrize(
    ("path", "why"), [("/large", "larger"), ("/packed", "packs"), ("/slow", "too long"), ("/none", "404")]
)
def test_what_is_no_page_is_one_sentence(server: ThreadingHTTPServer, tmp_path: Path, path: str, why: str) -> None:
    most_bytes = 200_000 if path == "/large" else 10**9
    with pytest.raises(DocumentError, match=why) as refused:
        download(address(server, path), hosts(server), tmp_path, most_bytes, most_s=0.5 if path == "/slow" else 60)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("url", PRIVATE)
def test_no_spelling_of_a_private_network_is_asked(url: str, tmp_path: Path) -> None:
    with pytest.raises(DocumentError):
        download(url, ["*"], tmp_path)


@pytest.mark.parametrize("url", NO_PAGE)
def test_other_schemes_and_broken_addresses_are_refused(url: str, tmp_path: Path) -> None:
    with pytest.raises(DocumentError) as refused:
        download(url, ["*"], tmp_path)
    assert "\n" not in str(refused.value).replace(url, "")


def test_nothing_is_asked_unless_its_host_is_named(server: ThreadingHTTPServer, tmp_path: Path) -> None:
    for named in ([], ["example.org"], ["127.0.0.1"], ["*.0.0.1"], ["*"], [f"127.0.0.1:{server.server_port}0"]):
        with pytest.raises(DocumentError, match="KERNEL_SCIENTIST_FETCH_HOSTS"):
            download(address(server), named, tmp_path)
    assert server.asked == []  # type: ignore[attr-defined]


def test_names_below_a_host_are_meant_by_a_star() -> None:
    assert is_public("8.8.8.8") and is_public("2606:4700::1111") and not is_public("::ffff:10.0.0.1")
    with pytest.raises(DocumentError, match="FETCH_HOSTS"):
        resolved("https://readthedocs.io.example.net/x", ["*.readthedocs.io"])


@pytest.mark.parametrize(("text", "is_one"), [("https://a.b/c", True), ("file:///x", True), ("notes/a.md", False)])
def test_an_address_has_a_scheme(text: str, is_one: bool) -> None:
    assert is_address(text) is is_one
