"""Solvers against plain computation: over small universes whatever a solver says can be counted out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import product
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, MESSAGE, NAT, PROCESS, Sort, Type
from thence.dsl.run.machine_run import HISTORY_RELATIONS, MachineRun, MachineState, Refusal
from thence.dsl.run.values import Fault, Message
from thence.proofs.logic.formula import conj, disj, equal, forall, holds, local, negation, substitute
from thence.proofs.logic.obligation import Obligation, Signature
from thence.proofs.logic.smt import smt_text
from thence.proofs.logic.structure import Structure, Table, Value, evaluate, tuples
from thence.proofs.machine.obligations import conjuncts, preservations, signature_of
from thence.proofs.machine.transitions import Action, actions, after, enabled, initial, step, symbols
from thence.proofs.solving.finite_models import Problem, find_model
from thence.proofs.solving.solver import Check, SolverPool

Library = Callable[[str], ir.Specification]

# --- formulas ----------------------------------------------------------------------------------

M, N, P = (ir.Variable(name, type_) for name, type_ in (("m", MESSAGE), ("n", MESSAGE), ("p", PROCESS)))
SIGNATURE = Signature(
    (PROCESS, MESSAGE),
    (),
    (
        ir.Symbol("marked", (M,), BOOL),
        ir.Symbol("edge", (M, N), BOOL),
        ir.Symbol("open", (P,), BOOL),
        ir.Symbol("home", (M,), PROCESS),
    ),
)
SIZES: tuple[Mapping[str, int], ...] = tuple(
    {"process": processes, "message": messages} for processes, messages in ((1, 1), (2, 1), (1, 2), (2, 2))
)


def home(message: ir.Variable) -> ir.Expr:
    return ir.Apply(PROCESS, "home", (local(message),))


ATOMS = (
    holds("marked", local(M)),
    holds("marked", local(N)),
    holds("edge", local(M), local(N)),
    holds("edge", local(N), local(M)),
    holds("edge", local(M), local(M)),
    holds("open", local(P)),
    holds("open", home(M)),
    equal(local(M), local(N)),
    equal(home(N), local(P)),
    equal(home(M), home(N)),
)


def grown(inner: st.SearchStrategy[ir.Expr]) -> st.SearchStrategy[ir.Expr]:
    bound = st.sampled_from((M, N, P))
    return st.one_of(
        st.builds(negation, inner),
        st.builds(
            lambda operator, left, right: ir.Connective(BOOL, operator, left, right),
            st.sampled_from(("and", "or", "implies", "iff")),
            inner,
            inner,
        ),
        st.builds(
            lambda kind, variable, body: ir.Quantified(BOOL, kind, (ir.Bound(variable.type, variable.name),), body),
            st.sampled_from(("forall", "exists")),
            bound,
            inner,
        ),
        st.builds(lambda test, then, other: ir.Conditional(BOOL, test, then, other), inner, inner, inner),
    )


def closed(body: ir.Expr) -> ir.Expr:
    some = ir.Quantified(BOOL, "exists", (ir.Bound(MESSAGE, "n"), ir.Bound(PROCESS, "p")), body)
    return ir.Quantified(BOOL, "forall", (ir.Bound(MESSAGE, "m"),), some)


formulas = st.recursive(st.sampled_from(ATOMS), grown, max_leaves=7).map(closed)


def structures(signature: Signature, universe: Mapping[str, int]) -> Iterator[Structure]:
    """Every structure of a size."""
    cells = [(symbol, key) for symbol in signature.symbols for key in keys(symbol, universe)]
    for values in product(*[domain(symbol.result, universe) for symbol, _ in cells]):
        tables: dict[str, dict[tuple[int, ...], Value]] = {symbol.name: {} for symbol in signature.symbols}
        for (symbol, key), value in zip(cells, values, strict=True):
            tables[symbol.name][key] = value
        yield Structure(universe, tables)


def keys(symbol: ir.Symbol, universe: Mapping[str, int]) -> Iterator[tuple[int, ...]]:
    return tuples([parameter.type for parameter in symbol.parameters], universe)


def domain(type_: Type, universe: Mapping[str, int]) -> tuple[Value, ...]:
    if type_ == BOOL:
        return (False, True)
    assert isinstance(type_, Sort)
    return tuple(range(universe[type_.name]))


@pytest.mark.long
@settings(derandomize=True, deadline=None, max_examples=40)
@given(formulas)
def test_solvers_against_every_small_structure(pool: SolverPool, formula: ir.Expr) -> None:
    """A model is found at a size iff one of all structures of that size is one; and no solver denies it."""
    named = ir.NamedFormula("it", formula)
    some = False
    for size in SIZES:
        exists = any(evaluate(formula, structure, {}) for structure in structures(SIGNATURE, size))
        found = find_model(pool, Problem(SIGNATURE, (named,)), timeout_ms=20_000, seed=0, sizes=(size,))
        assert not found.unknown
        assert (found.model is not None) == exists
        some = some or exists
    denied = Obligation("denied", SIGNATURE, (named,), ir.NamedFormula("false", ir.Literal_(BOOL, False)))
    for solver in ("z3", "cvc5"):
        answer = pool.ask(Check("z3" if solver == "z3" else "cvc5", smt_text(denied), 2_000, 0))
        assert not (answer.status == "unsat" and some), solver


# --- obligations -------------------------------------------------------------------------------

TINY = """
machine tiny:
  relation got(m: message)
  transition causal_send(m): pass
  transition get(m):
    require {guard}
    got(m) := true
  transition deliver(m):
    require got(m) and not delivered(m)
  invariant got_sent: forall m. got(m) implies sent(m)
  invariant undelivered: forall m. got(m) implies not delivered(m)
  prove no_creation
