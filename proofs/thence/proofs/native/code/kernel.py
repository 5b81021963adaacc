"""Native code for one layout and one set of properties, ready to be called; calls leave the interpreter's lock.

Code is made in haste at first, without optimising: that takes a tenth of the time, and most searches are over before
the rest would pay. Optimised code takes its place in searches that go on; where it was kept from an earlier run it is
taken at once.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import sha256
from typing import Any, Final

import llvmlite.binding as llvm

from thence.proofs.native.code.assembly import Module
from thence.proofs.native.code.expansion import Expansion
from thence.proofs.native.code.kept_code import keep, key_of, recall
from thence.proofs.native.layout import Layout

HASTE: Final = 0
CARE: Final = 2
"""How much is done for fast code, as compilers number it."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """The generated functions, by address of their arguments; `engine` keeps the code alive.

    Attributes:
        expand: (shared, own): see `expansion`.
        rehash: (shared, start, end): see `store`.
        sift: (shared, job): see `sifting`.
        digest: a hash of what is generated, the same wherever and however it is compiled.
        passes: (shared, cells), by name: what the store passes over its states for; see `sweep_store`, `disk_store`.
        optimised: gives the same functions, made with care; None: these are.
    """

    expand: Callable[[int, int], None]
    rehash: Callable[[int, int, int], None]
    sift: Callable[[int, int], None]
    engine: Any
    digest: str
    passes: Mapping[str, Callable[[int, int], None]]
    optimised: Callable[[], Kernel] | None = None


@cache
def _target() -> tuple[Any, str, str]:
    """What makes machines for this processor, its name and its features."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


def _machine(effort: int = CARE) -> Any:
    target, name, features = _target()
    return target.create_target_machine(cpu=name, features=features, opt=effort)


@cache
def _described() -> tuple[str, str]:
    """The triple and the data layout of this machine."""
    machine = _machine()
    return machine.triple, str(machine.target_data)


def new_module() -> Module:
    """A module without code. Its triple and data layout are the machine's, or linking it would abort."""
    return Module(*_described())


def link(module: object) -> Any:
    """Optimises and links the code of a module, or of its text, or takes what was kept of it. The engine returned keeps
    it alive, and has the addresses of its functions."""
    machine = _machine()
    text = str(module)
    key = key_of(text, machine)
    code = recall(key)
    if code is None:
        code = _compiled(text, machine, CARE)
        keep(key, code)
    return _linked(code, machine)


def _linked_in_haste(text: str) -> tuple[Any, bool]:
    """As `link`, but not optimised where nothing was kept; and whether it is optimised."""
    machine = _machine()
    code = recall(key_of(text, machine))
    if code is not None:
        return _linked(code, machine), True
    machine = _machine(HASTE)
    return _linked(_compiled(text, machine, HASTE), machine), False


def _linked(code: bytes, machine: Any) -> Any:
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine


def _compiled(text: str, machine: Any, effort: int) -> bytes:
    """The machine code. LLVM calls nothing of Python meanwhile: there an interrupt would be lost."""
    parsed = llvm.parse_assembly(text)
    parsed.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=effort)
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(parsed, builder)
    return bytes(machine.emit_object(parsed))


@lru_cache(maxsize=64)
def compile_kernel(layout: Layout, properties: frozenset[str]) -> Kernel:
    """Generates and links the code, in haste where nothing was kept of it."""
    module = new_module()
    passes = tuple(Expansion(module, layout, properties).store.passes)
    text = str(module)
    engine, is_optimised = _linked_in_haste(text)
    digest = sha256(text.encode()).hexdigest()

    @cache
    def optimised() -> Kernel:
        return _kernel(link(text), digest, passes)

    return _kernel(engine, digest, passes, None if is_optimised else optimised)


def _kernel(engine: Any, digest: str, passes: Iterable[str], optimised: Callable[[], Kernel] | None = None) -> Kernel:
    def function(name: str, count: int) -> Any:
        kind = ctypes.CFUNCTYPE(None, *[ctypes.c_uint64] * count)
        return kind(engine.get_function_address(name))

    return Kernel(
        function("expand", 2), function("rehash", 3), function("sift", 2), engine, digest,
        {name: function(name, 2) for name in passes}, optimised,
    )  # fmt: skip
