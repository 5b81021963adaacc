"""The command line, `thence`."""

from thence.cli.interrupts import interruptible, is_writing
from thence.cli.streams import open_closed_streams

__all__ = ["main"]


def main() -> None:
    """The entry point of the command `thence`. All else is imported once interrupts are taken in order."""
    open_closed_streams()
    with interruptible():
        try:
            from thence.cli.app import run

            run()
        except KeyboardInterrupt:
            is_writing()
            from thence.cli.app import end_interrupted

            end_interrupted()