"""


@pytest.mark.long
@pytest.mark.parametrize("guard", ["sent(m)", "not got(m)"])
def test_obligations_against_every_structure_with_one_message(
    pool: SolverPool, specify: Callable[[str], ir.Specification], guard: str
) -> None:
    """What a solver proves is true in all of them; what is false in one of them no solver proves."""
    (machine,) = specify(TINY.format(guard=guard)).machines
    every = [
        structure
        for size in ({"process": 1, "message": 1}, {"process": 2, "message": 1})
        for structure in structures(signature_of(machine), size)
    ]
    known = conjuncts(machine)
    proved = refuted = 0
    for each in preservations(machine, known, known):
        obligation = each.obligation
        answer = pool.ask(Check("z3", smt_text(obligation), 5_000, 0))
        valid = all(is_valid(obligation, structure) for structure in every)
        assert not (answer.status == "unsat" and not valid), obligation.name
        proved += answer.status == "unsat"
        refuted += not valid
    assert proved >= 30 and refuted >= 1


def is_valid(obligation: Obligation, structure: Structure) -> bool:
    names = [constant.name for constant in obligation.constants]
    for values in tuples([constant.type for constant in obligation.constants], structure.universe):
        environment = dict(zip(names, values, strict=True))
        assumed = all(evaluate(each.body, structure, environment) for each in obligation.hypotheses)
        if assumed and not evaluate(obligation.goal.body, structure, environment):
            return False
    return True


# --- transitions -------------------------------------------------------------------------------


def drawn(machine: ir.Machine, universe: Mapping[str, int], random: Random) -> Structure:
    """A structure with arbitrary tables: not a reachable state, in general."""
    tables: dict[str, Table] = {}
    for symbol in symbols(machine):
        values = (0, 1, 2) if symbol.result == NAT else domain(symbol.result, universe)
        tables[symbol.name] = {key: random.choice(values) for key in keys(symbol, universe)}
    return Structure(universe, tables)


def element(value: int, type_: Type) -> ir.Variable:
    return ir.Variable(f"{type_}{value}", type_)


def described(machine: ir.Machine, structure: Structure) -> tuple[ir.NamedFormula, ...]:
    """Formulas that say what the structure is: its elements, and the value of every symbol."""
    facts: list[ir.Expr] = []
    for sort in (PROCESS, MESSAGE):
        every = [element(value, sort) for value in range(structure.universe[sort.name])]
        facts += [negation(equal(local(one), local(other))) for at, one in enumerate(every) for other in every[:at]]
        some = ir.Variable("any", sort)
        facts.append(forall((some,), disj(equal(local(some), local(one)) for one in every)))
    for symbol in symbols(machine):
        types = [parameter.type for parameter in symbol.parameters]
        for key, value in structure.tables[symbol.name].items():
            arguments = tuple(local(element(item, type_)) for item, type_ in zip(key, types, strict=True))
            applied = ir.Apply(symbol.result, symbol.name, arguments)
            if symbol.result in (BOOL, NAT):
                facts.append(equal(applied, ir.Literal_(symbol.result, value)))
            else:
                facts.append(equal(applied, local(element(int(value), symbol.result))))
    return tuple(ir.NamedFormula(f"fact {at}", fact) for at, fact in enumerate(facts))


def follows(pool: SolverPool, machine: ir.Machine, structure: Structure, formula: ir.Expr) -> bool:
    """Whether the solver proves the formula of the structure, or its denial: it must prove one."""
    constants = tuple(element(at, sort) for sort in (PROCESS, MESSAGE) for at in range(structure.universe[sort.name]))
    facts = described(machine, structure)

    def proved(goal: ir.Expr) -> bool:
        obligation = Obligation("it", signature_of(machine), facts, ir.NamedFormula("it", goal), constants)
        return pool.ask(Check("z3", smt_text(obligation), 20_000, 0)).status == "unsat"

    said = proved(formula), proved(negation(formula))
    assert said in ((True, False), (False, True))
    return said[0]


def given_arguments(expr: ir.Expr, action: Action, arguments: tuple[int, ...]) -> ir.Expr:
    values = zip(action.parameters, arguments, strict=True)
    return substitute(expr, {each.name: local(element(value, each.type)) for each, value in values})


@settings(derandomize=True, deadline=None, max_examples=12)
@given(st.sampled_from((("mf", "buffers"), ("hybrid_basic", "permits"))), st.integers(0, 10_000))
def test_the_encoding_of_a_step_against_the_step(
    pool: SolverPool, library: Library, which: tuple[str, str], seed: int
) -> None:
    """In an arbitrary state: the same transitions are enabled, and the same is true after them."""
    (machine,) = [each for each in library(which[0]).machines if each.name == which[1]]
    random = Random(seed)
    before = drawn(machine, {"process": 2, "message": 2}, random)
    action = random.choice(actions(machine))
    types = [parameter.type for parameter in action.parameters]
    arguments = random.choice(list(tuples(types, before.universe)))
    guard = given_arguments(conj(guard.body for guard in action.guards), action, arguments)
    assert follows(pool, machine, before, guard) == enabled(action, arguments, before)
    then = step(action, arguments, before)
    for conjunct in random.sample(conjuncts(machine), 3):
        said = given_arguments(after(conjunct.formula.body, action), action, arguments)
        assert follows(pool, machine, before, said) == evaluate(conjunct.formula.body, then, {})


# --- machines as links run them, and as they are proved ----------------------------------------

RUN = (
    ("mf", "buffers"),
    ("mf_pipelined", "pipelined"),
    ("hybrid_basic", "permits"),
    ("cbcast", "vector_clocks"),
    ("hybrid_multicast", "multicast_permits"),
)
STAND_INS = 3
"""Unsent messages of each kind; at least as many as a formula of these machines speaks about at once."""


@settings(derandomize=True, deadline=None, max_examples=12)
@given(st.sampled_from(RUN), st.integers(0, 10_000))
def test_machine_runs_against_transitions(library: Library, which: tuple[str, str], seed: int) -> None:
    """Random runs: what a link replays into is what is proved, transition by transition."""
    (machine,) = [each for each in library(which[0]).machines if each.name == which[1]]
    both = Both(machine, Random(seed))
    for _ in range(14):
        both.advance()
    assert both.taken >= 3


BEGUN = """
machine begun:
  relation fresh(m: message)
  relation open(p: process)
  relation wanted(p: process, m: message)
  relation over()
  function left(p: process): nat
  function size(m: message): nat
  initial:
    forall m: fresh(m) := exists p. p != src(m) and p != dst(m)
    forall p: open(p) := not (exists q. q != p)
    forall p, m: wanted(p, m) := p != src(m)
    over() := exists p, q: process. p != q
    forall p: left(p) := if exists q. q != p then 2 else 0
    forall m: size(m) := if src(m) = dst(m) then 0 else 1
  transition causal_send(m):
    require wanted(dst(m), m) and over()
    forall p: wanted(p, m) := wanted(p, m) and open(p)
    fresh(m) := false
  transition deliver(m):
    require sent(m) and left(dst(m)) > 0
    forall p: left(p) := if p = dst(m) then left(p) - size(m) else left(p)
    forall p: open(p) := open(p) or p = src(m)
    forall x: size(x) := if fresh(x) then size(x) + 1 else size(x)
  prove no_creation
