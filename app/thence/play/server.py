"""The page and its questions, served to this machine's browser.

The server trusts nobody. It listens on the loopback only; every address begins with a token that nobody can guess; the
names by which it is called are its own; no other site may ask. What it reads are the files that it was given and those
of the library, by their names. A specification is data: nothing of it is ever run as code. Searches are processes of
their own, which end when the page does not want them any more.
"""

from __future__ import annotations

import hmac
import json
import secrets
import selectors
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import IO, Any, Final

from thence.play.backend.backend import SEARCHES, Backend
from thence.play.page import page, policy
from thence.play.searcher import PROVE

MOST_BYTES: Final = 8 * 2**20
"""The largest question."""

MOST_SEARCHES: Final = 2
"""Searches at one time."""

TIMEOUT_S: Final = 30.0
"""How long a browser may take to send a question."""

BEAT_S: Final = 0.5
"""How often a search says that it goes on, so that a page that has gone is noticed."""


class _Refused(Exception):
    """A request that is not answered; the status says why."""

    def __init__(self, status: HTTPStatus) -> None:
        super().__init__(status.phrase)
        self.status = status


@dataclass(slots=True)
class Served:
    """What is served: the page's beginning, the answers, and the token.

    `whole`: a page that needs no answers, served as it is; empty for the page that asks.
    """

    config: Mapping[str, Any]
    backend: Backend
    whole: str = ""
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    lock: threading.Lock = field(default_factory=threading.Lock)
    searches: threading.BoundedSemaphore = field(default_factory=lambda: threading.BoundedSemaphore(MOST_SEARCHES))
    texts: dict[str, tuple[str, str]] = field(default_factory=dict)
    """The name and the text of what was loaded, by its identity: searches load it again."""


