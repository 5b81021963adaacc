"""A run as the text of a scenario, which `thence run --scenario` plays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from thence.dsl.find import Rejected
from thence.dsl.ir import PERIODICALLY
from thence.dsl.ir.types import PROCESS, Bool, Collection, Nat, Sort, Type
from thence.dsl.load import Loaded, load_bytes
from thence.dsl.run.actions import Outcome, State
from thence.dsl.run.execute import Delivered, Sent
from thence.dsl.run.narrate import NarratedStep, show_packet
from thence.dsl.run.scenario import play
from thence.dsl.run.system import System
from thence.dsl.run.values import Message, Packet, Value
from thence.dsl.write.settings import given_text
from thence.stepping.judging import violated
from thence.stepping.session import NotPossible, Session


@dataclass(slots=True)
class _Writing:
    """The lines so far, the names of the messages that were sent, and who has delivered which."""

    session: Session
    lines: list[str] = field(default_factory=list)
    names: dict[Message, str] = field(default_factory=dict)
    delivered: set[tuple[Message, int]] = field(default_factory=set)

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
        """What a step that chooses has changed, delivered and sent, as assertions, as far as other choices change,
        deliver or send something else: they say what was chosen."""
        if not step.action.script:
            return []
        system, process = self.session.system, step.action.process
        ways = [system.apply(before, each) for each in system.by_choice(before, step.action._replace(script=()))]
        own, *others = (system.locals_of(one.state)[process] for one in (step.outcome, *ways))
        found = zip(system.protocol.state, own, *others, strict=True)
        told = [
            (variable, self._expression(value, variable.type)) for variable, value, *rest in found if {value} < {*rest}
        ]
        said = [f"{one.name}@p{process} = {value}" for one, value in told if value is not None]
        return [f"assert {each}" for each in (*said, *self._handed(step, ways), *self._sent(step, ways))]

    def _handed(self, step: NarratedStep, ways: Sequence[Outcome]) -> Iterator[str]:
        """Which messages the step delivers, of those that only some of its ways deliver."""
        own = _delivered(step.outcome)
        for message in sorted({*own}.union(*map(_delivered, ways))):
            differs = any((message in _delivered(way)) != (message in own) for way in ways)
            if differs and (message, step.action.process) not in self.delivered:
                said = f"delivered_at({self.names[message]}, p{step.action.process})"
                yield said if message in own else f"not {said}"

    def _sent(self, step: NarratedStep, ways: Sequence[Outcome]) -> Iterator[str]:
        """How many of the packets are in flight that only some of the ways of the step send."""
        own = Counter(_packets(step.outcome))
        every = dict.fromkeys(sent for way in (step.outcome, *ways) for sent in _packets(way))
        flying = [self.session.system.packet(number) for number in step.outcome.state.network]
        said: dict[str, None] = {}
        for sent in every:
            if all(Counter(_packets(way))[sent] == own[sent] for way in ways):
                continue
            types = self._types(sent.kind)
            names = [f"x{position}" for position in range(1, len(types) + 1)]
            texts = [self._expression(value, type_) for value, type_ in zip(sent.arguments, types, strict=True)]
            told = [position for position, text in enumerate(texts) if text is not None]
            alike = [
                each
                for each in flying
                if (each.kind, each.src, each.dst) == (sent.kind, step.action.process, sent.to)
                and all(each.arguments[position] == sent.arguments[position] for position in told)
            ]
            equal = [f"{names[position]} = {texts[position]}" for position in told]
            where = " and ".join((f"x = p{step.action.process}", f"y = p{sent.to}", *equal))
            said[f"(count {sent.kind}({', '.join(names)}) from x to y in flight. {where}) = {len(alike)}"] = None
        yield from said

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
        types = self._types(packet.kind)
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

    def _types(self, kind: str) -> list[Type]:
        """The types of the fields of a kind of packet."""
        found = next(each for each in self.session.system.protocol.packets if each.name == kind)
        return [parameter.type for parameter in found.parameters]

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


def _delivered(outcome: Outcome) -> list[Message]:
    return [each.message for each in outcome.emissions if isinstance(each, Delivered)]


def _packets(outcome: Outcome) -> list[Sent]:
    return [each for each in outcome.emissions if isinstance(each, Sent)]


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
        writing.delivered |= {(message, step.action.process) for message in _delivered(step.outcome)}
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
    if not _same_steps(session.system, session.steps, played.system, played.steps):
        chooses = any(step.action.script for step in session.steps)
        why = "no assertion tells what it chooses" if chooses else "it would lead to other states"
        raise NotPossible(f"the run cannot be written as a scenario: {why}")
    return text


def _same_steps(one: System, steps: Sequence[NarratedStep], other: System, others: Sequence[NarratedStep]) -> bool:
    """Whether each step of two runs emits the same and leads to the same states, whatever it chooses inside."""

    def seen(system: System, step: NarratedStep) -> object:
        state = step.outcome.state
        return step.outcome.emissions, system.locals_of(state), Counter(map(system.packet, state.network))

    return [seen(one, step) for step in steps] == [seen(other, step) for step in others]


def free_name(source: Loaded, wanted: str) -> str:
    """The name, with a number behind it where the file has a scenario of this name."""
    assert source.specification is not None
    taken, name, use = {each.name for each in source.specification.scenarios}, wanted, 1
    while name in taken:
        use += 1
        name = f"{wanted}_{use}"
    return name
