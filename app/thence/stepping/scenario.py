"""A run as the text of a scenario, which `thence run --scenario` plays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from thence.dsl.find import Rejected
from thence.dsl.ir import PERIODICALLY
from thence.dsl.ir.types import PROCESS, Bool, Collection, Nat, Sort, Type
from thence.dsl.load import Loaded, load_bytes
from thence.dsl.run.actions import State
from thence.dsl.run.execute import Delivered
from thence.dsl.run.narrate import NarratedStep, show_packet
from thence.dsl.run.scenario import play
from thence.dsl.run.values import Message, Packet, Value
from thence.dsl.write.settings import given_text
from thence.stepping.judging import violated
from thence.stepping.session import NotPossible, Session


@dataclass(slots=True)
class _Writing:
    """The lines so far, and the names of the messages that were sent."""

    session: Session
    lines: list[str] = field(default_factory=list)
    names: dict[Message, str] = field(default_factory=dict)

    def line(self, before: State, number: int, step: NarratedStep) -> str:
        """The line of a step. Raises: NotPossible, where a scenario has no words for it."""
        action, process = step.action, f"p{step.action.process}"
        if any(isinstance(each, Delivered) and each.then is not None for each in step.outcome.emissions):
            raise NotPossible(f"step {number} sends inside a delivery, which a scenario cannot say: {step.title}")
        match action.kind:
            case "send":
                assert step.outcome.subject is not None
                name = self._named(step.outcome.subject)
                return f"{process} sends {name} to {', '.join(f'p{p}' for p in action.destinations) or 'none'}"
            case "input":
                handler = next(each for each in self.session.system.protocol.inputs if each.kind == action.name)
                types = [parameter.type for parameter in handler.parameters]
                values = [self._value(value, type_) for value, type_ in zip(action.arguments, types, strict=True)]
                return f"{process} does {action.name}({', '.join(value or '' for value in values)})"
            case "tick":
                return f"{process} ticks" if action.name == PERIODICALLY else f"{process} ticks {action.name}"
        packet = self.session.system.packet(action.packet)
        shown = self._packet(before, packet, number)
        if action.kind == "receive":
            return f"{process} receives {shown} from p{packet.src}"
        return (
            f"network {'loses' if action.kind == 'lose' else 'duplicates'} {shown} from p{packet.src} to p{packet.dst}"
        )

    def chosen(self, before: State, step: NarratedStep) -> list[str]:
        """What a step that chooses has changed, as assertions: they say what was chosen."""
        if not step.action.script:
            return []
        system, process = self.session.system, step.action.process
        old, new = (system.locals_of(state)[process] for state in (before, step.outcome.state))
        found = zip(system.protocol.state, old, new, strict=True)
        changed = [(variable, self._expression(value, variable.type)) for variable, was, value in found if was != value]
        return [f"assert {one.name}@p{process} = {said}" for one, said in changed if said is not None]

    def _named(self, message: Message) -> str:
        name, use = message.name.replace(".", "_"), 1
        while name in self.names.values():
            use += 1
            name = f"{message.name.replace('.', '_')}_{use}"
        self.names[message] = name
        return name

    def _packet(self, before: State, packet: Packet, number: int) -> str:
        """The packet by its first arguments that can be written, as many as tell it from others in flight."""
        system = self.session.system
        kind = next(each for each in system.protocol.packets if each.name == packet.kind)
        types = [parameter.type for parameter in kind.parameters]
        written: list[str] = []
        for value, type_ in zip(packet.arguments, types, strict=True):
            text = self._value(value, type_)
            if text is None:
                break
            written.append(text)
        others = [system.packet(other) for other in dict.fromkeys(before.network)]
        alike = [other for other in others if _same_beginning(other, packet, len(written))]
        if len(alike) > 1:
            raise NotPossible(
                f"step {number} is about one of several packets that a scenario cannot tell apart: "
                f"{' or '.join(show_packet(system, other) for other in alike)}"
            )
        rest = ["..."] if len(written) < len(types) else []
        return f"{packet.kind}({', '.join([*written, *rest])})"

    def _expression(self, value: Value, type_: Type) -> str | None:
        """A value as an expression of an assertion: also options and sets."""
        match type_:
            case Collection("option", of):
                said = None if value is None else self._value(value[0], of)
                return "none" if value is None else said and f"some({said})"
            case Collection("set", of):
                parts = [self._value(one, of) for one in sorted(value)]
                return None if None in parts else f"{{{', '.join(map(str, parts))}}}" if parts else "empty"
            case _:
                return self._value(value, type_)

    def _value(self, value: Value, type_: Type) -> str | None:
        """A value as an expression of a scenario; None for one that has no such form."""
        match type_:
            case Bool():
                return "true" if value else "false"
            case Nat():
                return str(value)
            case Sort("process"):
                return f"p{value}"
            case Sort("message"):
                return self.names.get(value)
            case _:
                return None


def _same_beginning(other: Packet, packet: Packet, count: int) -> bool:
    same = (other.kind, other.src, other.dst) == (packet.kind, packet.src, packet.dst)
    return same and other.arguments[:count] == packet.arguments[:count]


def _given(session: Session, name: str, value: int | bool) -> str:
    """The value of a constant, or the process that has a role."""
    roles = {each.name for each in session.protocol.constants if each.type == PROCESS}
    return f"p{value}" if name in roles else given_text(value)


def scenario_text(session: Session, name: str) -> str:
    """The run as a scenario. What the protocol promises and the run violates is expected to be refuted.

    Raises:
        NotPossible: the name is none, or some step has no form in scenarios.
    """
    if not name.isidentifier():
        raise NotPossible(f"{name} is no name; write letters, digits and _")
    writing = _Writing(session)
    states = session.states
    for number, (before, step) in enumerate(zip(states, session.steps, strict=False), 1):
        writing.lines += [writing.line(before, number, step), *writing.chosen(before, step)]
    protocol, _, mutant = session.subject.partition("/")
    head = f"scenario {name} of {protocol}{f' with {mutant}' if mutant else ''}:"
    cast = f"processes {', '.join(f'p{p}' for p in range(session.workload.processes))}"
    links = [f"link p{a} to p{b}" for a, b in (*session.workload.tree, *session.workload.links)]
    given = [f"{name} = {_given(session, name, value)}" for name, value in session.workload.constants]
    wrong = [answer.property for answer in violated(session)]
    expected = [f"expect refuted {', '.join(wrong)}"] if wrong else []
    return "\n".join([head, *(f"  {line}" for line in (cast, *links, *given, *writing.lines, *expected))]) + "\n"


def with_scenario(session: Session, source: Loaded, name: str) -> str:
    """The text of the file, and after it the scenario; playing it leads to the same states.

    Raises:
        NotPossible: the file has a scenario of this name, or the scenario does not play as the run did.
    """
    assert source.specification is not None
    if any(each.name == name for each in source.specification.scenarios):
        raise NotPossible(f"the file has a scenario {name} already")
    text = f"{source.source.text.rstrip()}\n\n{scenario_text(session, name)}"
    loaded = load_bytes(source.path, text.encode())
    if loaded.specification is None:
        errors: Sequence[str] = [found.message for found in loaded.diagnostics if found.severity == "error"]
        raise NotPossible(f"the run cannot be written as a scenario: {'; '.join(errors)}") from Rejected(loaded)
    scenario = next(each for each in loaded.specification.scenarios if each.name == name)
    played = play(scenario)
    if played.failure is not None:
        raise NotPossible(f"the run cannot be written as a scenario: {played.failure.why}")
    if [step.action.script for step in played.steps] != [step.action.script for step in session.steps]:
        raise NotPossible("the run cannot be written as a scenario: no assertion tells what it chooses")
    ends = [step.outcome.state for step in played.steps]
    end = played.system.locals_of(ends[-1]) if ends else played.system.locals_of(played.system.initial())
    if end != session.system.locals_of(session.state):
        raise NotPossible("the run cannot be written as a scenario: it would lead to other states")
    return text
