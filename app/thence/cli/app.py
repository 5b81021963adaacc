"""The commands and their options. Each body lives in a module of its own, imported only when it runs."""

from __future__ import annotations

import sys
from typing import Annotated, Any, Optional

import typer

from thence.cli.commands.campaign_commands import campaign
from thence.cli.commands.conform_command import conform
from thence.cli.commands.executions_command import executions
from thence.cli.options import MOST_PROCESSES, Exec, ExecPerProcess, Impl, Json, MemoryLimit, Schedules, Seed
from thence.cli.output import BAD_INPUT, UNKNOWN
from thence.cli.session import fail_usage, run_command

app = typer.Typer(
    name="thence",
    help="Specifications, proofs and conformance tests for causal message delivery.",
    invoke_without_command=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
trace = typer.Typer(help="Recorded executions: judge them, draw them.", rich_markup_mode=None)
app.add_typer(trace, name="trace")
app.add_typer(campaign, name="campaign")

_UsageError: Any = typer.BadParameter.__mro__[1]
"""What is raised for every fault of a command line; Typer exports the special cases only."""

_INTERRUPTED = 130
"""What Typer makes of Ctrl-C outside of a command's body."""

File = Annotated[str, typer.Argument(help="A .thence file, or the bare name of a library file.")]
Sends = Annotated[
    Optional[str], typer.Option(help="Messages per process: one number for all, or one each, as 2,1,1.")  # noqa: UP045
]
Processes = Annotated[Optional[int], typer.Option(min=1, help="How many processes.")]  # noqa: UP045
SettingTexts = Annotated[
    Optional[list[str]],  # noqa: UP045
    typer.Option("--setting", help="A setting of the scope, as in files: 'losses 1', 'fifo', 'destinations 0 to 1'."),
]
ScopeName = Annotated[Optional[str], typer.Option("--scope", help="A scope of the file.")]  # noqa: UP045
MutantName = Annotated[Optional[str], typer.Option("--mutant", help="A mutant of the file, in place of its subject.")]  # noqa: UP045


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
    """Specifications, proofs and conformance tests for causal message delivery."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command()
def verify(
    files: Annotated[Optional[list[str]], typer.Argument(help="Files; by default the whole shipped library.")] = None,  # noqa: UP045
    report: Annotated[str, typer.Option(help="Where the HTML report goes.")] = "thence-report.html",
    cases: Annotated[int, typer.Option(min=1, help="Conformance cases per implementation.")] = 400,
    campaign_cases: Annotated[int, typer.Option(min=0, help="Cases of the Spark campaign; 0 leaves it out.")] = 2000,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Check everything that the files state: theorems, machines, scopes, links, mutants, implementations."""
    from thence.cli.commands import verify as verifying

    run_command(
        "verify",
        json,
        lambda session: verifying.verify(session, files or [], report, cases, campaign_cases, seed),
    )


@app.command()
def check(
    files: Annotated[list[str], typer.Argument(help=".thence files, or bare names of library files.")],
    json: Json = False,
) -> None:
    """Parse, resolve and type files; every fault with its place and a code."""
    from thence.cli.commands import files as command

    run_command("check", json, lambda session: command.check(files))


@app.command()
def fmt(
    files: Annotated[list[str], typer.Argument(help=".thence files.")],
    check_only: Annotated[
        bool, typer.Option("--check", help="Change nothing; exit 1 where a file would change.")
    ] = False,
    json: Json = False,
) -> None:
    """Write files in their canonical form; comments are kept."""
    from thence.cli.commands import files as command

    run_command("fmt", json, lambda session: command.fmt(files, check_only))


@app.command()
def run(
    file: File,
    scope: ScopeName = None,
    processes: Processes = None,
    sends: Sends = None,
    mutant: MutantName = None,
    setting: SettingTexts = None,
    seed: Seed = 0,
    steps: Annotated[int, typer.Option(min=1, help="At most so many steps.")] = 100,
    replay: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Replay the counterexample in this JSON file, from --json of explore, or a list of steps."),
    ] = None,
    scenario: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Play this scenario of the file: a named execution, with what it says of the states."),
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="List the scenarios of the file, and run nothing.")] = False,
    svg: Annotated[Optional[str], typer.Option(help="Write the space-time diagram to this file.")] = None,  # noqa: UP045
    json: Json = False,
) -> None:
    """Simulate a protocol step by step, replay a counterexample, or play a scenario."""
    from thence.cli.commands import explore as exploring
    from thence.cli.targets import Choice

    choice = Choice(file, scope, processes, sends, mutant, tuple(setting or ()))
    if scenario is not None or listed:
        from thence.cli.commands import scenarios as command

        run_command("run", json, lambda session: command.run_scenario(choice, scenario, replay, svg))
    run_command(
        "run",
        json,
        lambda session: exploring.simulate(choice, seed, steps, replay, svg),
    )