"""


@pytest.mark.parametrize("seed", range(8))
def test_machine_runs_begin_as_transitions_do(specify: Callable[[str], ir.Specification], seed: int) -> None:
    (machine,) = specify(BEGUN).machines
    both = Both(machine, Random(seed))
    assert both.run.initial() != MachineRun(replace(machine, initial=()), 3, both.ends).initial()
    both.compare()
    for _ in range(14):
        both.advance()
    assert both.taken >= 3


class Both:
    """One run in both: a `MachineRun` over messages, and a structure that also has unsent ones of each kind."""

    def __init__(self, machine: ir.Machine, random: Random) -> None:
        self.machine, self.random = machine, random
        self.multicast = machine.delivery != "unicast"
        self.ends = [(0, (1, 2) if self.multicast else (1,)), (1, (2,))]
        self.kinds = [0, 1, 0] + [kind for kind in (0, 1) for _ in range(STAND_INS)]
        self.run = MachineRun(machine, 3, self.ends)
        self.state: MachineState = self.run.initial()
        universe = {"process": 3, "message": len(self.kinds)}
        given: dict[str, Table] = {"src": {(at,): self.ends[kind][0] for at, kind in enumerate(self.kinds)}}
        if self.multicast:
            given["to"] = {
                (at, process): process in self.ends[kind][1]
                for at, kind in enumerate(self.kinds)
                for process in range(3)
            }
        else:
            given["dst"] = {(at,): self.ends[kind][1][0] for at, kind in enumerate(self.kinds)}
        self.structure = initial(machine, universe, given)
        self.names: dict[int, Message] = {}
        self.taken = 0
        self.by_name = {action.name: action for action in actions(machine)}

    def advance(self) -> None:
        """Tries a transition in both: the same answer, and the same state after it."""
        action = self.random.choice(list(self.by_name.values()))
        if len(self.names) < 2:
            action = self.by_name["causal_send"]
        arguments, named = self.arguments(action)
        if arguments is None:
            return
        possible = enabled(action, arguments, self.structure)
        if action.name == "causal_send":
            assert possible
        try:
            after_step = self.run.step(self.state, action.name, named)
        except Fault:
            return
        assert isinstance(after_step, Refusal) != possible, (action.name, named)
        if isinstance(after_step, Refusal):
            return
        self.taken += 1
        self.state, self.structure = after_step, step(action, arguments, self.structure)
        if action.name == "causal_send":
            assert isinstance(named[0], Message)
            self.names[arguments[0]] = named[0]
        self.compare()

    def arguments(self, action: Action) -> tuple[tuple[int, ...] | None, list[Message | int]]:
        chosen: list[int] = []
        named: list[Message | int] = []
        for parameter in action.parameters:
            if parameter.type == PROCESS:
                chosen.append(self.random.randrange(3))
                named.append(chosen[-1])
                continue
            free = [at for at in range(3) if (at in self.names) != (action.name == "causal_send")]
            if not free:
                return None, []
            at = self.random.choice(free)
            source, destinations = self.ends[self.kinds[at]]
            number = sum(message.src == source for message in self.names.values())
            chosen.append(at)
            named.append(self.names.get(at, Message(source, number, destinations)))
        return tuple(chosen), named

    def compare(self) -> None:
        """Every relation has the same tuples of sent messages, every function the same values."""
        for position, name in enumerate((*HISTORY_RELATIONS, *(symbol.name for symbol in self.machine.symbols))):
            symbol = next(each for each in symbols(self.machine) if each.name == name)
            for key in keys(replace(symbol), self.structure.universe):
                types = [parameter.type for parameter in symbol.parameters]
                if any(type_ == MESSAGE and at not in self.names for at, type_ in zip(key, types, strict=True)):
                    continue
                entry = tuple(self.names[at] if type_ == MESSAGE else at for at, type_ in zip(key, types, strict=True))
                value = self.structure.tables[name][key]
                if symbol.result == BOOL:
                    assert (entry in self.state[position]) == value, (name, entry)
                else:
                    kept = {known[:-1]: known[-1] for known in self.state[position]}
                    assert kept.get(entry, 0) == value, (name, entry)