class Server(ThreadingHTTPServer):
    """A server on the loopback. Raises: OSError where the port is taken."""

    daemon_threads = True
    request_queue_size = 16

    def __init__(self, served: Served, port: int = 0) -> None:
        self.served = served
        super().__init__(("127.0.0.1", port), _Handler)

    @property
    def address(self) -> str:
        """The address of the page."""
        return f"http://127.0.0.1:{self.server_port}/{self.served.token}/"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that broke is nobody's fault; whatever else happens is shown."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: Server
    server_version = "thence"
    sys_version = ""
    timeout = TIMEOUT_S

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is logged: addresses have the token in them."""

    def do_GET(self) -> None:
        self._guarded(self._page)

    def do_POST(self) -> None:
        self._guarded(self._answer)

    def _guarded(self, answer: Any) -> None:
        try:
            self._check()
            answer()
        except _Refused as refused:
            self.close_connection = True
            self._send(refused.status, f"{refused.status.phrase}\n".encode(), "text/plain; charset=utf-8")
        except (BrokenPipeError, ConnectionError, TimeoutError):
            self.close_connection = True

    def _check(self) -> None:
        """Refuses whoever has no business here.

        A name other than the loopback's would be another site that has this machine's address (DNS rebinding). A
        browser says which site asks: no other one may.
        """
        own = {f"127.0.0.1:{self.server.server_port}", f"localhost:{self.server.server_port}"}
        if self.headers.get("Host") not in own:
            raise _Refused(HTTPStatus.MISDIRECTED_REQUEST)
        origin = self.headers.get("Origin")
        if origin is not None and origin not in {f"http://{name}" for name in own}:
            raise _Refused(HTTPStatus.FORBIDDEN)
        if self.headers.get("Sec-Fetch-Site", "none") not in ("same-origin", "none") and self.command == "POST":
            raise _Refused(HTTPStatus.FORBIDDEN)
        token = self.path.split("/")[1] if self.path.startswith("/") else ""
        if not hmac.compare_digest(token.encode(), self.server.served.token.encode()):
            raise _Refused(HTTPStatus.NOT_FOUND)

    @property
    def _where(self) -> str:
        return self.path.partition("?")[0][len(self.server.served.token) + 1 :]

    def _page(self) -> None:
        if self._where != "/":
            raise _Refused(HTTPStatus.NOT_FOUND)
        served = self.server.served
        rest = policy(connect="'self'" if not served.whole else "'none'")
        shown = served.whole or page({"mode": "server", **served.config}, csp=rest)
        more = {"Content-Security-Policy": f"{rest}; frame-ancestors 'none'"}
        self._send(HTTPStatus.OK, shown.encode(), "text/html; charset=utf-8", more)

    def _answer(self) -> None:
        if self._where != "/ask":
            raise _Refused(HTTPStatus.NOT_FOUND)
        question = self._question()
        method, asked = question.get("method"), question.get("asked")
        if not isinstance(method, str) or not isinstance(asked, dict):
            raise _Refused(HTTPStatus.BAD_REQUEST)
        served = self.server.served
        if method in (*SEARCHES, PROVE):
            self._search(method, asked)
            return
        with served.lock:
            answer = served.backend.call(method, asked)
            if method == "load" and isinstance(answer.get("spec"), str):
                served.texts[answer["spec"]] = (str(asked.get("name") or "text"), asked["text"])
                while len(served.texts) > 16:
                    del served.texts[next(iter(served.texts))]
        self._send(HTTPStatus.OK, json.dumps(answer).encode(), "application/json")

    def _question(self) -> dict[str, Any]:
        kind = (self.headers.get("Content-Type") or "").partition(";")[0].strip().lower()
        if kind != "application/json":  # a form of another site cannot say this without asking first
            raise _Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE)
        length = self.headers.get("Content-Length") or ""
        if not length.isdecimal():
            raise _Refused(HTTPStatus.LENGTH_REQUIRED)
        if len(length) > 12 or int(length) > MOST_BYTES:
            raise _Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        try:
            question = json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError):
            raise _Refused(HTTPStatus.BAD_REQUEST) from None
        if not isinstance(question, dict):
            raise _Refused(HTTPStatus.BAD_REQUEST)
        return question

    def _search(self, method: str, asked: Mapping[str, Any]) -> None:
        served = self.server.served
        if not served.searches.acquire(blocking=False):
            busy = {"error": {"kind": "Busy", "message": f"{MOST_SEARCHES} searches are under way: stop one of them"}}
            self._send(HTTPStatus.OK, json.dumps(busy).encode(), "application/json")
            return
        try:
            known = served.texts.get(str(asked.get("spec")))
            if known is None:
                gone = {"error": {"kind": "Gone", "message": "the text is kept no more"}}
                self._send(HTTPStatus.OK, json.dumps(gone).encode(), "application/json")
                return
            name, text = known
            self._stream({"method": method, "asked": dict(asked), "name": name, "text": text})
        finally:
            served.searches.release()

    def _stream(self, question: Mapping[str, Any]) -> None:
        """Runs the search in a process, and passes on its lines. Ends it when the page has gone."""
        with subprocess.Popen(
            [sys.executable, "-m", "thence.play.searcher"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as process:
            assert process.stdin is not None and process.stdout is not None
            try:
                process.stdin.write(json.dumps(question).encode() + b"\n")
                process.stdin.flush()
                self.close_connection = True
                self._head(HTTPStatus.OK, "application/x-ndjson", {})
                self._pass_on(process.stdout)
            finally:
                process.kill()
                with suppress(OSError):
                    process.stdin.close()

    def _pass_on(self, lines: IO[bytes]) -> None:
        with selectors.DefaultSelector() as waiting:
            waiting.register(lines, selectors.EVENT_READ)
            while True:
                if not waiting.select(BEAT_S):
                    self.wfile.write(b"\n")
                    self.wfile.flush()
                    continue
                part = lines.read1(1 << 16)  # type: ignore[attr-defined]
                if not part:
                    return
                self.wfile.write(part)
                self.wfile.flush()

    def _send(self, status: HTTPStatus, body: bytes, kind: str, more: Mapping[str, str] | None = None) -> None:
        self._head(status, kind, {"Content-Length": str(len(body)), **(more or {})})
        if self.command != "HEAD":
            self.wfile.write(body)

    def _head(self, status: HTTPStatus, kind: str, more: Mapping[str, str]) -> None:
        self.send_response(status)
        headers = {
            "Content-Type": kind,
            "Cache-Control": "no-store",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            "X-Frame-Options": "DENY",
            **more,
        }
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
