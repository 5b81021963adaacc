"""A machine over finitely many processes and messages as a TLA+ module.

Each relation and function is a variable that holds a TLA+ function. What is never updated is chosen in the initial
state, within the axioms; all else starts false or 0. The history (`sent`, `past`, `hb`, ...) is written out.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from thence.dsl import ir
from thence.dsl.check import built_in
from thence.dsl.export.tla.exported import Exported
from thence.dsl.export.tla.expressions import Scope, Unsupported, applied, sort_set, tla, zero
from thence.dsl.export.tla.names import Names, prelude
from thence.dsl.ir import machine_builtins
from thence.dsl.ir.types import BOOL, NAT

_MODULE_NAMES = ("Process", "Message", "Init", "Next", "Spec", "vars")


def export_machine(
    machine: ir.Machine,
    transitions: Sequence[ir.Transition],
    arbitrary: Collection[str],
    processes: int,
    messages: int,
) -> Exported:
    """The module and its TLC configuration.

    Args:
        transitions: the machine's, with the guard and updates that `causal_send` and `deliver` have by themselves.
        arbitrary: the symbols whose initial value is any within the axioms.
        processes, messages: how many there are.

    Raises: Unsupported for relations over numbers, and for arbitrary numbers.
    """
    if machine.delivery == "off" or machine.sorts:
        raise Unsupported(f"`{machine.name}` has sorts of its own, or no messages")
    if machine.ordered:
        raise Unsupported(f"`{machine.name}` orders its processes")
    names = Names()
    names.reserve(_MODULE_NAMES)
    module = names.fresh(machine.name)
    declared = (*machine_builtins.built_in_symbols(machine.delivery), *machine.symbols)
    variables = {symbol.name: names.fresh(symbol.name) for symbol in declared}
    sorts = {"process": "Process", "message": "Message"}
    scope = Scope(names, process="", symbols=variables, sorts=sorts)
    writer = _Writer(machine, transitions, declared, frozenset(arbitrary), scope)
    notes = tuple(f"`{said}` is not in the export: `thence prove` proves it" for said in _left_out(machine))
    lines = [
        f"---- MODULE {module} ----",
        f"(* {machine.name}: {processes} processes and {messages} messages *)",
        *(f"(* {note} *)" for note in notes),
        "EXTENDS Thence",
        "",
        "CONSTANTS Process, Message",
        f"VARIABLES {', '.join(variables.values())}",
        f"vars == <<{', '.join(variables.values())}>>",
        "",
        *writer.initial(),
        *writer.actions(),
        *writer.properties(),
        "====",
        "",
    ]
    configuration = [
        "SPECIFICATION Spec",
        f"CONSTANT Process = {{{', '.join(f'p{number}' for number in range(processes))}}}",
        f"CONSTANT Message = {{{', '.join(f'm{number}' for number in range(messages))}}}",
        "INVARIANTS",
        *(f"  {name}" for name in writer.stated),
        "CHECK_DEADLOCK FALSE",
        "",
    ]
    files = {f"{module}.tla": "\n".join(lines), f"{module}.cfg": "\n".join(configuration), "Thence.tla": prelude()}
    return Exported(module, files, notes)


def _left_out(machine: ir.Machine) -> list[str]:
    """What the machine states about steps and runs, which invariants do not say."""
    stated = {*machine_builtins.MACHINE_PROPERTIES, *(formula.name for formula in machine.invariants)}
    return [
        *(f"eventually {each.name}" for each in machine.eventually),
        *(f"stable {each.formula.name}" for each in machine.stable),
        *(f"reachable {each.name}" for each in machine.reachable),
        *(f"prove {name}" for name in machine.prove if name not in stated),
    ]


@dataclass(slots=True)
class _Writer:
    machine: ir.Machine
    transitions: Sequence[ir.Transition]
    declared: Sequence[ir.Symbol]
    arbitrary: frozenset[str]
    scope: Scope

    def _domain(self, symbol: ir.Symbol) -> list[str]:
        for parameter in symbol.parameters:
            if parameter.type == NAT:
                raise Unsupported(f"`{symbol.name}` is over numbers, of which there is no finite set")
        return [sort_set(parameter.type, self.scope) for parameter in symbol.parameters]

    def _inside(self) -> Scope:
        return replace(self.scope, names=self.scope.names.inside())

    def initial(self) -> list[str]:
        """Init: everything false or 0, but for what is arbitrary."""
        lines, given = ["Init =="], {update.symbol: update for update in self.machine.initial}
        for symbol in self.declared:
            if symbol.name in given:
                continue
            variable, domain = self.scope.symbols[symbol.name], self._domain(symbol)
            if symbol.name in self.arbitrary or symbol.result not in (BOOL, NAT):
                if symbol.result == NAT:
                    raise Unsupported(f"`{symbol.name}` may have any number as its value")
                values = "BOOLEAN" if symbol.result == BOOL else sort_set(symbol.result, self.scope)
                product = " \\X ".join(domain)
                chosen = f"[{product} -> {values}]" if domain else values
                lines.append(f"  /\\ {variable} \\in {chosen}")
            else:
                start = zero(symbol.result)
                value = f"[{self._arguments(domain)} |-> {start}]" if domain else start
                lines.append(f"  /\\ {variable} = {value}")
        for update in self.machine.initial:
            lines.append(f"  /\\ {self._first(update)}")
        axioms = (*built_in.built_in_axioms(self.machine.delivery), *self.machine.axioms)
        lines += [f"  /\\ {tla(axiom.body, self._inside())}" for axiom in axioms]
        return [*lines, ""]

    def _first(self, update: ir.Update) -> str:
        """The first values of a symbol, by what never changes."""
        variable, inner = self.scope.symbols[update.symbol], self._inside()
        if not update.arguments:
            return f"{variable} = {tla(update.value, inner)}"
        domains = []
        for argument in update.arguments:
            assert isinstance(argument, ir.Local)
            name = inner.names.fresh(argument.name)
            inner = inner.binding(argument.name, name)
            domains.append(f"{name} \\in {sort_set(argument.type, self.scope)}")
        return f"{variable} = [{', '.join(domains)} |-> {tla(update.value, inner)}]"

    @staticmethod
    def _arguments(domain: Sequence[str]) -> str:
        return ", ".join(f"x{at} \\in {each}" for at, each in enumerate(domain))

    def actions(self) -> list[str]:
        """An action for every transition, and Next."""
        lines, choices = [], []
        for transition in self.transitions:
            inner = self._inside()
            given = []
            for parameter in transition.parameters:
                if parameter.type == NAT:
                    raise Unsupported(f"transition {transition.name} takes a number")
                name = inner.names.fresh(parameter.name)
                inner = inner.binding(parameter.name, name)
                given.append((name, sort_set(parameter.type, self.scope)))
            operator = self.scope.names.fresh(transition.name)
            head = applied_operator(operator, [name for name, _ in given])
            lines += [f"{head} ==", *(f"  /\\ {tla(guard.body, inner)}" for guard in transition.requires)]
            lines += [f"  /\\ {self._update(update, inner)}" for update in transition.updates]
            changed = {update.symbol for update in transition.updates}
            same = [variable for name, variable in self.scope.symbols.items() if name not in changed]
            lines += [f"  /\\ UNCHANGED <<{', '.join(same)}>>", ""]
            ranges = ", ".join(f"{name} \\in {domain}" for name, domain in given)
            choices.append(f"  \\/ \\E {ranges} : {head}" if ranges else f"  \\/ {head}")
        return [*lines, "Next ==", *choices, "Spec == Init /\\ [][Next]_vars", ""]

    def _update(self, update: ir.Update, scope: Scope) -> str:
        """`symbol(arguments) := value` for every value of the binders."""
        symbol = next(each for each in self.declared if each.name == update.symbol)
        variable = scope.symbols[symbol.name]
        binders = {binder.name for binder in update.binders}
        if not update.arguments:
            return f"{variable}' = {tla(update.value, scope)}"
        if not binders:
            at = ", ".join(tla(argument, scope) for argument in update.arguments)
            return f"{variable}' = [{variable} EXCEPT ![{at}] = {tla(update.value, scope)}]"
        inner = replace(scope, names=scope.names.inside())
        names: list[tuple[str, str]] = []
        matches: list[tuple[str, str]] = []
        for argument, domain in zip(update.arguments, self._domain(symbol), strict=True):
            assert isinstance(argument, ir.Local)
            wish = argument.name
            name = inner.names.fresh(wish)
            names.append((name, domain))
            if wish in binders and wish not in {known for known, _ in matches}:
                inner = inner.binding(wish, name)
                binders.discard(wish)
            else:
                matches.append((wish, f"{name} = {inner.locals[wish]}"))
        ranges = ", ".join(f"{name} \\in {domain}" for name, domain in names)
        value = tla(update.value, inner)
        if not matches:
            return f"{variable}' = [{ranges} |-> {value}]"
        test = " /\\ ".join(text for _, text in matches)
        same = applied(variable, [name for name, _ in names])
        return f"{variable}' = [{ranges} |-> IF {test} THEN {value} ELSE {same}]"

    def _formulas(self) -> list[ir.NamedFormula]:
        machine = self.machine
        own = {formula.name for formula in machine.invariants}
        properties = [
            self._delivered_once() if name == "at_most_once" else built_in.property_formula(name, machine.delivery)
            for name in machine.prove
            if name in machine_builtins.MACHINE_PROPERTIES and name not in own
        ]
        return [*machine.invariants, *properties]

    def _delivered_once(self) -> ir.NamedFormula:
        """`at_most_once` as an invariant: what `deliver` takes is not delivered yet."""
        deliver = next(each for each in self.transitions if each.name == "deliver")
        once = machine_builtins.at_most_once(*deliver.parameters)
        body = once.body
        for guard in reversed(deliver.requires):
            body = ir.Connective(BOOL, "implies", guard.body, body)
        every = tuple(ir.Bound(parameter.type, parameter.name, None) for parameter in deliver.parameters)
        return replace(once, body=ir.Quantified(BOOL, "forall", every, body))

    @property
    def stated(self) -> list[str]:
        """The names of the invariants in the module."""
        return [f"Invariant_{formula.name}" for formula in self._formulas()]

    def properties(self) -> list[str]:
        """The machine's invariants, and the built-in properties of states that it is to have."""
        lines = [f"Invariant_{formula.name} == {tla(formula.body, self._inside())}" for formula in self._formulas()]
        return [*lines, ""]


def applied_operator(name: str, arguments: Sequence[str]) -> str:
    """An operator with its arguments."""
    return f"{name}({', '.join(arguments)})" if arguments else name