@app.command()
def explore(
    file: File,
    scope: ScopeName = None,
    processes: Processes = None,
    sends: Sends = None,
    mutant: MutantName = None,
    setting: SettingTexts = None,
    property_: Annotated[Optional[list[str]], typer.Option("--property", help="Judge only this; repeatable.")] = None,  # noqa: UP045
    limit: Annotated[Optional[int], typer.Option(min=1, help="Stop after so many states.")] = None,  # noqa: UP045
    reductions: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="auto (the default), none, names such as symmetry, or auto,delay. Verdicts stay the same."),
    ] = None,
    engine: Annotated[
        str, typer.Option(help="native, interpreted, or auto: native code for all but small scopes.")
    ] = "auto",
    cross_check: Annotated[bool, typer.Option("--cross-check", help="Both engines, which must agree.")] = False,
    storage: Annotated[
        str,
        typer.Option(help="exact; or layers: exact, in less memory, where every step is progress."),
    ] = "exact",
    any_number: Annotated[bool, typer.Option("--any-number", help="Any number of messages, not so many each.")] = False,
    memory: Annotated[Optional[str], typer.Option(help="At most so much for the states, such as 4G.")] = None,  # noqa: UP045
    threads: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(min=1, max=64, help="Of native code; by default one for each processor."),
    ] = None,
    svg: Annotated[Optional[str], typer.Option(help="Write the first counterexample's diagram to this file.")] = None,  # noqa: UP045
    itf: Annotated[Optional[str], typer.Option(help="Write its states to this file, as an ITF trace.")] = None,  # noqa: UP045
    trace: Annotated[Optional[str], typer.Option(help="Write its events to this file, as thence-trace/1.")] = None,  # noqa: UP045
    pytest: Annotated[Optional[str], typer.Option(help="Write a pytest file that replays it.")] = None,  # noqa: UP045
    json: Json = False,
) -> None:
    """Explore all that a protocol can do in a scope; shortest counterexamples."""
    from thence.cli.commands import explore as exploring
    from thence.cli.counterexamples import Files
    from thence.cli.targets import Choice

    run_command(
        "explore",
        json,
        lambda session: exploring.explore(
            session,
            Choice(file, scope, processes, sends, mutant, exploring.settings(setting or (), any_number)),
            property_ or [],
            exploring.Manner(limit, reductions, engine, cross_check, memory, threads, storage),
            Files(svg, itf, trace, pytest),
        ),
    )


@app.command()
def prove(
    file: File,
    names: Annotated[Optional[list[str]], typer.Argument(help="Theorems or machines; by default all.")] = None,  # noqa: UP045
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds per obligation and solver.")] = 10.0,
    seed: Seed = 0,
    cache: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Where answers are kept between runs; by default $THENCE_CACHE, or the user's cache."),
    ] = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Solve everything, keep nothing.")] = False,
    cores: Annotated[
        bool, typer.Option("--cores", help="Say which hypotheses each proof uses, and which none does.")
    ] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Prove again what a saved edit touches, until Ctrl-C.")
    ] = False,
    stability: Annotated[
        int, typer.Option(min=0, help="Put each obligation again under so many seeds, orders and names.")
    ] = 0,
    certificate: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Write a certificate to this directory: what was proved, for anybody to check again."),
    ] = None,
    author: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(help="Whom the certificate says to cite; repeatable."),
    ] = None,
    json: Json = False,
) -> None:
    """Prove theorems and machines for any number of processes and messages."""
    from thence.cli.commands import prove as proving
    from thence.cli.commands import recheck as certifying

    certified = None if certificate is None else certifying.CertificateRequest(certificate, tuple(author or ()))
    request = proving.Request(
        file, tuple(names or ()), timeout, seed, cache, no_cache, cores, watch, stability, certified
    )
    run_command("prove", json, lambda session: proving.prove(session, request))


