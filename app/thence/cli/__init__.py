"""The command line, `thence`."""

from thence.cli.interrupts import interruptible, is_writing
from thence.cli.streams import open_closed_streams
from thence.conformance.cases.surroundings import unending

__all__ = ["main"]


def main() -> None:
    """The entry point of the command `thence`. All else is imported once interrupts are taken in order."""
    open_closed_streams()
    unending()  # to the very end: what the code under test has registered for it may not change the exit code
    with interruptible():
        try:
            from thence.cli.app import run

            run()
        except KeyboardInterrupt:
            is_writing()
            from thence.cli.app import end_interrupted

            end_interrupted()
