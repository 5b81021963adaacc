"""Native code for one layout and one set of properties, ready to be called; calls leave the interpreter's lock."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import sha256
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir

from thence.proofs.native.code.expansion import Expansion
from thence.proofs.native.code.kept_code import keep, key_of, recall
from thence.proofs.native.layout import Layout


@dataclass(frozen=True, slots=True)
class Kernel:
    """The generated functions, by address of their arguments; `engine` keeps the code alive.

    Attributes:
        expand: (shared, own): see `expansion`.
        rehash: (shared, start, end): see `store`.
        sift: (shared, job): see `sifting`.
        digest: a hash of what is generated, the same wherever it is compiled.
        passes: (shared, cells), by name: what the store passes over its states for; see `sweep_store`, `disk_store`.
    """

    expand: Callable[[int, int], None]
    rehash: Callable[[int, int, int], None]
    sift: Callable[[int, int], None]
    seconds: float
    engine: Any
    digest: str
    passes: Mapping[str, Callable[[int, int], None]]


@cache
def _initialize() -> None:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


def _machine() -> Any:
    _initialize()
    features = llvm.get_host_cpu_features().flatten()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=features, opt=2
    )


def new_module() -> Any:
    """A module without code. Its triple and data layout are the machine's, or linking it would abort."""
    machine = _machine()
    module = ir.Module("explorer")
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    return module


def link(module: object) -> Any:
    """Optimises and links the code of a module, or of its text, or takes what was kept of it. The engine returned keeps
    it alive, and has the addresses of its functions."""
    machine = _machine()
    text = str(module)
    key = key_of(text, machine)
    code = recall(key)
    if code is None:
        code = _compiled(text, machine)
        keep(key, code)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine


def _compiled(text: str, machine: Any) -> bytes:
    """The machine code. LLVM calls nothing of Python meanwhile: there an interrupt would be lost."""
    parsed = llvm.parse_assembly(text)
    parsed.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(parsed, builder)
    return bytes(machine.emit_object(parsed))


@lru_cache(maxsize=64)
def compile_kernel(layout: Layout, properties: frozenset[str]) -> Kernel:
    """Generates, optimises and links the code."""
    started = time.perf_counter()
    module = new_module()
    store = Expansion(module, layout, properties).store
    text = str(module)
    engine, digest = link(text), sha256(text.encode()).hexdigest()

    def function(name: str, count: int) -> Any:
        kind = ctypes.CFUNCTYPE(None, *[ctypes.c_uint64] * count)
        return kind(engine.get_function_address(name))

    passes = {name: function(name, 2) for name in store.passes}
    return Kernel(
        function("expand", 2), function("rehash", 3), function("sift", 2), time.perf_counter() - started, engine,
        digest, passes,
    )  # fmt: skip
