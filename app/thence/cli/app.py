"""The table of commands, and the entry point. A command itself is a module of `thence.cli.commands`."""

from __future__ import annotations

import errno
import os
import sys
from typing import Annotated, Any, NoReturn, Optional

import typer
import typer.completion

from thence.cli.lazy import LazyGroup, UsageError, lazy_commands, lazy_group
from thence.cli.session import fail_interrupted, fail_loading, fail_unwritten, fail_usage
from thence.cli.texts import spare_conversion
from thence.spec.user_error import UserError

TRACE = {
    "check": "Judge recorded executions. Says whether each is causal and FIFO, and what is stuck or delivered twice; "
    "shows the first violation and what was missing.",
    "convert": "Write a recorded execution in another format.",
    "draw": "Draw a recorded execution as a space-time diagram.",
}

CAMPAIGN = {
    "start": "Start a campaign.",
    "resume": "Go on with a campaign that was stopped, exactly where it was.",
    "status": "Say how far a campaign is. It works while the campaign runs.",
    "report": "Write the report of a campaign.",
}

COMMANDS = {
    "check": "Read files and report every error, with its place and a code.",
    "explain": "Explain the code of a diagnostic, a verdict or a level. Without one, lists all codes.",
    "fmt": "Write files in their canonical form. Comments are kept.",
    "run": "Run a protocol step by step. Plays a random run, a scenario of the file, or a counterexample again.",
    "repl": "Step through a protocol by hand. Shows what can happen, what a step changes, and what a property says.",
    "play": "Watch a protocol in the browser. The page shows the source, a diagram, the states and the properties, "
    "and explores on demand.",
    "lsp": "Serve an editor by the language server protocol. It gives diagnostics, hover, completion, rename, and "
    "verdicts beside the lines.",
    "explore": "Visit every state of a protocol in a scope. A violation is shown by a run that leads to it: by a "
    "shortest one, unless the run goes on for ever.",
    "export": "Write a protocol or a machine as a TLA+ module for TLC.",
    "prove": "Prove theorems, machines and links for any number of processes. Messages are without bound, too. "
    "A property is also proved of the protocol that states it, where its link is proved.",
    "bmc": "Look for violations within a number of steps. A machine may have any number of processes; a protocol runs "
    "in a scope.",
    "infer": "Find the invariants that the proof of a machine or a link lacks. A statement that is false is "
    "shown by a run.",
    "recheck": "Check a certificate again, trusting nothing in it. Exits with 0 if all of it is confirmed, with 1 if "
    "its claims do not follow, with 3 if that could not be decided.",
    "conform": "Drive an implementation through random schedules. It may be written in any language; the oracle and, "
    "where one is given, the protocol judge it.",
    "mutate": "Plant small faults and see whether anything notices. They go into protocols, machines and "
    "implementations.",
    "demo": "Run an implementation over a bad network and judge it. Each process is a process of the operating system, "
    "and what happens is recorded.",
    "verify": "Check everything that the files state. That is: theorems, machines, scopes, links, mutants, and the "
    "shipped implementations.",
    "executions": "Classify executions: causal, FIFO, and others. Shows executions that separate the kinds, and which "
    "protocols generate them.",
    "compare": "Count what implementations cost. Metadata, space, operations and latency stand beside what the "
    "literature claims.",
    "evaluate": "Measure implementations on a simulated network. It measures latency, throughput, bytes, control "
    "packets and state.",
    "sweep": "Measure implementations under each combination of settings. It runs on Spark, and goes on where it "
    "was stopped.",
    "matrix": "Drive a system under each assumption about its surroundings. The assumptions are about channels and "
    "about applications, one by one.",
    "cover": "Compare the schedulers. Says how often each one finds a failure, and which handlers, branches and "
    "states of the protocol it reaches.",
}

PROGRAM = "thence"

app = typer.Typer(
    name=PROGRAM,
    cls=LazyGroup,
    help="Specify, prove and test protocols that deliver messages in causal order.\n\nFILE is a path, or the bare name "
    "of a file of the library, such as rst. 'thence COMMAND -h' shows the options of a command and examples.",
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

_COMPLETE = "_THENCE_COMPLETE"
"""Set by the scripts of shells, which ask for the values that may follow."""

_INTERRUPTED = 130
"""Typer's exit code for Ctrl-C outside of a command's body."""


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"thence {version('thence')}")
        raise typer.Exit


def _show_completion(shell: str | None) -> None:
    if shell is not None:
        from thence.cli.help.shells import script

        typer.echo(script(shell), nl=False)
        raise typer.Exit


def _install_completion(shell: str | None) -> None:
    if shell is not None:
        from thence.cli.help.shells import install

        typer.echo(install(shell))
        raise typer.Exit


_SHELL = "SHELL"


@app.callback()
def _options(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    show_completion: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            metavar=_SHELL,
            callback=_show_completion,
            is_eager=True,
            help="Print the completion script of bash, zsh or fish.",
        ),
    ] = None,
    install_completion: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            metavar=_SHELL, callback=_install_completion, is_eager=True, help="Make bash, zsh or fish complete thence."
        ),
    ] = None,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def root() -> Any:
    """The command `thence`, with all its commands, none of which is imported yet."""
    group: Any = typer.main.get_command(app)
    for parameter in group.params:
        spare_conversion(parameter)
    for name, command in lazy_commands(COMMANDS).items():
        group.add_command(command, name)
    group.add_command(lazy_group("trace", "Judge, convert and draw recorded executions.", TRACE))
    group.add_command(
        lazy_group(
            "campaign", "Run a great many conformance cases on Spark. A campaign can be stopped and resumed.", CAMPAIGN
        )
    )
    return group


def run() -> None:
    """Runs the command that the arguments name. Exits by the rules of `session`, also where usage is wrong.

    Raises:
        KeyboardInterrupt: before the command began.
    """
    if _COMPLETE in os.environ:
        completion: Any = typer.completion
        completion.completion_init()
    try:
        ended = root()(prog_name=PROGRAM, standalone_mode=False)
        sys.stdout.flush()
        if ended == _INTERRUPTED:
            raise KeyboardInterrupt
    except UsageError as error:
        from thence.cli.help.faults import fault_of

        path = f"{PROGRAM} {_named()}".rstrip() if error.ctx is None else error.ctx.command_path
        fail_usage(path.partition(" ")[2], "--json" in sys.argv, f"{fault_of(error)}; see {path} --help")
    except UserError as error:  # by the import of a command: a package that it needs is not there
        fail_usage(_named(), "--json" in sys.argv, str(error))
    except OSError as error:
        if error.filename is None and error.errno not in (None, errno.EMFILE, errno.ENFILE, errno.ENOMEM):
            fail_unwritten(_named(), error)
        fail_loading(_named(), "--json" in sys.argv, error)
    except (MemoryError, ImportError) as error:
        fail_loading(_named(), "--json" in sys.argv, error)
    sys.exit(ended)


def end_interrupted() -> NoReturn:
    """Ends a command that was interrupted before it began."""
    fail_interrupted(_named(), "--json" in sys.argv)


def _named() -> str:
    """The command that the arguments name, as JSON gives it."""
    first, second = (*sys.argv[1:], "", "")[:2]
    group = {"trace": TRACE, "campaign": CAMPAIGN}.get(first, {})
    return f"{first} {second}" if second in group else first if first in COMMANDS else ""
