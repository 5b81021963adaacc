"""Random claims that something leads to something in a random machine: as text, and judged by brute force.

A claim is false in a world where some run that is weakly fair to its transitions has P at some time, and Q neither then
nor later. Such a run ends in a set of states that reach each other without Q, in which each of these steps that is
always enabled is taken; or it stops where none of them is enabled.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from random import Random

from tests.proofs.machine.against_brute_force.random_machines import (
    WRITES,
    Edge,
    Formula,
    Graph,
    Machine,
    Meaning,
    State,
    Transition,
    View,
    _components,
    of_message,
    of_two,
    random_machine,
)


@dataclass(frozen=True)
class HelpStep:
    """`transition(o) for o while left`, or `transition(m) while left`. Guards may bind `o`, too."""

    transition: str
    variable: str
    left: Formula

    @property
    def text(self) -> str:
        bound = " for o" if self.variable == "o" else ""
        return f"    {self.transition}({self.variable}){bound} while {self.left.text}"


@dataclass(frozen=True)
class Claim:
    name: str
    given: Formula
    goal: Formula
    steps: tuple[HelpStep, ...]

    @property
    def text(self) -> str:
        head = f"  eventually {self.name}(m): {self.given.text} leads to {self.goal.text} by:"
        return "\n".join([head, *(step.text for step in self.steps)])


def machine_with_claims(seed: int) -> tuple[str, Machine, tuple[Claim, ...]]:
    """The text of a machine without invariants, the machine, and its claims: two drawn, two that may be true."""
    chance = Random(f"liveness {seed}")
    machine = replace(random_machine(seed), invariants={}, reachable={}, stable={}, prove=("no_creation",))
    waits_for = chance.choice(of_two("o", "m")[:2])
    transitions = tuple(_livelier(each, waits_for, chance) for each in machine.transitions)
    written = {WRITES[number] for each in transitions for number in each.effects}
    missing = tuple(
        2 * at + chance.randrange(2) for at, kind in enumerate(("mark", "busy", "total")) if kind not in written
    )
    last = replace(
        transitions[-1], effects=(*transitions[-1].effects, *missing)
    )  # else a relation that nothing changes
    machine = replace(machine, transitions=(*transitions[:-1], last))
    names = [each.name for each in transitions if each.name != "causal_send"]
    claims = (
        *(_claim(f"drawn{number}", names, chance) for number in range(2)),
        *(
            _near_claim(f"near{number}", names, waits_for.text[: waits_for.text.index("(")], chance)
            for number in range(2)
        ),
    )
    plain = replace(machine, names={name: "{" + name + "}" for name in machine.names}).text
    return (plain + "\n".join(claim.text for claim in claims)).format(**machine.names) + "\n", machine, claims


def _livelier(transition: Transition, waits_for: Formula, chance: Random) -> Transition:
    """With fewer guards, most of the time; `deliver` may wait for what came before."""
    sent, delivered, marked, *_ = of_message("m")
    least = {"act": (sent, marked.denied()), "deliver": (sent, delivered.denied())}.get(transition.name, ())
    kept = least if chance.random() < 0.75 else (*least, *transition.guards)
    if transition.name == "deliver" and chance.random() < 0.5:
        waits = waits_for.implies(of_message("o")[1])
        kept = (*kept, Formula(f"(forall o: message. {waits.text})", _for_all(waits)))
    effects = tuple(number for number in transition.effects if number != 1 or chance.random() < 0.3)
    effects = (0,) if transition.name == "act" and chance.random() < 0.8 else effects or transition.effects
    return replace(transition, guards=kept, effects=effects)


def _for_all(body: Formula) -> Meaning:
    return lambda v, e: all(body.holds(v, {**e, "o": o}) for o in range(v.world.messages))


def _near_claim(name: str, transitions: list[str], waits_for: str, chance: Random) -> Claim:
    """What somebody would write; often with a fault."""
    sent, delivered, marked, *others = of_message("m")
    first = {"before": 0, "hb": 1}[waits_for]
    earlier = of_two("o", "m")[first if chance.random() < 0.8 else chance.randrange(5)]
    same = Formula("o = m", lambda v, e: e["o"] == e["m"])
    either = Formula(f"(o = m or {earlier.text})", lambda v, e: same.holds(v, e) or earlier.holds(v, e))
    steps = [HelpStep("deliver", "o", either & of_message("o")[1].denied())]
    goal = delivered
    if "act" in transitions and chance.random() < 0.4:
        own = HelpStep("act", "m", marked.denied())
        goal, steps = (marked, [own]) if chance.random() < 0.5 else (marked & delivered, [*steps, own])
    given = sent if chance.random() < 0.7 else sent & chance.choice(others)
    if chance.random() < 0.3:
        steps.insert(chance.randrange(len(steps) + 1), _step(chance.choice(transitions), chance))
    return Claim(name, given, goal, tuple(steps))


def _claim(name: str, transitions: list[str], chance: Random) -> Claim:
    sent, delivered, marked, *others = of_message("m")
    goal = chance.choice((delivered, delivered, delivered, marked, marked.denied(), chance.choice(others)))
    given = chance.choice((sent, sent, sent, delivered, marked, sent & chance.choice(others)))
    steps = [_step(chance.choice(("deliver", *transitions)), chance) for _ in range(chance.choice((1, 1, 2, 2, 3)))]
    return Claim(name, given, goal, tuple(steps))


def _step(transition: str, chance: Random) -> HelpStep:
    own = {"deliver": 1, "act": 2}.get(transition, 2)
    if chance.random() < 0.3:
        left = of_message("m")[own].denied() if chance.random() < 0.8 else chance.choice(of_message("m"))
        return HelpStep(transition, "m", left)
    atom = of_message("o")[own]
    left = atom.denied() if chance.random() < 0.8 else chance.choice(of_message("o"))
    earlier = chance.choice(of_two("o", "m")[:5])
    same = Formula("o = m", lambda v, e: e["o"] == e["m"])
    either = Formula(f"(o = m or {earlier.text})", lambda v, e: same.holds(v, e) or earlier.holds(v, e))
    left = (either if chance.random() < 0.8 else earlier) & left
    if chance.random() < 0.5:
        left = of_message("o")[0] & left
    return HelpStep(transition, "o", left)


# --- the meaning -------------------------------------------------------------------------------


def false_in(claim: Claim, graph: Graph) -> bool:
    """Whether a fair run of this world breaks the claim. States of which not all steps are known are left out."""
    fair = {step.transition for step in claim.steps}
    return any(_broken(claim, graph, fair, m) for m in range(graph.world.messages))


def _broken(claim: Claim, graph: Graph, fair: set[str], m: int) -> bool:
    views = {state: View(graph.world, state) for state in graph.steps}
    without = {state for state, view in views.items() if not claim.goal.holds(view, {"m": m})}
    reached = _reached({state for state in without if claim.given.holds(views[state], {"m": m})}, without, graph)
    moves = {state: [edge for edge in graph.steps[state] if edge[2] in reached] for state in reached}
    return any(_is_fair(component, moves, graph, fair) for component in _components(reached, moves))


def _reached(starts: set[State], among: set[State], graph: Graph) -> set[State]:
    found, waiting = set(starts), list(starts)
    while waiting:
        for _, _, then in graph.steps[waiting.pop()]:
            if then in among and then not in found:
                found.add(then)
                waiting.append(then)
    return found


def _is_fair(component: set[State], moves: dict[State, list[Edge]], graph: Graph, fair: Iterable[str]) -> bool:
    """Whether a run can stay there that takes each of the steps that are always enabled."""
    enabled = [{edge[:2] for edge in graph.steps[state] if edge[0] in fair} for state in component]
    taken = {edge[:2] for state in component for edge in moves[state] if edge[2] in component}
    return set.intersection(*enabled) <= taken
