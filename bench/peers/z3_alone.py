"""The machine `buffers` of `mf.thence` written by hand for Z3, as one would write it for Ivy or mypyvy.

No history comes built in, so sends, deliveries and happens-before are relations of the file, and the facts about them
are stated.

Each formula of the invariant is proved to be true at first, and to be kept by each transition, one query each. Safety
only: what the library proves besides (that nothing starves or gets stuck, that each transition can happen, the answer
of a second solver, a certificate) is left out. Run as a program it prints the number of queries and their time.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import z3

MESSAGE = z3.DeclareSort("message")
PROCESS = z3.DeclareSort("process")
SRC = z3.Function("src", MESSAGE, PROCESS)
DST = z3.Function("dst", MESSAGE, PROCESS)
RELATIONS = {
    "sent": (MESSAGE,),
    "delivered": (MESSAGE,),
    "before": (MESSAGE, MESSAGE),
    "past": (PROCESS, MESSAGE),
    "hb": (MESSAGE, MESSAGE),
    "delivered_before": (MESSAGE, MESSAGE),
    "network_sent": (MESSAGE,),
    "waiting": (MESSAGE,),
    "got": (MESSAGE,),
    "ahead": (MESSAGE, MESSAGE),
}
A, B, C = z3.Consts("a b c", MESSAGE)
P = z3.Const("p", PROCESS)
M = z3.Const("m", MESSAGE)  # the message and the process of a transition: arbitrary, never bound
Q = z3.Const("q", PROCESS)

State = dict[str, z3.FuncDeclRef]


def state(suffix: str) -> State:
    return {name: z3.Function(name + suffix, *sorts, z3.BoolSort()) for name, sorts in RELATIONS.items()}


@dataclass(frozen=True)
class Transition:
    """What it requires of the state before, and what it changes: relation to its new value at variables."""

    guard: Callable[[State], z3.BoolRef]
    updates: Callable[[State], dict[str, tuple[tuple[z3.ExprRef, ...], z3.BoolRef]]]


def causal_send(s: State) -> dict[str, tuple[tuple[z3.ExprRef, ...], z3.BoolRef]]:
    return {
        "hb": ((A, B), z3.If(B == M, s["past"](SRC(M), A), s["hb"](A, B))),
        "before": ((A, B), z3.If(B == M, z3.And(s["sent"](A), SRC(A) == SRC(M)), s["before"](A, B))),
        "past": ((P, A), z3.Or(s["past"](P, A), z3.And(SRC(M) == P, A == M))),
        "sent": ((A,), z3.Or(s["sent"](A), A == M)),
    }


def deliver(s: State) -> dict[str, tuple[tuple[z3.ExprRef, ...], z3.BoolRef]]:
    known = z3.And(s["delivered"](A), DST(A) == DST(M), A != M)
    learned = z3.And(DST(M) == P, z3.Or(A == M, s["hb"](A, M)))
    return {
        "delivered_before": ((A, B), z3.If(B == M, known, s["delivered_before"](A, B))),
        "past": ((P, A), z3.Or(s["past"](P, A), learned)),
        "delivered": ((A,), z3.Or(s["delivered"](A), A == M)),
    }


def may_network_send(s: State) -> z3.BoolRef:
    return z3.And(
        s["sent"](M),
        z3.Not(s["network_sent"](M)),
        z3.ForAll(A, z3.Implies(s["before"](A, M), s["network_sent"](A))),
        z3.ForAll(A, z3.Implies(s["waiting"](A), SRC(A) != SRC(M))),
    )


def may_deliver(s: State) -> z3.BoolRef:
    earlier = z3.ForAll(A, z3.Implies(s["ahead"](A, M), s["delivered"](A)))
    return z3.And(s["got"](M), z3.Not(s["delivered"](M)), earlier)


TRANSITIONS = {
    "causal_send": Transition(lambda s: z3.Not(s["sent"](M)), causal_send),
    "network_send": Transition(
        may_network_send,
        lambda s: {
            "network_sent": ((A,), z3.Or(s["network_sent"](A), A == M)),
            "waiting": ((A,), z3.Or(s["waiting"](A), A == M)),
        },
    ),
    "get": Transition(
        lambda s: z3.And(s["network_sent"](M), z3.Not(s["got"](M))),
        lambda s: {
            "got": ((A,), z3.Or(s["got"](A), A == M)),
            "ahead": ((A, B), z3.If(B == M, z3.And(s["got"](A), DST(A) == DST(M)), s["ahead"](A, B))),
        },
    ),
    "deliver": Transition(may_deliver, deliver),
    "acknowledge": Transition(
        lambda s: z3.Exists(A, z3.And(s["waiting"](A), SRC(A) == Q, s["got"](A))),
        lambda s: {"waiting": ((A,), z3.And(s["waiting"](A), SRC(A) != Q))},
    ),
}


def invariant(s: State) -> dict[str, z3.BoolRef]:
    """What is to be proved, what the file's machine states, and what Thence keeps of the history by itself."""
    sent, delivered, before, past, hb = s["sent"], s["delivered"], s["before"], s["past"], s["hb"]
    delivered_before, posted, waiting, got, ahead = (
        s["delivered_before"], s["network_sent"], s["waiting"], s["got"], s["ahead"],
    )  # fmt: skip
    same = DST(A) == DST(B)
    in_order = z3.And(delivered(A), delivered_before(A, B))
    of_one_sender = z3.And(sent(A), sent(B), SRC(A) == SRC(B), A != B)
    return {
        "causal": z3.ForAll([A, B], z3.Implies(z3.And(hb(A, B), same, delivered(B)), in_order)),
        "fifo": z3.ForAll([A, B], z3.Implies(z3.And(before(A, B), same, delivered(B)), in_order)),
        "no_creation": z3.ForAll(A, z3.Implies(delivered(A), sent(A))),
        "life": z3.ForAll(A, z3.And(
            z3.Implies(waiting(A), posted(A)), z3.Implies(got(A), posted(A)),
            z3.Implies(delivered(A), got(A)), z3.Implies(posted(A), sent(A)),
        )),
        "acknowledged_got": z3.ForAll(A, z3.Implies(z3.And(posted(A), z3.Not(waiting(A))), got(A))),
        "output_order": z3.ForAll([A, B], z3.Implies(z3.And(before(A, B), posted(B)), posted(A))),
        "one_at_a_time": z3.ForAll([A, B], z3.Implies(z3.And(before(A, B), posted(B)), z3.Not(waiting(A)))),
        "input_order": z3.ForAll([A, B], z3.Implies(ahead(A, B), z3.And(got(A), got(B), same, A != B))),
        "input_total": z3.ForAll(
            [A, B], z3.Implies(z3.And(got(A), got(B), same, A != B), z3.Or(ahead(A, B), ahead(B, A)))
        ),
        "input_transitive": z3.ForAll([A, B, C], z3.Implies(z3.And(ahead(A, B), ahead(B, C)), ahead(A, C))),
        "past_got": z3.ForAll([P, A], z3.Implies(z3.And(past(P, A), SRC(A) != P), got(A))),
        "hb_got": z3.ForAll([A, B], z3.Implies(z3.And(hb(A, B), SRC(A) != SRC(B)), got(A))),
        "got_order": z3.ForAll([A, B], z3.Implies(z3.And(hb(A, B), same, got(B)), z3.And(got(A), ahead(A, B)))),
        "queue_order": z3.ForAll([A, B], z3.Implies(z3.And(ahead(A, B), delivered(B)), in_order)),
        "history_before": z3.ForAll([A, B], z3.Implies(before(A, B), of_one_sender)),
        "history_before_total": z3.ForAll([A, B], z3.Implies(of_one_sender, z3.Or(before(A, B), before(B, A)))),
        "history_before_hb": z3.ForAll([A, B], z3.Implies(before(A, B), hb(A, B))),
        "history_hb": z3.ForAll([A, B], z3.Implies(hb(A, B), z3.And(sent(A), sent(B), A != B))),
        "history_hb_own": z3.ForAll([A, B], z3.Implies(z3.And(hb(A, B), SRC(A) == SRC(B)), before(A, B))),
        "history_hb_transitive": z3.ForAll([A, B, C], z3.Implies(z3.And(hb(A, B), hb(B, C)), hb(A, C))),
        "history_past": z3.ForAll([P, A], z3.Implies(past(P, A), sent(A))),
        "history_past_own": z3.ForAll(A, z3.Implies(sent(A), past(SRC(A), A))),
        "history_past_closed": z3.ForAll([P, A, B], z3.Implies(z3.And(past(P, B), hb(A, B)), past(P, A))),
        "history_hb_past": z3.ForAll([A, B], z3.Implies(hb(A, B), past(SRC(B), A))),
        "history_delivered_past": z3.ForAll(A, z3.Implies(delivered(A), past(DST(A), A))),
        "history_delivered_before": z3.ForAll([A, B], z3.Implies(
            delivered_before(A, B), z3.And(delivered(A), delivered(B), same, A != B))),
    }  # fmt: skip


