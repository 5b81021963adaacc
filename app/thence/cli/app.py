"""The table of commands, and the entry point. A command itself is a module of `thence.cli.commands`."""

from __future__ import annotations

import sys
from typing import Annotated, Any, NoReturn

import typer

from thence.cli.lazy import LazyGroup, lazy_commands, lazy_group
from thence.cli.output import BAD_INPUT
from thence.cli.session import fail_interrupted, fail_usage
from thence.spec.user_error import UserError

TRACE = {
    "check": "Judge recorded executions: causal, FIFO, stuck, duplicates; the first violation and what was missing.",
    "convert": "Write a recorded execution in another format.",
    "draw": "Draw a recorded execution as a space-time diagram.",
}

CAMPAIGN = {
    "start": "Start a campaign.",
    "resume": "Go on with a campaign that was stopped, exactly where it was.",
    "status": "Say how far a campaign is; works while it runs.",
    "report": "Write the report of a campaign.",
}

COMMANDS = {
    "verify": "Check everything that the files state: theorems, machines, scopes, links, mutants, implementations.",
    "check": "Parse, resolve and type files; every fault with its place and a code.",
    "fmt": "Write files in their canonical form; comments are kept.",
    "run": "Simulate a protocol step by step, replay a counterexample, or play a scenario.",
    "repl": "Step through a protocol by hand: what can happen, what a step changes, what a property says.",
    "explore": "Explore all that a protocol can do in a scope; shortest counterexamples.",
    "prove": "Prove theorems and machines for any number of processes and messages.",
    "bmc": "Look for violations within so many steps: of a machine of any size, of a protocol in a scope.",
    "recheck": "Check a certificate again, trusting nothing in it: 0 confirmed, 1 not what it says, 3 not decided.",
    "executions": "Say of which kinds executions are (causal, FIFO, ...), what separates the kinds, and who generates "
    "which.",
    "export": "Write a protocol or a machine as a TLA+ module that TLC runs.",
    "conform": "Drive an implementation, in any language, through random schedules, against the oracle and the "
    "protocol.",
    "matrix": "Drive a system under each assumption about channels and applications, one by one.",
    "cover": "Compare the schedulers: what each hits, and which handlers, branches and states of the protocol it "
    "reaches.",
    "mutate": "Put small faults into protocols, machines and implementations, and see whether anything notices.",
    "compare": "Count what implementations cost: metadata, space, operations, latency; beside what the literature "
    "claims.",
    "evaluate": "Measure implementations on a simulated network: latency, throughput, bytes, control packets, state.",
    "sweep": "Measure implementations under every combination of some settings, on Spark; stopped and resumed.",
    "demo": "Run an implementation in processes of its own over a bad network, record what happens, and judge it.",
}

PROGRAM = "thence"

app = typer.Typer(
    name=PROGRAM,
    cls=LazyGroup,
    help="Specifications, proofs and conformance tests for causal message delivery.",
    invoke_without_command=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

_UsageError: Any = typer.BadParameter.__mro__[1]
"""The error for every fault of a command line; Typer exports the special cases only."""

_INTERRUPTED = 130
"""Typer's exit code for Ctrl-C outside of a command's body."""


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"thence {version('thence')}")
        raise typer.Exit


@app.callback()
def _options(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def root() -> Any:
    """The command `thence`, with all its commands, none of which is imported yet."""
    group: Any = typer.main.get_command(app)
    for name, command in lazy_commands(COMMANDS).items():
        group.add_command(command, name)
    group.add_command(lazy_group("trace", "Recorded executions: judge them, draw them.", TRACE))
    group.add_command(
        lazy_group("campaign", "Randomized conformance campaigns on Spark, stopped and resumed.", CAMPAIGN)
    )
    return group


def run() -> None:
    """Runs the command that the arguments name. Exits by the rules of `session`, also where usage is wrong.

    Raises:
        KeyboardInterrupt: before the command began.
    """
    try:
        ended = root()(prog_name=PROGRAM, standalone_mode=False)
        if ended == _INTERRUPTED:
            raise KeyboardInterrupt
    except _UsageError as error:
        path = PROGRAM if error.ctx is None else error.ctx.command_path
        message = f"{error.format_message().rstrip('.')}; see {path} --help"
        fail_usage(path.partition(" ")[2], "--json" in sys.argv, message)
    except UserError as error:  # by the import of a command: a package that it needs is not there
        fail_usage(_named(), "--json" in sys.argv, str(error))
    except BrokenPipeError:
        sys.exit(BAD_INPUT)
    sys.exit(ended)


def end_interrupted() -> NoReturn:
    """Ends a command that was interrupted before it began."""
    fail_interrupted(_named(), "--json" in sys.argv)


def _named() -> str:
    """The command that the arguments name, as JSON gives it."""
    first, second = (*sys.argv[1:], "", "")[:2]
    group = {"trace": TRACE, "campaign": CAMPAIGN}.get(first, {})
    return f"{first} {second}" if second in group else first if first in COMMANDS else ""
