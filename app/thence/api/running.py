"""One run of a protocol: at random, a recorded one again, or a scenario of the file."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from thence.api.errors import BadRequest
from thence.api.specifications import Source, file_of, load
from thence.api.statements import Execution, Explored, Results
from thence.api.targets import Choice, Sends, Target, sends_text, targets
from thence.dsl import ir
from thence.dsl.find import known
from thence.dsl.ir.observability import unobservable
from thence.dsl.ir.properties import FAULT
from thence.dsl.run.causality import Finding
from thence.dsl.run.identity_reuse import system_of
from thence.dsl.run.narrate import NarratedStep, describe, execution, record, text
from thence.dsl.run.narrate import replay as replayed
from thence.dsl.run.quiescence import Unsettled, blocked, stuck, unkept
from thence.dsl.run.scoped import watching
from thence.dsl.run.simulate import at_rest
from thence.dsl.run.simulate import simulate as simulated
from thence.dsl.run.system import System
from thence.proofs.scopes.reports import ORACLE_KINDS
from thence.proofs.scopes.scenarios import play_scenario
from thence.proofs.scopes.scopes import judgeable, properties_of
from thence.proofs.workload_facts import workload_facts
from thence.spec import events
from thence.spec.diagram import draw_svg, highlight_of
from thence.spec.oracle import Oracle
from thence.spec.verdict import Level, Verdict
from thence.spec.words import counted


@dataclass(frozen=True, slots=True)
class Manner:
    """How to run: at random from a seed, or again the steps that are recorded; and the properties asked for.

    Attributes:
        replay: the recorded steps; None: a run at random.
        about: properties that are judged, too, if none is asked for: those that the recorded run is said to violate.
    """

    seed: int = 0
    steps: int = 100
    replay: Sequence[Mapping[str, Any]] | None = None
    about: tuple[str, ...] = ()
    properties: tuple[str, ...] = ()


def simulate(
    source: Source,
    *,
    scope: str | None = None,
    processes: int | None = None,
    sends: Sends = None,
    mutant: str | None = None,
    settings: Sequence[str] = (),
    properties: Sequence[str] = (),
    seed: int = 0,
    steps: int = 100,
) -> Execution:
    """Runs a protocol at random, in the first of the chosen scopes, until something is violated or nothing can happen.

    Args:
        source, scope, processes, sends, mutant, settings: as of `thence.api.explore`.
        properties: what is judged; by default what the protocol promises.
        seed: fixes every random choice.
        steps: at most so many.

    Raises:
        UserError: the file, a name or a setting is at fault; the message says so in the words of the command.

    >>> import thence.api as th
    >>> th.simulate("fifo", seed=1).ended
    'rest'
    """
    if steps < 1:
        raise BadRequest(f"--steps {steps}: give a number from 1 up")
    choice = Choice(file_of(source), scope, processes, sends_text(sends), mutant, tuple(settings))
    target = targets(choice, load(source).content)[0]
    return ran(target, Manner(seed, steps, properties=tuple(properties)))


def replay(
    source: Source,
    steps: Explored | Execution | Sequence[Mapping[str, Any]],
    *,
    scope: str | None = None,
    processes: int | None = None,
    sends: Sends = None,
    mutant: str | None = None,
    settings: Sequence[str] = (),
) -> Execution:
    """Runs recorded steps again: those of a counterexample, or of another run. The scope is that of the steps, where
    they are a statement's and no other is named.

    Raises:
        ReplayError: a step is not possible where it stands.
        UserError: the file, a name or a setting is at fault; the message says so in the words of the command. A result
            without a run is one, too: that a state is never reached is shown by no run.
    """
    if isinstance(steps, Explored) and not {"counterexample", "steps"} & steps.facts.keys():
        raise BadRequest(f"{steps.name} comes with no run: {steps.explanation or steps.line}")
    if not isinstance(steps, Explored | Execution | Sequence) or isinstance(steps, str):
        raise BadRequest(f"replay: steps are those of a statement, or a list of them, and no {type(steps).__name__}")
    choice = Choice(file_of(source), scope, processes, sends_text(sends), mutant, tuple(settings))
    if not isinstance(steps, Explored | Execution):
        return ran(targets(choice, load(source).content)[0], Manner(replay=steps))
    if mutant is None and "/" in steps.subject:
        choice = replace(choice, mutant=steps.subject)
    if scope is None and not choice.changes:
        explored = steps.facts["scope"]
        choice = replace(choice, processes=explored["processes"], settings=tuple(explored["settings"]))
    there = targets(choice, load(source).content)
    target = next((each for each in there if each.subject == steps.subject), there[0])
    about = (str(steps.facts["property"]),) if "property" in steps.facts else ()
    return ran(target, Manner(replay=steps.steps, about=about))


def play(source: Source, scenario: str) -> Results[Execution]:
    """Plays a scenario of a file: a result for the execution itself, and one for each property expected of it.

    Raises:
        UserError: the file or the name is at fault; the message says so in the words of the command.

    >>> import thence.api as th
    >>> th.play("mf", th.load("mf").scenarios[0]).ok
    True
    """
    return Results(played(load(source).content, scenario))


def played(specification: ir.Specification, name: str) -> tuple[Execution, ...]:
    """The results of a scenario by its name. Raises: NotThere."""
    known(name, tuple(scenario.name for scenario in specification.scenarios), "scenario")
    scenario = next(scenario for scenario in specification.scenarios if scenario.name == name)
    return tuple(map(Execution.of, play_scenario(scenario)))


def ran(target: Target, manner: Manner) -> Execution:
    """Runs the protocol of a target.

    Raises:
        NotThere: a property is none that can be judged.
        ReplayError: a recorded step is not possible where it stands.
    """
    for name in manner.properties:
        known(name, judgeable(target.protocol, target.workload), "property")
    judged = manner.properties or tuple(dict.fromkeys((*properties_of(target.protocol), *manner.about)))
    protocol = watching(target.protocol, judged)
    system = system_of(protocol, target.workload)
    again = manner.replay is not None
    taken = (
        simulated(system, manner.seed, manner.steps, [name for name in judged if name not in protocol.witnesses])
        if manner.replay is None
        else replayed(system, [dict(step) for step in manner.replay])
    )
    end = end_of(system, taken, judged, again)
    findings = end.findings
    unseen = [why for name in manner.properties if (why := unobservable(protocol, name)) is not None]
    found = Verdict.UNKNOWN if unseen else Verdict.TESTED
    name = "replay" if again else f"run, seed {manner.seed}"
    return Execution(
        name=name,
        kind="scope",
        subject=target.subject,
        verdict=Verdict.REFUTED if findings else found,
        level=Level.L0,
        expected=not findings and not unseen,
        facts={
            "scope": workload_facts(target.scope, target.workload, target.protocol),
            "seed": manner.seed,
            "events": len(taken),
            "judged": list(judged),
            "ended": end.kind,
            "violated": sorted({finding.property for finding in findings}),
            **({"unknown": "; ".join(unseen)} if unseen and not findings else {}),
            "steps": record(system, taken),
        },
        explanation="\n\n".join([text(taken), *unseen, end.said]),
        picture=_drawn(execution(system, taken), findings, f"{target.subject}: {name}"),
    )


@dataclass(frozen=True, slots=True)
class End:
    """The end of a run: why it is there (`violation`, `rest`, `cut`, `replayed`), in words, and what was violated."""

    kind: str
    said: str
    findings: tuple[Finding, ...]


def end_of(system: System, taken: Sequence[NarratedStep], judged: Collection[str], again: bool) -> End:
    """How the run ended, and the violations of what is judged.

    That a message is not delivered, or a process waits for ever, is judged at rest only: a run that was cut says
    nothing of what would come. A recorded run is judged where it ends.
    """
    states = [system.initial(), *(step.outcome.state for step in taken)]
    found = [*system.broken(states[0])]
    for step in taken:
        found += [*step.outcome.findings, *system.broken(step.outcome.state)]
    rests = at_rest(system, states[-1])
    unknown = ""
    if rests or again:
        try:
            found += filter(None, (stuck(system, states[-1]), blocked(system, states[-1]), *unkept(system, states[-1])))
        except Unsettled as why:
            unknown = f"\nWhat comes of it in the end is unknown: {why}."
    wanted = {FAULT, *judged} - {*system.protocol.witnesses}
    findings = tuple({finding.property: finding for finding in reversed(found) if finding.property in wanted}.values())
    if findings:
        said = "\n".join(f"Refuted: {one.property}: {describe(one)}." for one in findings)
        return End("violation", said, findings)
    nothing = "nothing that is judged is violated"
    if rests:
        return End("rest", f"Nothing can happen any more; {nothing}.{unknown}", ())
    if again:
        return End("replayed", f"Replayed to its end, where more could happen; {nothing}.{unknown}", ())
    return End(
        "cut", f"Cut after {counted(len(taken), 'step')} (--steps), where more could happen; {nothing} so far.", ()
    )


def _drawn(observed: events.Execution, findings: Sequence[Finding], title: str) -> str:
    """The diagram as SVG, with the first violation that the oracle sees brought out, or the title."""
    kinds = {ORACLE_KINDS[finding.property] for finding in findings if finding.property in ORACLE_KINDS}
    oracle = Oracle(observed.processes)
    seen = [finding for event in observed.events for finding in oracle.observe(event)]
    seen += oracle.at_quiescence()
    shown = next((finding for finding in seen if finding.kind in kinds), None)
    return draw_svg(observed, None if shown is None else highlight_of(shown), title=title)
