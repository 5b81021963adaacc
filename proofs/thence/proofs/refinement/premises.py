"""What a proved link rests on besides its obligations: for which systems it is proved.

NOTE(premises): a proof of a link takes the axioms of its machine for granted. An axiom may be false of a run of the
protocol, and then the proof says nothing about that run. So each axiom, built in or written, is one of two things.
Either it is shown: it follows from what the interpreter lets an application do and from what is given, by an
obligation of the link. Or it is named: the verdict says that it is assumed. An axiom about processes alone has to be
shown, where a run chooses what it speaks about: nobody can promise the order of processes, or the shape of a tree.

What an application may do differs between scopes: with `self sends` or without, among one process or several. The
least of it that gives the most axioms is a premise of the link, which the verdict states, too. Which axioms are worth
showing is decided in small systems. That they are true in all is left to the obligations.

NOTE(constants): a proof takes the constants of the protocol to have the values of its text, and a scope may give them
others. So the values are premises, too. A role that is the only one is any process, unless the machine knows the
numbers of processes or the network is a tree.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product

from thence.dsl import ir
from thence.dsl.check.workloads.defaults import all_choices
from thence.dsl.ir.machine_builtins import rigid_symbols
from thence.dsl.ir.topology import Edges, fault_of
from thence.dsl.ir.traversal import nodes
from thence.dsl.ir.types import BOOL, MESSAGE, NAT, PROCESS, Type
from thence.dsl.run.machine_run import MachineRun, given_symbols
from thence.dsl.write.settings import given_text
from thence.proofs.logic.formula import equal, exists, forall, holds, implies, local, negation
from thence.proofs.refinement.expressions import roles
from thence.proofs.refinement.reactions import SENDS_BETWEEN_STEPS, sends_inside_matter
from thence.proofs.refinement.shapes.kinds import Term

_LARGEST = 3
"""Processes of the small systems."""

_M, _P, _Q = ir.Variable("m", MESSAGE), ir.Variable("p", PROCESS), ir.Variable("q", PROCESS)


@dataclass(frozen=True, slots=True)
class Systems:
    """The systems that a link is about.

    Attributes:
        self_sends: whether scopes have `self sends`; None where both are meant.
        several: whether there are two processes or more.
    """

    self_sends: bool | None = None
    several: bool = False

    def words(self) -> tuple[str, ...]:
        """What is so in these systems, and need not be so in others; a sentence each, without its full stop."""
        said = {None: (), False: ("nobody sends to itself",), True: ("each message goes to its sender, too",)}
        return (*said[self.self_sends], *(("there are two processes or more",) if self.several else ()))

    def have_no_message(self, protocol: ir.Protocol) -> bool:
        """Whether no message is possible in one of them: in unicast a process by itself has nobody to send to.

        A machine has at least one message, so nothing that is proved is about such a system.
        """
        return protocol.sends and protocol.delivery == "unicast" and self.self_sends is False and not self.several

    def facts(self, protocol: ir.Protocol) -> tuple[ir.NamedFormula, ...]:
        """The same as formulas, with all that is known of the destinations of messages: see `all_choices`.

        Of two processes one is below the other, in the order that links know: a term that solvers can go on from.
        """
        found = [ir.NamedFormula("destinations", body) for body in self._destinations(protocol)]
        if self.several:
            two = exists((_P, _Q), ir.Comparison(BOOL, "<", local(_P), local(_Q)))
            found.append(ir.NamedFormula("two processes or more", two))
        return tuple(found)

    def _destinations(self, protocol: ir.Protocol) -> Iterator[Term]:
        message, process = local(_M), local(_P)
        sender = ir.Apply(PROCESS, "src", (message,))
        own, there = equal(process, sender), holds("to", message, process)
        match protocol.sends, protocol.delivery, self.self_sends:
            case True, "unicast", False:
                yield forall((_M,), negation(equal(sender, ir.Apply(PROCESS, "dst", (message,)))))
            case True, "multicast", False:
                yield forall((_M,), negation(holds("to", message, sender)))
            case True, "broadcast", None:
                yield forall((_M, _P), implies(negation(own), there))
            case True, "broadcast", False:
                yield forall((_M, _P), ir.Connective(BOOL, "iff", there, negation(own)))
            case True, "broadcast", True:
                yield forall((_M, _P), there)
            case _:
                pass

    def small(self, link: ir.Link) -> Iterator[MachineRun]:
        """The machine in each small system: see NOTE(order) in `dsl.run.machine_run`.

        A multicast goes to somebody, but `facts` does not say so. So there is one to nobody here, and an axiom that is
        false of it is named, not shown.
        """
        protocol = link.protocol
        for processes in range(2 if self.several else 1, _LARGEST + 1):
            for to_itself in (False, True) if self.self_sends is None else (self.self_sends,):
                choices = all_choices(processes, protocol.delivery, to_itself) if protocol.sends else ()
                ends = [(process, each) for process, own in enumerate(choices) for each in own]
                if protocol.sends and protocol.delivery == "multicast":
                    ends += [(process, ()) for process in range(processes)]
                for edges in _trees(processes) if protocol.network.tree else ((),):
                    yield MachineRun(link.machine, processes, ends, edges)


_ALONE: Edges = ((0, 0),)
"""The tree of one process. A run knows a tree by its edges, so this one needs one, too."""


def _trees(processes: int) -> Iterator[Edges]:
    """All trees of so many processes."""
    if processes == 1:
        yield _ALONE
        return
    for edges in combinations(combinations(range(processes), 2), processes - 1):
        if fault_of(edges, processes) is None:
            yield edges


_BROADCASTS: tuple[bool | None, ...] = (None, False, True)
_OTHERS: tuple[bool | None, ...] = (None, False)
"""What may be asked of `self sends`, the least first. Where not all processes get a message, a scope with `self sends`
has messages without, so nothing follows from it."""


@dataclass(frozen=True, slots=True)
class Premises:
    """The systems for which a link is proved, and the axioms of its machine: see NOTE(premises)."""

    systems: Systems
    shown: tuple[ir.NamedFormula, ...]
    assumed: tuple[ir.NamedFormula, ...]
    between_steps: bool
    """Whether nothing is said of applications that send inside a delivery: see NOTE(reactions)."""
    values: tuple[str, ...]
    """The constants and roles whose values the proof takes, as a scope gives them: see NOTE(constants)."""

    def words(self) -> tuple[str, ...]:
        """For which systems it is proved, a sentence each, without its full stop."""
        return (*self.systems.words(), *((SENDS_BETWEEN_STEPS,) if self.between_steps else ()), *self.values)

    def as_facts(self) -> dict[str, object]:
        """What a verdict says of them; nothing where there is nothing to say."""
        where, assumes = list(self.words()), [axiom.name for axiom in self.assumed]
        return {**({"where": where} if where else {}), **({"assumes": assumes} if assumes else {})}


def premises(link: ir.Link) -> Premises:
    """The systems that give the most axioms of the machine, those with the fewest conditions first."""
    axioms = link.machine.axioms
    provable = [axiom for axiom in axioms if _has_meaning(link, axiom)]
    best, given = Systems(), frozenset[str]()
    asked = _BROADCASTS if link.protocol.delivery == "broadcast" else _OTHERS
    for several, self_sends in product((False, True), asked) if provable else ():
        systems = Systems(self_sends, several)
        if systems.have_no_message(link.protocol):
            continue
        there = frozenset(axiom.name for axiom in provable) - _false_in(systems, link)
        if len(there) > len(given):
            best, given = systems, there
    shown = tuple(axiom for axiom in provable if axiom.name in given or not _is_about_messages(axiom))
    assumed = tuple(axiom for axiom in axioms if axiom not in shown)
    between_steps = not link.reactive and sends_inside_matter(link)
    return Premises(best, shown, assumed, between_steps, tuple(_values(link)))


def _values(link: ir.Link) -> Iterator[str]:
    """See NOTE(constants)."""
    alone = len(roles(link.protocol)) == 1
    any_process = alone and not numbers_of_processes(link.machine) and not link.protocol.network.tree
    for one in link.protocol.constants:
        if one.type != PROCESS or not any_process:
            yield f"{one.name} = {given_text(one.value)}"


def numbers_of_processes(machine: ir.Machine) -> frozenset[str]:
    """The functions of the machine that a run gives as the numbers of processes: see NOTE(given) in `obligations`."""
    given = given_symbols(machine)
    return frozenset(symbol.name for symbol in machine.symbols if symbol.name in given and _kind(symbol) == _NUMBER)


def _false_in(systems: Systems, link: ir.Link) -> frozenset[str]:
    return frozenset(name for run in systems.small(link) for name in run.broken_axioms())


def _is_about_messages(axiom: ir.NamedFormula) -> bool:
    return any(part == MESSAGE for part in nodes(axiom.body))


def _has_meaning(link: ir.Link, axiom: ir.NamedFormula) -> bool:
    """Whether what the axiom speaks about is what a run gives: see NOTE(given) in `refinement.obligations`."""
    spoken = {node.symbol for node in nodes(axiom.body) if isinstance(node, ir.Apply)}
    given = given_symbols(link.machine)
    known = {symbol.name for symbol in link.machine.symbols if symbol.name in given and _is_given(link, symbol)}
    return spoken <= known | rigid_symbols(link.machine.delivery)


def _is_given(link: ir.Link, symbol: ir.Symbol) -> bool:
    kind = _kind(symbol)
    return kind in _BY_NUMBER or (link.protocol.network.tree and kind in _BY_TREE)


def _kind(symbol: ir.Symbol) -> tuple[Type, ...]:
    return (*(parameter.type for parameter in symbol.parameters), symbol.result)


_NUMBER = (PROCESS, NAT)
_BY_NUMBER = ((PROCESS, PROCESS, BOOL), _NUMBER)
_BY_TREE = ((PROCESS,), (PROCESS, PROCESS, PROCESS), (PROCESS, PROCESS, PROCESS, BOOL))
"""The types of parameters, and of the result, of what a run gives."""
