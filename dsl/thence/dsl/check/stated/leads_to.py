"""The `eventually` statements of a machine: what leads to what, and the steps that bring it about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from thence.dsl import ir
from thence.dsl.check.terms.binders import introduce
from thence.dsl.check.terms.environment import declare
from thence.dsl.check.terms.expressions import ExpressionChecker
from thence.dsl.check.terms.inference import infer_types
from thence.dsl.check.terms.types import resolve_sort
from thence.dsl.ir.types import BOOL, NAT, PROCESS, Type
from thence.dsl.text import syntax
from thence.dsl.text.diagnostics import did_you_mean
from thence.dsl.text.syntax import Span
from thence.spec.words import counted

_TRUE = ir.Literal_(BOOL, True)


def check_leads_to(
    statements: Sequence[syntax.LeadsTo],
    checker: ExpressionChecker,
    transitions: Sequence[ir.Transition],
    names: dict[str, Span],
) -> tuple[ir.LeadsTo, ...]:
    """The typed statements; those with an error are reported and left out. `names` are of the statements so far."""
    known = {transition.name: transition for transition in transitions}
    found: list[ir.LeadsTo] = []
    for statement in statements:
        declare(statement.formula.name, "`eventually` statement", names, checker.reporter)
        typed = _LeadsTo(statement, checker, known).checked()
        if typed is not None:
            found.append(typed)
    return tuple(found)


class _LeadsTo:
    """The check of one statement."""

    def __init__(
        self,
        statement: syntax.LeadsTo,
        checker: ExpressionChecker,
        transitions: Mapping[str, ir.Transition],
    ) -> None:
        self.statement = statement
        self.outer = checker
        self.reporter = checker.reporter
        self.transitions = transitions

    def checked(self) -> ir.LeadsTo | None:
        before = self.reporter.errors
        formula = self.statement.formula
        about = [formula.body, *(step.left for step in self.statement.steps if step.left is not None)]
        parameters, inner = self.variables(formula.parameters, self.outer, about, self.of_arguments())
        given, goal = formula.body, formula.body
        if isinstance(formula.body, syntax.Binary) and formula.body.operator == "leads to":
            given, goal = formula.body.left, formula.body.right
        why = "what leads to something, and what it leads to, is true or false"
        typed_goal = inner.check(goal, BOOL, why)
        typed_given = _TRUE if given is goal else inner.check(given, BOOL, why)
        steps = [self.step(step, inner) for step in self.statement.steps]
        if not steps:
            said = f"`{self.statement.formula.name.text}` names no step that brings it about"
            self.reporter.error("E0530", self.statement.formula.name.span, said, "write `T(x) for x while P`")
        if self.reporter.errors > before or typed_goal is None or typed_given is None:
            return None
        return ir.LeadsTo(
            self.statement.formula.name.text,
            parameters,
            typed_given,
            typed_goal,
            tuple(step for step in steps if step is not None),
            span=self.statement.span,
        )

    def of_arguments(self) -> dict[str, Type]:
        """The types of names that stand as arguments of steps, from the parameters of the transitions."""
        found: dict[str, Type] = {}
        for step in self.statement.steps:
            transition = self.transitions.get(step.transition.text)
            own = {variable.name.text for variable in step.variables}
            for argument, parameter in zip(step.arguments, transition.parameters if transition else (), strict=False):
                if isinstance(argument, syntax.Variable) and argument.name not in own:
                    found.setdefault(argument.name, parameter.type)
        return found

    def variables(
        self,
        written: Sequence[syntax.Parameter],
        checker: ExpressionChecker,
        formulas: Sequence[syntax.Expr],
        given: Mapping[str, Type],
    ) -> tuple[tuple[ir.Variable, ...], ExpressionChecker]:
        """The variables with their types, written, found from the formulas or given; and the checker that has them."""
        seen: dict[str, Span] = {}
        for variable in written:
            declare(variable.name, "variable", seen, self.reporter)
        open_names = [variable.name.text for variable in written if variable.type is None]
        inferred = infer_types(open_names, formulas, checker.vocabulary, checker.locals) if open_names else {}
        found: list[ir.Variable] = []
        for variable in written:
            name = variable.name.text
            if variable.type is not None:
                where = "as a variable in a machine"
                type_ = resolve_sort(variable.type, checker.vocabulary.types, self.reporter, where)
            else:
                type_ = inferred.get(name) or given.get(name)
                if type_ is None:
                    said = f"the type of `{name}` cannot be found out from its use"
                    self.reporter.error("E0303", variable.name.span, said, f"write `{name}: TYPE`")
            checker = checker.within({name: introduce(checker, variable.name, type_, "parameter")})
            if type_ is not None:
                found.append(ir.Variable(name, type_))
        return tuple(found), checker

    def step(self, step: syntax.HelpStep, checker: ExpressionChecker) -> ir.HelpStep | None:
        name = step.transition.text
        transition = self.transitions.get(name)
        if transition is None or name == "causal_send":
            said, notes = f"there is no transition `{name}`", did_you_mean(name, self.transitions)
            if name == "causal_send":
                said, notes = "the application need not send, so that nothing can wait for `causal_send`", ()
            self.reporter.error("E0530", step.transition.span, said, *notes)
            return None
        takes = len(transition.parameters)
        if len(step.arguments) != takes:
            said = f"`{name}` takes {counted(takes, 'argument')}, and {len(step.arguments)} stand here"
            self.reporter.error("E0530", step.span, said, "name one step for each value of the variables behind `for`")
            return None
        given = {
            argument.name: parameter.type
            for argument, parameter in zip(step.arguments, transition.parameters, strict=True)
            if isinstance(argument, syntax.Variable)
        }
        about = [*step.arguments, *(() if step.left is None else (step.left,))]
        variables, inner = self.variables(step.variables, checker, about, given)
        for variable, typed in zip(step.variables, variables, strict=False):
            if typed.type == NAT:
                said = f"`{typed.name}` is a number, and there may be infinitely many for which the step is left"
                self.reporter.error("E0532", variable.span, said, "let it range over messages, processes or a sort")
            elif typed.type != PROCESS and str(typed.type) in checker.vocabulary.ordered:
                said = f"`{typed.type}` is ordered, and there may be infinitely many above an element"
                self.reporter.error(
                    "E0532", variable.span, said, "let it range over messages, processes or another sort"
                )
        why = f"an argument of `{name}`"
        arguments = [
            inner.check(argument, parameter.type, why)
            for argument, parameter in zip(step.arguments, transition.parameters, strict=True)
        ]
        left = _TRUE if step.left is None else inner.check(step.left, BOOL, "a step is left while a formula is true")
        if left is None or None in arguments or len(variables) != len(step.variables):
            return None
        typed_arguments = tuple(each for each in arguments if each is not None)
        return ir.HelpStep(name, typed_arguments, variables, left, span=step.span)
