"""The command line, `thence`."""

import traceback

from thence.cli.interrupts import interruptible, is_over, is_writing
from thence.cli.output import UNKNOWN
from thence.cli.streams import open_closed_streams
from thence.conformance.cases.surroundings import unending

__all__ = ["main"]


def main() -> None:
    """The entry point of the command `thence`. All else is imported once interrupts are taken in order."""
    open_closed_streams()
    unending()  # to the very end: what the code under test has registered for it may not change the exit code
    with interruptible():
        try:
            _run()
        except SystemExit as end:
            is_over(end.code if isinstance(end.code, int) else 0 if end.code is None else 1)
            raise
        except Exception:  # nothing is known: not the exit code 1, which is of a refutation
            traceback.print_exc()
            is_over(UNKNOWN)
            raise SystemExit(UNKNOWN) from None
        except KeyboardInterrupt:  # after all others
            is_over(UNKNOWN)
            raise SystemExit(UNKNOWN) from None


def _run() -> None:
    try:
        from thence.cli.app import run

        run()
    except KeyboardInterrupt:
        is_writing()
        from thence.cli.app import end_interrupted

        end_interrupted()