@app.command()
def bmc(
    file: File,
    name: Annotated[
        Optional[str],  # noqa: UP045
        typer.Argument(help="A machine, a protocol, or a mutant; by default every machine and protocol."),
    ] = None,
    depth: Annotated[int, typer.Option(min=1, max=1000, help="How many steps.")] = 6,
    property_: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option("--property", help="Judge only this invariant or property; repeatable."),
    ] = None,
    scope: ScopeName = None,
    processes: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(min=1, help="Of a protocol, or of the universe in which runs of machines are looked for."),
    ] = None,
    sends: Sends = None,
    messages: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(min=1, help="Of the universe in which runs of machines are looked for."),
    ] = None,
    timeout: Annotated[
        float, typer.Option(min=0.1, help="Seconds for a protocol in a scope; for each question about a machine.")
    ] = 60.0,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Look for violations within so many steps: of a machine of any size, of a protocol in a scope."""
    from thence.cli.commands import bmc as bounding

    request = bounding.Request(
        file, name, depth, tuple(property_ or ()), scope, processes, sends, messages, timeout, seed
    )
    run_command("bmc", json, lambda session: bounding.bmc(session, request))


@app.command()
def recheck(
    directory: Annotated[str, typer.Argument(help="A certificate, from prove --certificate.")],
    proofs: Annotated[
        bool, typer.Option("--proofs/--no-proofs", help="Whether proof objects are checked; without, no level is L4.")
    ] = True,
    rederive: Annotated[
        bool,
        typer.Option(
            "--rederive/--no-rederive",
            help="Whether the obligations are derived again from the source; without, it is only known that the "
            "SMT-LIB2 files are unsatisfiable.",
        ),
    ] = True,
    jobs: Annotated[int, typer.Option(min=1, help="Solver processes at a time.")] = 2,
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds per obligation and solver.")] = 10.0,
    json: Json = False,
) -> None:
    """Check a certificate again, trusting nothing in it: 0 confirmed, 1 not what it says, 3 not decided."""
    from thence.cli.commands import recheck as certifying

    run_command(
        "recheck",
        json,
        lambda session: certifying.recheck(session, directory, jobs, timeout, proofs, rederive),
    )


app.command()(executions)


@app.command()
def export(
    file: File,
    name: Annotated[Optional[str], typer.Argument(help="A machine or protocol; by default the protocol.")] = None,  # noqa: UP045
    output: Annotated[str, typer.Option(help="The directory that gets the modules.")] = "tla",
    scope: ScopeName = None,
    processes: Processes = None,
    sends: Sends = None,
    mutant: MutantName = None,
    messages: Annotated[Optional[int], typer.Option(min=1, help="How many messages a machine has.")] = None,  # noqa: UP045
    json: Json = False,
) -> None:
    """Write a protocol or a machine as a TLA+ module that TLC runs."""
    from thence.cli.commands import export as exporting
    from thence.cli.targets import Choice

    run_command(
        "export",
        json,
        lambda session: exporting.export(Choice(file, scope, processes, sends, mutant), name, messages, output),
    )


app.command()(conform)


@app.command()
def matrix(
    protocol: Annotated[
        Optional[str],  # noqa: UP045
        typer.Argument(help="A library protocol, or a file with one: what is claimed, and what to replay."),
    ] = None,
    impl: Impl = None,
    exec_: Exec = None,
    exec_per_process: ExecPerProcess = None,
    processes: Annotated[int, typer.Option(min=2, max=MOST_PROCESSES, help="How many processes.")] = 3,
    cases: Annotated[int, typer.Option(min=1, help="Cases for each cell.")] = 400,
    operations: Annotated[int, typer.Option(min=1, help="Operations a case.")] = 12,
    seed: Seed = 0,
    reply_limit: Annotated[float, typer.Option(min=0.01, help="Seconds for a reply of a command.")] = 5.0,
    start_limit: Annotated[float, typer.Option(min=0.01, help="Seconds for the first reply of a command.")] = 20.0,
    memory_limit: MemoryLimit = "2G",
    schedules_from: Schedules = None,
    json: Json = False,
) -> None:
    """Drive a system under each assumption about channels and applications, one by one."""
    from thence.cli.commands import conform as conforming
    from thence.cli.commands import matrix as assuming

    def body(session: Any) -> Any:
        system = conforming.subject_name(impl, exec_, exec_per_process, protocol, needed=True)
        limits = conforming.limits_of(reply_limit, start_limit, memory_limit)
        sources = tuple(schedules_from or ())
        request = assuming.Request(protocol, system, processes, cases, operations, seed, limits, sources)
        return assuming.matrix(session, request)

    run_command("matrix", json, body)


@app.command()
def cover(
    protocol: Annotated[str, typer.Argument(help="A library protocol, or a file with one.")],
    impl: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="The implementation, as module:Class; without any, the protocol itself is run."),
    ] = None,
    exec_: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("--exec", help="The implementation, as a command that speaks thence-exec/1."),
    ] = None,
    exec_per_process: Annotated[
        Optional[str], typer.Option(help="The same, run once for each process of the system.")  # noqa: UP045
    ] = None,
    processes: Annotated[int, typer.Option(min=2, max=MOST_PROCESSES, help="How many processes.")] = 3,
    cases: Annotated[int, typer.Option(min=1, help="Cases for each scheduler.")] = 500,
    operations: Annotated[int, typer.Option(min=1, help="Operations a case.")] = 12,
    seed: Seed = 0,
    reply_limit: Annotated[float, typer.Option(min=0.01, help="Seconds for a reply of a command.")] = 5.0,
    start_limit: Annotated[float, typer.Option(min=0.01, help="Seconds for the first reply of a command.")] = 20.0,
    memory_limit: MemoryLimit = "2G",
    json: Json = False,
) -> None:
    """Compare the schedulers: what each hits, and which handlers, branches and states of the protocol it reaches."""
    from thence.cli.commands import conform as conforming
    from thence.cli.commands import cover as covering

    def body(session: Any) -> Any:
        system = conforming.subject_name(impl, exec_, exec_per_process, None, needed=False)
        system = impl or system
        limits = conforming.limits_of(reply_limit, start_limit, memory_limit)
        return covering.cover(session, covering.Request(protocol, system, processes, cases, operations, seed, limits))

    run_command("cover", json, body)


@app.command()
def mutate(
    file: Annotated[
        Optional[str],  # noqa: UP045
        typer.Argument(help="A .thence file, or the bare name of a library file; without one, the whole library."),
    ] = None,
    names: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Argument(help="Protocols or machines of the file, or impl; by default all that there are."),
    ] = None,
    impl: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="The implementation, as module:Class; by default the shipped one of a library file."),
    ] = None,
    limit: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(min=1, help="At most so many mutants of each, spread evenly over the text."),
    ] = None,
    budget: Annotated[
        Optional[float],  # noqa: UP045
        typer.Option(min=0.1, help="Seconds for each protocol, machine or implementation."),
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, max=64, help="Mutants that are judged at a time.")] = 2,
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds for one mutant; then it is undecided.")] = 120.0,
    at_least: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="The score that is expected; below it the exit code is 1.")
    ] = 0.0,
    save: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Write the mutants that stay alive to this directory, a file each."),
    ] = None,
    results: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Keep every fate in this directory, and judge no mutant again whose fate is there."),
    ] = None,
    json: Json = False,
) -> None:
    """Put small faults into protocols, machines and implementations, and see whether anything notices."""
    from thence.cli.commands import mutate as mutating
    from thence.conformance.mutation.run import Limits

    limits = Limits(jobs, timeout, limit, budget)
    request = mutating.Request(file, tuple(names or ()), impl, limits, at_least, save, results)
    run_command("mutate", json, lambda session: mutating.mutate(session, request))


@app.command()
def compare(
    protocols: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Argument(help="Library protocols with a shipped implementation; by default all."),
    ] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="As Markdown.")] = False,
    json: Json = False,
) -> None:
    """Count what implementations cost: metadata, space, operations, latency; beside what the literature claims."""
    from thence.cli.commands import compare as comparing

    names = tuple(protocols or ())
    run_command("compare", json, lambda session: comparing.compare_costs(session, names, markdown))


@app.command()
def demo(
    protocol: Annotated[str, typer.Argument(help="A library protocol with a shipped implementation.")] = "hybrid_basic",
    impl: Annotated[Optional[str], typer.Option(help="Another implementation, as module:Class.")] = None,  # noqa: UP045
    processes: Annotated[int, typer.Option(min=2, max=32, help="How many operating-system processes.")] = 3,
    messages: Annotated[int, typer.Option(min=1, max=10_000, help="Each sends so many, and may answer as many.")] = 30,
    carrier: Annotated[str, typer.Option(help="udp or tcp, on the loopback interface.")] = "udp",
    loss: Annotated[float, typer.Option(min=0, max=0.95, help="The share of frames that is lost.")] = 0.1,
    duplication: Annotated[float, typer.Option(min=0, max=0.95, help="The share that is sent twice.")] = 0.1,
    delay: Annotated[float, typer.Option(min=0, max=10_000, help="Frames are delayed by up to so many ms.")] = 5.0,
    seed: Seed = 0,
    out: Annotated[str, typer.Option(help="The folder for the recorded traces.")] = "thence-demo",
    time_limit: Annotated[float, typer.Option(min=0.1, max=3600, help="Seconds, after which it is over.")] = 60.0,
    json: Json = False,
) -> None:
    """Run an implementation in processes of its own over a bad network, record what happens, and judge it."""
    from thence.cli.commands import demo as demonstrating

    request = demonstrating.Request(
        protocol, impl, processes, messages, carrier, loss, duplication, delay, seed, out, time_limit
    )
    run_command("demo", json, lambda session: demonstrating.demonstrate(session, request))


TraceFormat = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option("--format", help="ndjson, itf, shiviz, jepsen or otlp; by default, what the file looks like."),
]
Merge = Annotated[
    bool, typer.Option("--merge", help="The files are logs of one run, without a common clock: put them together.")
]


@trace.command("check")
def trace_check(
    files: Annotated[list[str], typer.Argument(help="Recorded executions, in any of the formats, or folders of them.")],
    format_: TraceFormat = None,
    merge: Merge = False,
    spark: Annotated[
        Optional[bool],  # noqa: UP045
        typer.Option(help="Judge the files on Spark, or one after the other; by default as many or large as they are."),
    ] = None,
    master: Annotated[str, typer.Option(help="Any Spark master, whose workers have the files as well.")] = "local[*]",
    against: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="A library protocol or a file, or FILE:PROTOCOL, to replay every recorded event in."),
    ] = None,
    states: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(min=1, help="With --against: how many possible states are looked at; 20,000 by default."),
    ] = None,
    svg: Annotated[Optional[str], typer.Option(help="Write the diagram of what is wrong to this file.")] = None,  # noqa: UP045
    json: Json = False,
) -> None:
    """Judge recorded executions: causal, FIFO, stuck, duplicates; the first violation and what was missing."""
    from thence.cli.commands import trace as tracing

    def body(session: Any) -> Any:
        where, opposite = tracing.Where(spark, master), tracing.opposite(against, states)
        return tracing.check(session, files, format_, merge, where, opposite, svg)

    run_command("trace check", json, body)


@trace.command("convert")
def trace_convert(
    files: Annotated[list[str], typer.Argument(help="A recorded execution; with --merge, the logs of one.")],
    output: Annotated[str, typer.Option("--output", "-o", help="The file to write.")],
    to: Annotated[str, typer.Option(help="ndjson, itf or shiviz.")] = "ndjson",
    format_: TraceFormat = None,
    merge: Merge = False,
    json: Json = False,
) -> None:
    """Write a recorded execution in another format."""
    from thence.cli.commands import trace as tracing

    run_command("trace convert", json, lambda session: tracing.convert(files, output, to, format_, merge))


@trace.command("draw")
def trace_draw(
    file: Annotated[str, typer.Argument(help="A recorded execution, in any of the formats.")],
    svg: Annotated[Optional[str], typer.Option(help="Write the diagram as SVG to this file.")] = None,  # noqa: UP045
    format_: TraceFormat = None,
    json: Json = False,
) -> None:
    """Draw a recorded execution as a space-time diagram."""
    from thence.cli.commands import trace as tracing

    run_command("trace draw", json, lambda session: tracing.draw(file, svg, format_))


def main() -> None:
    """The entry point of the command `thence`. Exits by the rules of `session`, also where usage is wrong."""
    try:
        ended = app(standalone_mode=False)
    except _UsageError as error:
        path = "thence" if error.ctx is None else error.ctx.command_path
        message = f"{error.format_message().rstrip('.')}; see {path} --help"
        fail_usage(path.partition(" ")[2], "--json" in sys.argv, message)
    except BrokenPipeError:
        sys.exit(BAD_INPUT)
    sys.exit(UNKNOWN if ended == _INTERRUPTED else ended)
