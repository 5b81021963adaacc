"""The collector of cycles waits, and afterwards it is as it was."""

from __future__ import annotations

import gc

import pytest

from thence.spec.collector import SELDOM, collector_seldom


@pytest.mark.parametrize(("before", "meanwhile"), [(700, SELDOM), (2 * SELDOM, 2 * SELDOM), (0, 0)])
def test_it_looks_seldom_and_then_as_before(before: int, meanwhile: int) -> None:
    own = gc.get_threshold()
    try:
        gc.set_threshold(before, 5, 6)
        with pytest.raises(LookupError), collector_seldom():
            assert gc.get_threshold() == (meanwhile, 5, 6)
            raise LookupError
        assert gc.get_threshold() == (before, 5, 6)
    finally:
        gc.set_threshold(*own)