def proved(hypotheses: list[z3.BoolRef], goal: z3.BoolRef) -> bool:
    solver = z3.Solver()
    solver.set("timeout", 60_000)
    solver.add(*hypotheses, z3.Not(goal))
    return bool(solver.check() == z3.unsat)


def check() -> tuple[int, list[str]]:
    """The number of queries, and those that Z3 does not prove."""
    now, then = state(""), state("'")
    holds, kept = invariant(now), invariant(then)
    nothing = [z3.ForAll(list(_variables(name)), z3.Not(then[name](*_variables(name)))) for name in RELATIONS]
    left = [f"{name} at first" for name in kept if not proved(nothing, kept[name])]
    for called, transition in TRANSITIONS.items():
        changed = transition.updates(now)
        step = [transition.guard(now)]
        for name in RELATIONS:
            at, value = changed.get(name, (_variables(name), now[name](*_variables(name))))
            step.append(z3.ForAll(list(at), then[name](*at) == value))
        left += [f"{name} kept by {called}" for name in kept if not proved([*holds.values(), *step], kept[name])]
    return len(kept) * (1 + len(TRANSITIONS)), left


def _variables(relation: str) -> tuple[z3.ExprRef, ...]:
    names = iter((A, B, C))
    return tuple(P if sort == PROCESS else next(names) for sort in RELATIONS[relation])


def main() -> None:
    begun = time.perf_counter()
    queries, left = check()
    print(f"{queries} queries, {len(left)} not proved, {time.perf_counter() - begun:.3f} s")
    for each in left:
        print(each)


if __name__ == "__main__":
    main()
