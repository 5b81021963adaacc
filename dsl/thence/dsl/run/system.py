"""The whole system: processes, network, a workload, undelivered messages. `local_steps` numbers states and packets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import accumulate

from thence.dsl import ir
from thence.dsl.ir.observability import judged_in_steps, sees_network
from thence.dsl.run.actions import Action, Companion, Outcome, State, acts_of, cause_of
from thence.dsl.run.application_inputs import ApplicationInputs
from thence.dsl.run.broken import broken_at_rest, broken_invariant, disturbs
from thence.dsl.run.causality import WATCHED, Finding, History, delivered, network_sent, sent
from thence.dsl.run.choices import Choices, Chosen
from thence.dsl.run.evaluate import Acts
from thence.dsl.run.execute import Delivered, Emission, Guard, Sent
from thence.dsl.run.interpreter import Cause, Interpreter, LocalState, NotNow, Reactions, Step
from thence.dsl.run.local_steps import LocalStep, LocalSteps
from thence.dsl.run.promises import Promises
from thence.dsl.run.scoped import in_scope
from thence.dsl.run.values import Fault, Message, Occurrence, Packet
from thence.dsl.text.programs import receives


@dataclass(slots=True)
class System:
    """The transition system of a protocol in a workload. `WATCHED` properties are judged if it claims them.

    `counted` are the timers and inputs of which the scope says how often they come: those in `State.ticks`, in this
    order. `rested`: a state was judged in which nothing can happen any more. `sees_network`: some formula
    speaks of packets in flight. `of_steps` are the names of the formulas about actions. `companion`: follows each step;
    states are judged by it alone.
    """

    protocol: ir.Protocol
    workload: ir.Workload
    interpreter: Interpreter = field(init=False)
    steps: LocalSteps = field(init=False)
    counted: tuple[str, ...] = field(init=False, default=())
    promises: Promises | None = field(init=False, default=None)
    rested: bool = field(init=False, default=False)
    sees_network: bool = field(init=False, default=False)
    of_steps: frozenset[str] = field(init=False, default=frozenset())
    companion: Companion | None = field(init=False, default=None)
    _bases: tuple[int, ...] = field(init=False, default=())
    _carried: dict[str, int | None] = field(init=False, default_factory=dict)
    _watched: frozenset[str] = field(init=False, default=frozenset())
    _is_alone: bool = field(init=False, default=False)
    """Whether there is one step for each action: no process chooses, no application answers or has a program."""
    _accepted: dict[tuple[int, int, Message], bool] = field(init=False, default_factory=dict)
    _inputs: ApplicationInputs = field(init=False)
    _taken: dict[tuple[int, Action], bool] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.protocol = in_scope(self.protocol, self.workload)
        self.sees_network = sees_network(self.protocol.formulas)
        self.of_steps = frozenset(formula.name for formula in judged_in_steps(self.protocol))
        self._watched = frozenset(WATCHED) & {*self.protocol.properties}
        self.interpreter = Interpreter(self.protocol, self.workload.processes, self.workload.tree)
        self.steps = LocalSteps(self._handle)
        self._is_alone = not (self.interpreter.chooses or self.workload.reactive or self.workload.programs)
        timers = self.interpreter.timers
        limited = tuple(timer for timer in timers if self.workload.ticks_of(timer) is not None)
        self.counted = (*limited, *(use.name for use in self.workload.inputs))
        if self.protocol.promises:
            self.promises = Promises(self.protocol, self.workload.processes)
        self._bases = (0, *accumulate(self.workload.sends))
        self._carried = {packet.name: packet.carries for packet in self.protocol.packets}
        self._inputs = ApplicationInputs.of(self.protocol, self.workload)

    # --- tables ------------------------------------------------------------------------------

    def local(self, number: int) -> LocalState:
        """The local state with this number."""
        return self.steps.state(number)

    def packet(self, number: int) -> Packet:
        """The packet with this number."""
        return self.steps.packet(number)

    @property
    def sizes(self) -> tuple[int, int]:
        """The numbers of local states and of packets."""
        return self.steps.sizes

    def bit(self, message: Message) -> int:
        """The message's bit in the history's masks."""
        return 1 << (self._bases[message.src] + message.number)

    def carried(self, packet: Packet | Sent) -> Message | None:
        """The application message that the packet moves, if any."""
        position = self._carried.get(packet.kind)
        return None if position is None else packet.arguments[position]

    def packet_number(self, source: int, sent: Sent) -> int:
        """The number of the packet that `source` sends."""
        return self.number_of(Packet(sent.kind, source, sent.to, sent.arguments))

    def local_number(self, state: LocalState) -> int:
        """The number of a local state."""
        return self.steps.state_number(state)

    def number_of(self, packet: Packet) -> int:
        """The number of a packet."""
        return self.steps.packet_number(packet)

    def same_packet(self, number: int) -> int:
        """The part of a packet that stays the same on its way, as a number: here all of it."""
        return number

    @property
    def sends_on(self) -> bool:
        """Whether the application sends as long as it can: by a program, or since the protocol assumes so."""
        return bool(self.workload.programs) or "causal_send" in self.protocol.fairness

    @property
    def ticks_at_any_moment(self) -> bool:
        """Whether timers fire at any moment, without a limit: here only when nothing is in flight, see `workload`."""
        return False

    @property
    def counts_timers(self) -> bool:
        """Whether the scope says of some timer how often it fires."""
        return any(timer in self.counted for timer in self.interpreter.timers)

    def adopt_packets(self, other: System) -> None:
        """Takes over another system's packet numbers, so that its actions mean the same here."""
        for packet in other.steps.packets():
            self.number_of(packet)

    # --- the transition relation -------------------------------------------------------------

    def initial(self) -> State:
        """No message sent yet."""
        count = self.workload.processes
        state = State(
            tuple(self.local_number(self.interpreter.initial(process)) for process in range(count)),
            (),
            History((0,) * count, ()),
            (0,) * count,
            (0,) * count * len(self.counted),
            0,
            0,
            (0,) * count if self.workload.programs else (),
        )
        return state if self.promises is None else self._owing(state, None)

    def _owing(self, state: State, before: int | None) -> State:
        """The state with what is owed in it, where `before` was owed before it."""
        assert self.promises is not None
        return state._replace(owed=self.promises.owed(before, state.locals, self.locals_of(state)))

    def enabled(self, state: State) -> Iterator[Action]:
        """Every action that can happen, in a fixed order."""
        yield from self._application(state)
        yield from self.internal(state)

    def application_inputs(self, state: State, *, fair: bool = False) -> Iterator[Action]:
        """What the application can do besides sending, as often as the scope says; or, of that, what is `fair`."""
        for action in self._inputs.fair if fair else self._inputs.every:
            if self._is_left(state, action) and self.takes(state, action):
                yield from self._alternatives(state, action)

    def takes(self, state: State, action: Action) -> bool:
        """Whether the protocol takes the input; a fault counts as well: it is to be seen."""
        asked = state.locals[action.process], action
        if asked not in self._taken:
            self._taken[asked] = not self.refuses(action, asked[0], None)
        return self._taken[asked]

    def refuses(self, action: Action, local: int, message: Message | None) -> bool:
        """Whether the protocol lets the application wait with an action, in a local state. `message`: what it sends.

        A fault of the guard is none: it is to be seen.
        """
        process, before = action.process, self.local(local)
        try:
            if action.kind == "send":
                assert message is not None
                return not self.interpreter.accepts(process, before, message)
            if action.kind == "input":
                return not self.interpreter.takes(process, before, Occurrence(action.name, action.arguments))
        except Fault:
            return False
        return False

    def application_sends(self, state: State) -> Iterator[Action]:
        """The actions of the environment: a causal send, at any time, to any allowed destination."""
        for process, done in enumerate(state.sends):
            if done < self.workload.sends[process]:
                for destinations in self._next_destinations(state, process):
                    action = Action("send", process, destinations)
                    if self._accepts(state, action):
                        yield from self._alternatives(state, action)

    def _next_destinations(self, state: State, process: int) -> tuple[tuple[int, ...], ...]:
        """The sets of destinations that the next message of the process may have, by its program."""
        return self.next_destinations(process, state.places[process] if state.places else 0)

    def next_destinations(self, process: int, place: int) -> tuple[tuple[int, ...], ...]:
        """The sets of destinations that a message of the process may have at a place of its program, if it has one."""
        program = self.workload.programs[process] if self.workload.programs else None
        if program is None:
            return self.workload.choices(process)
        verb, others = program[place] if place < len(program) else ("receive", ())
        return (tuple(sorted(others)),) if verb == "send" else ()

    def _accepts(self, state: State, action: Action) -> bool:
        """Whether the protocol takes the message; a fault counts as well: it is to be seen."""
        if not self.interpreter.has_guard:
            return True
        process, message = action.process, self._message(state, action)
        key = (process, state.locals[process], message)
        known = self._accepted.get(key)
        if known is None:
            known = self._accepted[key] = not self.refuses(action, state.locals[process], message)
        return known

    def _in_program(self, state: State, action: Action) -> bool:
        """Whether the step hands over to the application only what its program is about to receive."""
        if not self.workload.programs:
            return True
        process = action.process
        message = self._subject(state, action)
        step = self.local_step(process, state.locals[process], action, message, self._reactions(state, action))
        return isinstance(step, Fault) or self.place_after(process, state.places[process], message, step[1]) is not None

    def place_after(
        self, process: int, place: int, message: Message | None, emissions: tuple[Emission, ...]
    ) -> int | None:
        """The position in the program of the process after a step; None if the step does not fit into the program."""
        program = self.workload.programs[process]
        if program is None:
            return place
        place += message is not None
        for emission in emissions:
            if isinstance(emission, Delivered):
                if not receives(program, place, emission.message.src):
                    return None
                place += 1
                if emission.then is not None:
                    if place >= len(program) or program[place] != ("send", emission.then.dsts):
                        return None
                    place += 1
        return place

    def internal(self, state: State) -> Iterator[Action]:
        """The actions that need no application: arrivals, timers, duplication, loss."""
        for number in self._heads(state):
            packet = self.packet(number)
            yield from self._alternatives(state, Action("receive", packet.dst, (), number))
            if state.duplicates < self.workload.duplicates:
                yield Action("duplicate", packet.src, (), number)
            if state.losses < self.workload.losses:
                yield Action("lose", packet.src, (), number)
        if self.interpreter.has_timer:
            yield from self._timers(state)

    def _timers(self, state: State) -> Iterator[Action]:
        for tick in self.ticks():
            if self.is_quiet(state) if tick.name not in self.counted else self._is_left(state, tick):
                yield from self._alternatives(state, tick)

    def _alternatives(self, state: State, action: Action) -> Iterator[Action]:
        """The action, once for each way in which the process chooses and the application reacts."""
        if self._is_alone:
            yield action
        else:
            yield from self._by_choice_in_program(state, action)
            yield from self._reacting(state, action)

    def by_choice(self, state: State, action: Action) -> Iterator[Action]:
        """The action with each script of choices that its step may follow; mostly just the action."""
        subject = self._subject(state, action)
        return self.by_script(state.locals[action.process], action, subject, self._reactions(state, action))

    def by_script(
        self, local: int, action: Action, message: Message | None, reactions: Reactions = ()
    ) -> Iterator[Action]:
        """The same in a local state. `message`: what the action sends; `reactions`: what is sent inside deliveries."""
        if not self.interpreter.chooses:
            yield action
            return
        for script in self.steps.scripts(action.process, local, cause_of(action, message), reactions):
            yield action._replace(script=script)

    def slot(self, action: Action) -> int | None:
        """The place in `State.ticks` of the timer or input; None where the scope does not count it."""
        if action.name not in self.counted:
            return None
        return self.counted.index(action.name) * self.workload.processes + action.process

    def _is_left(self, state: State, action: Action) -> bool:
        """Whether the scope's count allows the timer, at any moment, or the input once more."""
        slot, name, limit = self.slot(action), action.name, None
        if action.kind == "tick":
            limit = self.workload.ticks_of(name)
        elif name in self._inputs.limits:
            limit = self._inputs.limits[name][action.process]
        return slot is not None and limit is not None and bool(state.ticks) and state.ticks[slot] < limit

    def _reacting(self, state: State, action: Action) -> Iterator[Action]:
        """The same action, with a message that the application sends inside one of its deliveries."""
        if self.workload.reactive:
            local, made = state.locals[action.process], self._made(state, action)
            for each in self.reacting(local, action, self._subject(state, action), made):
                if self._in_program(state, each):
                    yield each

    def reacting(self, local: int, action: Action, message: Message | None, made: int) -> Iterator[Action]:
        """The same in a local state, whatever the program: the process has sent `made` messages, with that of the
        action."""
        process = action.process
        if made >= self.workload.sends[process]:
            return
        steps = [self.local_step(process, local, each, message) for each in self.by_script(local, action, message)]
        deliveries = [
            sum(isinstance(one, Delivered) for one in step.emissions) for step in steps if not isinstance(step, Fault)
        ]
        for number in range(max(deliveries, default=0)):
            for destinations in self.workload.choices(process):
                with_reaction = action._replace(reactions=((number, destinations),))
                messages = self.answers(with_reaction, made)
                for each in self.by_script(local, with_reaction, message, messages):
                    if _has_reacted(self.local_step(process, local, each, message, messages)):
                        yield each

    def _subject(self, state: State, action: Action) -> Message | None:
        """The message that the action sends, if it is a send."""
        return self._message(state, action) if action.kind == "send" else None

    def _reactions(self, state: State, action: Action) -> Reactions:
        """The messages of the action's reactions."""
        return self.answers(action, self._made(state, action)) if action.reactions else ()

    @staticmethod
    def _made(state: State, action: Action) -> int:
        """How many messages the process has sent, with that of the action."""
        return state.sends[action.process] + (action.kind == "send")

    @staticmethod
    def answers(action: Action, first: int) -> Reactions:
        """The messages of the action's reactions; the first of them has this number."""
        return tuple(
            (number, Message(action.process, first + position, destinations))
            for position, (number, destinations) in enumerate(action.reactions)
        )

    def is_quiet(self, state: State) -> bool:
        """Whether no packet can arrive: none is in flight, or programs keep those that are from arriving."""
        return not state.network or (bool(self.workload.programs) and next(self.receivable(state), None) is None)

    def receivable(self, state: State) -> Iterator[int]:
        """The distinct packets that may arrive next."""
        for number in self._heads(state):
            if next(self.arrivals(state, number), None) is not None:
                yield number

    def arrivals(self, state: State, number: int) -> Iterator[Action]:
        """The arrivals of a packet that may come next: one for each way in which its receiver chooses."""
        yield from self._by_choice_in_program(state, Action("receive", self.packet(number).dst, (), number))

    def every_arrival(self, state: State) -> Iterator[Action]:
        """The arrivals of all packets that may come next."""
        for number in self._heads(state):
            yield from self.arrivals(state, number)

    def _by_choice_in_program(self, state: State, action: Action) -> Iterator[Action]:
        yield from (each for each in self.by_choice(state, action) if self._in_program(state, each))

    def _heads(self, state: State) -> Iterator[int]:
        """The distinct packets that the network could let arrive next."""
        if self.protocol.network.reordering:
            yield from dict.fromkeys(state.network)
            return
        channels = set()
        for number in state.network:
            packet = self.packet(number)
            if (packet.src, packet.dst) not in channels:
                channels.add((packet.src, packet.dst))
                yield number

    def apply(self, state: State, action: Action, *, observe: bool = False) -> Outcome:
        """The state after `action`. A fault is a finding; it leaves the state as it was."""
        outcome = self._applied(state, action, observe)
        if outcome.findings and any(finding.property == "fault" for finding in outcome.findings):
            return replace(outcome, state=state)
        if self.promises is not None:
            return replace(outcome, state=self._owing(outcome.state, state.owed))
        return outcome if self.companion is None else self.companion.along(state, action, outcome)

    def _applied(self, state: State, action: Action, observe: bool) -> Outcome:
        match action.kind:
            case "send":
                return self._send(state, action, observe)
            case "receive":
                without = self._without(state.network, action.packet)
                return self._step(State(state.locals, without, *state[2:]), action, observe, None)
            case "tick" | "input":
                ticked, slot = state, self.slot(action)
                if slot is not None and self._is_left(state, action):
                    ticks = list(state.ticks)
                    ticks[slot] += 1
                    ticked = state._replace(ticks=tuple(ticks))
                return self._step(ticked, action, observe, None)
            case "duplicate":
                network = self._with(state.network, action.packet)
                return Outcome(state._replace(network=network, duplicates=state.duplicates + 1), (), ())
            case "lose":
                network = self._without(state.network, action.packet)
                return Outcome(state._replace(network=network, losses=state.losses + 1), (), ())

    def _message(self, state: State, action: Action) -> Message:
        """The message that the application sends by this action."""
        return Message(action.process, state.sends[action.process], action.destinations)

    def _send(self, state: State, action: Action, observe: bool) -> Outcome:
        process = action.process
        message, sends = self._message(state, action), list(state.sends)
        sends[process] += 1
        history = sent(state.history, process, message, self.bit(message))
        sent_it = State(state.locals, state.network, history, tuple(sends), *state[4:])
        return self._step(sent_it, action, observe, message)

    def _handle(
        self,
        process: int,
        local: LocalState,
        cause: Cause,
        reactions: Reactions,
        choices: Choices | None,
        observe: bool,
    ) -> Step:
        return self.interpreter.step(process, local, cause, reactions, choices, observe=observe)

    def local_step(
        self, process: int, before: int, action: Action, message: Message | None = None, reactions: Reactions = ()
    ) -> LocalStep | Fault:
        """The effect of the handler of `action` on the local state `before`: its number after, and the emissions.

        `message` is the message sent, for the action `send`; `reactions` the messages that are sent inside deliveries.
        """
        return self.steps.step(process, before, cause_of(action, message), reactions, action.script)

    def cause(self, state: State, action: Action) -> tuple[Cause, Reactions]:
        """Why the process of an action that is enabled takes its step, and what is sent inside deliveries of it."""
        given = cause_of(action, self._subject(state, action))
        return self.packet(given) if isinstance(given, int) else given, self._reactions(state, action)

    def chosen(self, state: State, action: Action) -> tuple[Chosen, ...]:
        """What the step of an action that is enabled chooses."""
        if not action.script:
            return ()
        choices = Choices(action.script)
        with suppress(Fault):
            cause, reactions = self.cause(state, action)
            self._handle(action.process, self.local(state.locals[action.process]), cause, reactions, choices, False)
        return tuple(choices.chosen)

    def is_faulty(self, state: State, action: Action) -> bool:
        """Whether the step of an action that is enabled is at fault."""
        if action.kind in ("duplicate", "lose"):
            return False
        process, message = action.process, self._subject(state, action)
        step = self.local_step(process, state.locals[process], action, message, self._reactions(state, action))
        return isinstance(step, Fault)

    def _observed_step(
        self, process: int, before: int, action: Action, message: Message | None, reactions: Reactions
    ) -> tuple[LocalStep | Fault, tuple[Guard, ...]]:
        cause = cause_of(action, message)
        try:
            step = self.steps.take(process, before, cause, reactions, action.script, observe=True)
        except Fault as fault:
            return fault, ()
        return LocalStep(self.local_number(step.state), step.emissions), step.guards

    def _step(self, state: State, action: Action, observe: bool, message: Message | None) -> Outcome:
        process = action.process
        before = state.locals[process]
        guards: tuple[Guard, ...] = ()
        # The message of a send is counted already.
        reactions = self._reactions(state, action._replace(kind="receive")) if action.reactions else ()
        if observe:
            known, guards = self._observed_step(process, before, action, message, reactions)
        else:
            known = self.local_step(process, before, action, message, reactions)
        if isinstance(known, Fault):
            return Outcome(state, (), (Finding("fault", process, message, detail=str(known)),), message)
        after, emissions = known
        locals_ = state.locals
        locals_ = locals_ if after == before else (*locals_[:process], after, *locals_[process + 1 :])
        history, network, findings, sends = state.history, state.network, [], state.sends
        for emission in emissions:
            match emission:
                case Delivered(delivery, then):
                    history, wrong = delivered(history, process, delivery, self.bit, self._watched)
                    findings += wrong
                    if then is not None:
                        history = sent(history, process, then, self.bit(then))
                        sends = (*sends[:process], sends[process] + 1, *sends[process + 1 :])
                case Sent(kind, arguments, to):
                    packet = Packet(kind, process, to, arguments)
                    carried = self.carried(packet)
                    if carried is not None:
                        findings += network_sent(history, process, carried, self.bit)
                    network = self._with(network, self.number_of(packet))
        places = state.places
        if places:
            place = self.place_after(process, places[process], message, emissions)
            assert place is not None, "a step that the program does not allow"
            places = (*places[:process], place, *places[process + 1 :])
        after_state = State(locals_, network, history, sends, state.ticks, state.duplicates, state.losses, places)
        findings += self._broken_by_step(after_state, action, emissions) if self.of_steps else ()
        return Outcome(after_state, emissions, tuple(findings), message, guards)

    def _broken_by_step(self, after: State, action: Action, emissions: tuple[Emission, ...]) -> list[Finding]:
        """The formulas about actions that are not true right after the step."""
        acted = self.acts(after, action, emissions)
        found = self.interpreter.broken_by_step(self.locals_of(after), self.flying(after), acted) if acted else ()
        return [broken_invariant(name, fault, self.protocol.witnesses, action.process) for name, fault in found]

    def acts(self, after: State, action: Action, emissions: tuple[Emission, ...]) -> Acts:
        """What the process did in the step that led to the state `after`."""
        cause = self.cause(after, action)[0] if action.kind in ("receive", "input") else None
        return acts_of(action.process, cause, emissions)

    def _with(self, network: tuple[int, ...], number: int) -> tuple[int, ...]:
        return self.arranged((*network, number))

    def arranged(self, network: tuple[int, ...]) -> tuple[int, ...]:
        """The packets as a state has them; on FIFO networks those of one channel stay in order."""
        if self.protocol.network.reordering:
            return tuple(sorted(network))
        return tuple(sorted(network, key=self._channel))

    def _channel(self, number: int) -> tuple[int, int]:
        packet = self.packet(number)
        return packet.src, packet.dst

    @staticmethod
    def _without(network: tuple[int, ...], number: int) -> tuple[int, ...]:
        at = network.index(number)
        return (*network[:at], *network[at + 1 :])

    # --- judgements about a state ------------------------------------------------------------

    def locals_of(self, state: State) -> tuple[LocalState, ...]:
        """The processes' states."""
        return tuple(self.local(number) for number in state.locals)

    def flying(self, state: State) -> tuple[Packet, ...]:
        """The packets in flight, if the protocol says something of them."""
        return tuple(map(self.packet, state.network)) if self.sees_network else ()

    def broken(self, state: State) -> tuple[Finding, ...]:
        """The invariants that are not true in the state. One that has no value is violated.

        A `reachable` formula without a value is found as `undefined`. Formulas `at rest` are judged where nothing can
        happen any more; a promise without a value is broken.
        """
        if self.companion is not None:
            return self.companion.broken(state)
        found = self.interpreter.broken_invariants(self.locals_of(state), flying := self.flying(state))
        broken = tuple(broken_invariant(name, fault, self.protocol.witnesses) for name, fault in found)
        if self.protocol.rest and self.is_at_rest(state):
            found = self.interpreter.broken_at_rest(self.locals_of(state), flying)
            broken += tuple(broken_at_rest(name, fault) for name, fault in found)
        if self.promises is not None:
            unclear = dict(self.promises.without_value(self.locals_of(state)))
            broken += tuple(Finding(name, 0, detail=f"{name} has no value: {fault}") for name, fault in unclear.items())
        return broken

    def is_at_rest(self, state: State) -> bool:
        """Whether nothing has to happen any more: nothing can arrive, the application can do nothing that is fair, and
        no timer changes anything, however often the scope lets timers fire.

        What is not fair may never happen: a process that can crash need not. `rested` says that in some such state the
        application could do nothing at all.
        """
        sending = self.sends_on or not self.workload.ends
        if not self.is_quiet(state) or next(self._assumed(state, sending=sending), None) is not None:
            return False
        for tick in self.late_timers(state):
            outcome = self.apply(state, tick)
            changed = outcome.state.locals != state.locals or outcome.state.network != state.network
            if changed or disturbs(outcome.findings, self.of_steps):
                return False
        self.rested = self.rested or next(self._application(state), None) is None
        return True

    def _application(self, state: State) -> Iterator[Action]:
        yield from self.application_sends(state)
        yield from self.application_inputs(state)

    def goes_on(self, state: State) -> bool:
        """Whether the application has to do something in the state: to send, or what is fair of its inputs."""
        return next(self._assumed(state, sending=self.sends_on), None) is not None

    def _assumed(self, state: State, *, sending: bool) -> Iterator[Action]:
        """What the application does as far as it can, by assumption."""
        if sending:
            yield from self.application_sends(state)
        yield from self.application_inputs(state, fair=True)

    def without_counts(self, state: State) -> tuple[int, ...]:
        """The counts of inputs as they are, and those of timers at their limits: they count no more."""
        if not self.workload.inputs:
            return ()
        count = self.workload.processes
        limits = [self.workload.ticks_of(timer) for timer in self.counted if timer in self.interpreter.timers]
        full = [limit or 0 for limit in limits for _ in range(count)]
        return (*full, *state.ticks[len(full) :])

    def continuing(self, state: State, *, sending: bool) -> list[Action]:
        """The actions by which a run goes on when nothing is lost or duplicated any more: arrivals, timers, inputs that
        are fair, and sends if `sending`.

        Timers fire whenever nothing is in flight, whatever `ticks` says; beyond `ticks` only once there is nothing to
        send either.
        """
        actions = list(self.every_arrival(state))
        sends = list(self._assumed(state, sending=sending))
        waits = bool(actions) or (bool(sends) and self.counts_timers)
        timers = [] if waits and not self.ticks_at_any_moment else self.late_timers(state)
        return [*actions, *timers, *sends]

    def late_timers(self, state: State) -> Iterator[Action]:
        """The timers, as they fire when nothing is in flight, whatever `ticks` says."""
        if self.interpreter.has_timer and (self.is_quiet(state) or self.ticks_at_any_moment):
            for tick in self.ticks():
                yield from self._by_choice_in_program(state, tick)

    def ticks(self) -> list[Action]:
        """Each timer of each process."""
        everyone = range(self.workload.processes)
        return [Action("tick", process, name=timer) for timer in self.interpreter.timers for process in everyone]

    def has_to_send(self, state: State, process: int) -> bool:
        """Whether the application of the process has a message left to send, now or later."""
        return state.sends[process] < self.workload.sends[process]


def _has_reacted(step: LocalStep | Fault) -> bool:
    """Whether the application has sent inside a delivery of the step, which it was to do; a fault is to be seen."""
    if isinstance(step, Fault):
        return not isinstance(step, NotNow)
    return any(isinstance(each, Delivered) and each.then is not None for each in step.emissions)
