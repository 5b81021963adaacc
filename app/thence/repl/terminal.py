"""The terminal of the loop: the lines of earlier sessions, and completion by Tab."""

from __future__ import annotations

import atexit
import signal
from contextlib import suppress

from thence.spec.cache_folder import cache_folder

FILE = "lines"
"""The file of earlier lines, in the folder `repl` of the user's cache."""

MOST_LINES = 1_000


def prepare() -> None:
    """Reads the earlier lines, and keeps those of this session at its end. SIGTERM ends the program at once."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        import readline
    except ImportError:  # as on Windows: a prompt without history
        return
    folder = cache_folder("repl")
    if folder is None:
        return
    place = str(folder / FILE)
    with suppress(OSError):
        readline.read_history_file(place)
    readline.set_history_length(MOST_LINES)

    def keep() -> None:
        with suppress(OSError):
            readline.write_history_file(place)

    atexit.register(keep)
