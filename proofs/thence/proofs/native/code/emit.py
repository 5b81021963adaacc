"""A thin layer over instructions: 64-bit numbers, arrays of them, variables, loops and conditions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

from thence.proofs.native.code import assembly
from thence.proofs.native.code.assembly import I1, I32, I64, POINTER, VOID, Builder, Function

Value: TypeAlias = Any
"""A value, a function or the module of the generated code."""

TRUE, FALSE = assembly.Value(I1, "true"), assembly.Value(I1, "false")
NOTHING = assembly.Value(I32, "0")
"""Zero, in 32 bits."""

NOWHERE = assembly.Value(POINTER, "null")
"""The null pointer."""

_WORD = (1 << 64) - 1


class Emitter:
    """Writes one function. Numbers are 64 bits wide unless said; `int` stands for a constant."""

    def __init__(self, function: Value) -> None:
        self.function = function
        self.builder = Builder(function)

    # --- numbers -----------------------------------------------------------------------------

    def number(self, value: Value | int) -> Value:
        """A constant, or the value as it is."""
        return assembly.Value(I64, str(int(value) & _WORD)) if isinstance(value, int) else value

    def add(self, left: Value | int, right: Value | int) -> Value:
        return self.builder.binary("add", self.number(left), self.number(right))

    def sub(self, left: Value | int, right: Value | int) -> Value:
        return self.builder.binary("sub", self.number(left), self.number(right))

    def mul(self, left: Value | int, right: Value | int) -> Value:
        return self.builder.binary("mul", self.number(left), self.number(right))

    def both(self, left: Value | int, right: Value | int) -> Value:
        return self.builder.binary("and", self.number(left), self.number(right))

    def either(self, left: Value | int, right: Value | int) -> Value:
        return self.builder.binary("or", self.number(left), self.number(right))

    def differing(self, left: Value | int, right: Value | int) -> Value:
        return self.builder.binary("xor", self.number(left), self.number(right))

    def inverse(self, value: Value | int) -> Value:
        return self.builder.not_(self.number(value))

    def up(self, value: Value | int, by: Value | int) -> Value:
        return self.number(value) if by == 0 else self.builder.binary("shl", self.number(value), self.number(by))

    def down(self, value: Value | int, by: Value | int) -> Value:
        return self.number(value) if by == 0 else self.builder.binary("lshr", self.number(value), self.number(by))

    def turn(self, value: Value, by: Value) -> Value:
        """Rotated upwards."""
        return self.builder.intrinsic("llvm.fshl.i64", I64, [value, value, by])

    def ones(self, value: Value) -> Value:
        """How many bits are set."""
        return self.builder.intrinsic("llvm.ctpop.i64", I64, [value])

    def select(self, condition: Value, then: Value | int, otherwise: Value | int) -> Value:
        return self.builder.select(condition, self.number(then), self.number(otherwise))

    def compare(self, left: Value | int, operator: str, right: Value | int) -> Value:
        """A truth value; unsigned."""
        return self.builder.icmp_unsigned(operator, self.number(left), self.number(right))

    def nonzero(self, value: Value) -> Value:
        return self.compare(value, "!=", 0)

    def word_of_truth(self, truth: Value) -> Value:
        return self.builder.zext(truth, I64)

    # --- memory ------------------------------------------------------------------------------

    def place(self, base: Value, at: Value | int, element: str = I64) -> Value:
        """The address of an element of an array."""
        return self.builder.gep(base, self.number(at), element)

    def load(self, base: Value, at: Value | int = 0) -> Value:
        return self.builder.load(self.place(base, at), I64)

    def store(self, value: Value | int, base: Value, at: Value | int = 0) -> None:
        self.builder.store(self.number(value), self.place(base, at))

    def pointer(self, base: Value, at: int) -> Value:
        """An address that a cell holds."""
        return self.builder.inttoptr(self.load(base, at))

    def load32(self, base: Value, at: Value | int) -> Value:
        return self.builder.zext(self.builder.load(self.place(base, at, I32), I32), I64)

    def store32(self, value: Value | int, base: Value, at: Value | int) -> None:
        self.builder.store(self.builder.trunc(self.number(value), I32), self.place(base, at, I32))

    def prefetch(self, base: Value, at: Value | int, element: str = I64) -> None:
        """Asks for the element's cache line."""
        hints = [assembly.Value(I32, hint) for hint in ("0", "3", "1")]
        self.builder.intrinsic("llvm.prefetch.p0", VOID, [self.place(base, at, element), *hints])

    def reserve(self, count: int) -> Value:
        """An array on the stack."""
        return self.builder.reserve(count)

    def table(self, values: Sequence[int], name: str) -> Value:
        """An array of constants, shared by all functions of the module."""
        return self.function.module.table([int(value) & _WORD for value in values], name)

    # --- control -----------------------------------------------------------------------------

    @contextmanager
    def when(self, condition: Value, likely: bool | None = None) -> Iterator[None]:
        """Only if the condition holds."""
        with self.builder.if_then(condition, likely):
            yield

    @contextmanager
    def repeat(self, condition: Callable[[], Value]) -> Iterator[Callable[[], None]]:
        """While the condition holds; gives a function that leaves the loop."""
        head = self.builder.append_block()
        body = self.builder.append_block()
        after = self.builder.append_block()
        self.builder.branch(head)
        self.builder.continue_in(head)
        self.builder.branch_if(condition(), body, after)
        self.builder.continue_in(body)
        yield lambda: self._jump(after)
        if not self.builder.block.ended:
            self.builder.branch(head)
        self.builder.continue_in(after)

    @contextmanager
    def each(self, start: Value | int, end: Value | int) -> Iterator[Value]:
        """For every number from `start`, below `end`."""
        at = self.reserve(1)
        self.store(start, at)
        with self.repeat(lambda: self.compare(self.load(at), "<", end)):
            current = self.load(at)
            yield current
            self.store(self.add(current, 1), at)

    def _jump(self, target: Value) -> None:
        self.builder.branch(target)

    def call(self, function: Value, *arguments: Value | int) -> Value:
        return self.builder.call(function, [self.number(argument) for argument in arguments])

    def give(self, value: Value | int | None = None) -> None:
        """Returns."""
        self.builder.give(None if value is None else self.number(value))


class ThreadEmitter(Emitter):
    """Writes a function that threads call; its first parameters are the cells of the search and those of the thread.

    `shared` and `own` are the addresses of these cells (see `cells`), `arguments` the other parameters.
    """

    def __init__(self, function: Value) -> None:
        super().__init__(function)
        self.shared, self.own, *self.arguments = function.args

    def invoke(self, function: Value, *arguments: Value | int) -> Value:
        """Calls another function of the same thread."""
        return self.call(function, self.shared, self.own, *arguments)


def define_for_thread(
    module: Value, name: str, parameters: Sequence[str], result: str, *, internal: bool = True
) -> ThreadEmitter:
    """A new function that threads call, and its emitter; the cells come before the parameters."""
    return ThreadEmitter(Function(module, name, [POINTER, POINTER, *parameters], result, internal=internal))


def define(module: Value, name: str, parameters: Sequence[str], result: str, *, internal: bool) -> Emitter:
    """A new function and its emitter."""
    return Emitter(Function(module, name, parameters, result, internal=internal))
