"""A thin layer over llvmlite's builder: 64-bit numbers, arrays of them, variables, loops and conditions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

from llvmlite import ir

Value: TypeAlias = Any
"""A value of the generated code; llvmlite has no types of its own."""

I1 = ir.IntType(1)
I32 = ir.IntType(32)
I64 = ir.IntType(64)
POINTER = ir.PointerType()
VOID = ir.VoidType()
TRUE, FALSE = ir.Constant(I1, 1), ir.Constant(I1, 0)
NOWHERE = ir.Constant(POINTER, None)
"""The null pointer."""


class Emitter:
    """Writes one function. Numbers are 64 bits wide unless said; `int` stands for a constant."""

    def __init__(self, function: Value) -> None:
        self.function = function
        self.builder = ir.IRBuilder(function.append_basic_block("entry"))

    # --- numbers -----------------------------------------------------------------------------

    def number(self, value: Value | int) -> Value:
        """A constant, or the value as it is."""
        return ir.Constant(I64, value & (1 << 64) - 1) if isinstance(value, int) else value

    def add(self, left: Value | int, right: Value | int) -> Value:
        return self.builder.add(self.number(left), self.number(right))

    def sub(self, left: Value | int, right: Value | int) -> Value:
        return self.builder.sub(self.number(left), self.number(right))

    def mul(self, left: Value | int, right: Value | int) -> Value:
        return self.builder.mul(self.number(left), self.number(right))

    def both(self, left: Value | int, right: Value | int) -> Value:
        return self.builder.and_(self.number(left), self.number(right))

    def either(self, left: Value | int, right: Value | int) -> Value:
        return self.builder.or_(self.number(left), self.number(right))

    def differing(self, left: Value | int, right: Value | int) -> Value:
        return self.builder.xor(self.number(left), self.number(right))

    def inverse(self, value: Value | int) -> Value:
        return self.builder.not_(self.number(value))

    def up(self, value: Value | int, by: Value | int) -> Value:
        return self.number(value) if by == 0 else self.builder.shl(self.number(value), self.number(by))

    def down(self, value: Value | int, by: Value | int) -> Value:
        return self.number(value) if by == 0 else self.builder.lshr(self.number(value), self.number(by))

    def turn(self, value: Value, by: Value) -> Value:
        """Rotated upwards."""
        module, name = self.function.module, "llvm.fshl.i64"
        known = module.globals.get(name) or ir.Function(module, ir.FunctionType(I64, [I64, I64, I64]), name)
        return self.builder.call(known, [value, value, by])

    def ones(self, value: Value) -> Value:
        """How many bits are set."""
        return self.builder.ctpop(value)

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

    def place(self, base: Value, at: Value | int, element: Value = I64) -> Value:
        """The address of an element of an array."""
        return self.builder.gep(base, [self.number(at)], source_etype=element)

    def load(self, base: Value, at: Value | int = 0) -> Value:
        return self.builder.load(self.place(base, at), typ=I64)

    def store(self, value: Value | int, base: Value, at: Value | int = 0) -> None:
        self.builder.store(self.number(value), self.place(base, at))

    def pointer(self, base: Value, at: int) -> Value:
        """An address that a cell holds."""
        return self.builder.inttoptr(self.load(base, at), POINTER)

    def load32(self, base: Value, at: Value | int) -> Value:
        return self.builder.zext(self.builder.load(self.place(base, at, I32), typ=I32), I64)

    def store32(self, value: Value | int, base: Value, at: Value | int) -> None:
        self.builder.store(self.builder.trunc(self.number(value), I32), self.place(base, at, I32))

    def prefetch(self, base: Value, at: Value | int, element: Value = I64) -> None:
        """Asks for the element's cache line."""
        module = self.function.module
        hint = module.globals.get("llvm.prefetch.p0") or ir.Function(
            module, ir.FunctionType(VOID, [POINTER, I32, I32, I32]), "llvm.prefetch.p0"
        )
        place = self.place(base, at, element)
        self.builder.call(hint, [place, ir.Constant(I32, 0), ir.Constant(I32, 3), ir.Constant(I32, 1)])

    def reserve(self, count: int) -> Value:
        """An array on the stack."""
        with self.builder.goto_entry_block():
            return self.builder.alloca(I64, size=count)

    def table(self, values: Sequence[int], name: str) -> Value:
        """An array of constants, shared by all functions of the module."""
        module = self.function.module
        known = module.globals.get(name)
        if known is None:
            kind = ir.ArrayType(I64, len(values))
            known = ir.GlobalVariable(module, kind, name)
            known.global_constant = True
            known.linkage = "internal"
            known.initializer = ir.Constant(kind, [self.number(value) for value in values])
        return known

    # --- control -----------------------------------------------------------------------------

    @contextmanager
    def when(self, condition: Value, likely: bool | None = None) -> Iterator[None]:
        """Only if the condition holds."""
        with self.builder.if_then(condition, likely=likely):
            yield

    @contextmanager
    def repeat(self, condition: Callable[[], Value]) -> Iterator[Callable[[], None]]:
        """While the condition holds; gives a function that leaves the loop."""
        head = self.builder.append_basic_block()
        body = self.builder.append_basic_block()
        after = self.builder.append_basic_block()
        self.builder.branch(head)
        self.builder.position_at_end(head)
        self.builder.cbranch(condition(), body, after)
        self.builder.position_at_end(body)
        yield lambda: self._jump(after)
        if not self.builder.block.is_terminated:
            self.builder.branch(head)
        self.builder.position_at_end(after)

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
        if value is None:
            self.builder.ret_void()
        else:
            self.builder.ret(self.number(value))


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
    module: Value, name: str, parameters: Sequence[Value], result: Value, *, internal: bool = True
) -> ThreadEmitter:
    """A new function that threads call, and its emitter; the cells come before the parameters."""
    return ThreadEmitter(_function(module, name, [POINTER, POINTER, *parameters], result, internal))


def define(module: Value, name: str, parameters: Sequence[Value], result: Value, *, internal: bool) -> Emitter:
    """A new function and its emitter."""
    return Emitter(_function(module, name, parameters, result, internal))


def _function(module: Value, name: str, parameters: Sequence[Value], result: Value, internal: bool) -> Value:
    function = ir.Function(module, ir.FunctionType(result, list(parameters)), name)
    if internal:
        function.linkage = "internal"
    function.attributes.add("nounwind")
    return function
