"""The playground, served as a site is."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from thence.play.playground import make

PACKAGE = Path(__file__).parents[2] / "editors" / "playground" / "node_modules" / "pyodide"
"""Where npm puts Pyodide."""


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is logged."""


@contextmanager
def site(folder: Path) -> Iterator[str]:
    """The address of the playground in a folder, which is made."""
    make(folder / "playground", PACKAGE)
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(folder / "playground")))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/index.html"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
