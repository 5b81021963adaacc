"""`thence lsp`: the language server, for editors."""

from __future__ import annotations

import sys
from importlib.util import find_spec

from thence.cli.output import AS_EXPECTED, REFUTED, BadInput, Output
from thence.cli.session import Session, run_command


def lsp() -> None:
    """Serves an editor on standard input and output, by the language server protocol."""
    run_command("lsp", False, _served)


def _served(session: Session) -> Output:
    del session
    if find_spec("pygls") is None:
        raise BadInput("the language server needs pygls; install it by: pip install 'thence[editor]'")
    if sys.stdin.isatty():
        print("thence lsp waits for an editor on standard input; Ctrl-C ends it", file=sys.stderr)
    from thence.lsp.server import serve

    return Output(exit=AS_EXPECTED if serve() else REFUTED)
