"""The server: it answers its own page on this machine, and nobody else."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from thence.play.backend.backend import Backend
from thence.play.server import MOST_BYTES, Served, Server

HOSTILE = """\
protocol hostile:
  \"\"\"<script>alert(1)</script>\"\"\"
  network reliable, reordering
  message MSG(m: message) carries m
  state:
    got: nat
  on causal_send(m): send MSG(m) to m.dst
  on receive MSG(m) from j: deliver m
  property causal
"""


@contextmanager
def serving(files: dict[str, str] | None = None) -> Iterator[Server]:
    """A server in a thread, gone at the end."""
    given = {"</script><script>alert(1)</script>": HOSTILE} if files is None else files
    server = Server(Served({"name": next(iter(given)), "start": {}}, Backend(files=given)))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture(name="server", scope="module")
def _server() -> Iterator[Server]:
    with serving() as server:
        yield server


def request(
    server: Server, method: str, path: str, body: bytes | None = None, **headers: str | None
) -> tuple[int, bytes, http.client.HTTPMessage]:
    """The status, the body and the headers of an answer. A header that is None is left out."""
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=60)
    connection.putrequest(method, path, skip_host="Host" in headers, skip_accept_encoding=True)
    for name, value in headers.items():
        if value is not None:
            connection.putheader(name.replace("_", "-"), value)
    connection.endheaders(body)
    answer = connection.getresponse()
    found = answer.status, answer.read(), answer.headers
    connection.close()
    return found


def ask(server: Server, method: str, asked: dict[str, Any], **headers: str | None) -> tuple[int, Any]:
    """The status and the answer to a question of the page."""
    body = json.dumps({"method": method, "asked": asked}).encode()
    sent: dict[str, str | None] = {
        "Content_Type": "application/json", "Content_Length": str(len(body)),
        "Origin": f"http://127.0.0.1:{server.server_port}", **headers,
    }  # fmt: skip
    status, answer, _ = request(server, "POST", f"/{server.served.token}/ask", body, **sent)
    return status, json.loads(answer.split(b"\n")[-2 if answer.endswith(b"\n") else -1]) if status == 200 else answer


def test_the_server_listens_on_the_loopback_only(server: Server) -> None:
    assert server.server_address[0] == "127.0.0.1"
    assert server.address.startswith("http://127.0.0.1:")
    with serving() as other:
        assert other.served.token != server.served.token and len(other.served.token) >= 32


def test_the_page_has_a_policy_that_runs_its_own_script_only(server: Server) -> None:
    status, body, headers = request(server, "GET", f"/{server.served.token}/")
    assert status == 200
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy
    assert headers["X-Content-Type-Options"] == "nosniff" and headers["Referrer-Policy"] == "no-referrer"
    assert headers["Access-Control-Allow-Origin"] is None
    assert b"</script><script>alert(1)" not in body


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/", {}, 404),
        ("/wrong/", {}, 404),
        ("/wrong/ask", {}, 404),
        ("//etc/passwd", {}, 404),
        ("TOKEN/../../etc/passwd", {}, 404),
        ("TOKEN/%2e%2e/etc/passwd", {}, 404),
        ("TOKEN/player.css", {}, 404),
        ("TOKEN/", {"Host": "example.org"}, 421),
        ("TOKEN/", {"Host": None}, 421),
        ("TOKEN/", {"Host": "127.0.0.1"}, 421),
        ("TOKEN/", {"Origin": "http://example.org"}, 403),
        ("TOKEN/", {"Origin": "null"}, 403),
    ],
)
def test_whoever_has_no_business_here_is_refused(
    server: Server, path: str, headers: dict[str, str | None], status: int
) -> None:
    found, body, _ = request(server, "GET", path.replace("TOKEN", f"/{server.served.token}"), **headers)
    assert found == status
    assert server.served.token.encode() not in body


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Content_Type": "text/plain"}, 415),
        ({"Content_Type": "application/x-www-form-urlencoded"}, 415),
        ({"Content_Type": None}, 415),
        ({"Content_Length": None}, 411),
        ({"Content_Length": "-1"}, 411),
        ({"Content_Length": str(MOST_BYTES + 1)}, 413),
        ({"Content_Length": "9" * 30}, 413),
        ({"Origin": "http://example.org"}, 403),
        ({"Origin": "https://127.0.0.1"}, 403),
        ({"Sec_Fetch_Site": "cross-site"}, 403),
        ({"Sec_Fetch_Site": "same-site"}, 403),
    ],
)
def test_a_question_of_another_site_is_not_answered(
    server: Server, headers: dict[str, str | None], status: int
) -> None:
    assert ask(server, "about", {}, **headers)[0] == status


@pytest.mark.parametrize("body", [b"", b"[]", b"7", b"{", b"{}", b'{"method": 1, "asked": {}}', b"[" * 100_000])
def test_a_question_that_is_none_is_refused(server: Server, body: bytes) -> None:
    headers: dict[str, str | None] = {"Content_Type": "application/json", "Content_Length": str(len(body))}
    assert request(server, "POST", f"/{server.served.token}/ask", body, **headers)[0] == 400


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "HEAD"])
def test_other_methods_are_not_there(server: Server, method: str) -> None:
    assert request(server, method, f"/{server.served.token}/")[0] == 501


def test_files_are_read_by_the_names_that_were_given_only(server: Server) -> None:
    assert ask(server, "open", {"name": "rst"})[1]["text"].startswith('"""')
    for name in ("/etc/passwd", "../rst", "rst.thence", "library/rst", "file:///etc/passwd", "\0", ""):
        assert ask(server, "open", {"name": name})[1]["error"]["kind"] == "NotThere"


def test_a_search_is_streamed_with_its_progress_and_ends_with_its_page(server: Server) -> None:
    spec = ask(server, "load", ask(server, "open", {"name": "rst"})[1])[1]["spec"]
    status, answer = ask(server, "explore", {"spec": spec, "scope": "one"})
    assert status == 200
    assert {each["verdict"] for each in answer["answer"]["results"]} == {"holds"}
    body = json.dumps({"method": "explore", "asked": {"spec": spec, "scope": "two", "limit": 50_000_000}}).encode()
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=60) as page:
        head = (
            f"POST /{server.served.token}/ask HTTP/1.1\r\nHost: 127.0.0.1:{server.server_port}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        page.sendall(head.encode() + body)
        assert page.recv(1000).startswith(b"HTTP/1.0 200")
    deadline = time.monotonic() + 20
    while server.served.searches._value < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert server.served.searches._value == 2, "the search goes on, and nobody waits for it"


def test_a_third_search_at_one_time_is_refused(server: Server) -> None:
    spec = ask(server, "load", ask(server, "open", {"name": "rst"})[1])[1]["spec"]
    assert server.served.searches.acquire() and server.served.searches.acquire()
    try:
        assert ask(server, "explore", {"spec": spec, "scope": "one"})[1]["error"]["kind"] == "Busy"
    finally:
        server.served.searches.release()
        server.served.searches.release()
    assert ask(server, "explore", {"spec": "gone"})[1]["error"]["kind"] == "Gone"
