"""Native code that is optimised at once, also where a search is small."""

from __future__ import annotations

from thence.proofs.native.code.kernel import Kernel, compile_kernel
from thence.proofs.native.layout import Layout


def careful_kernel(layout: Layout, properties: frozenset[str]) -> Kernel:
    """As `compile_kernel`, which makes code in haste at first."""
    kernel = compile_kernel(layout, properties)
    return kernel if kernel.optimised is None else kernel.optimised()
