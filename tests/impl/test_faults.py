"""The planted faults say what is wrong with them. `conform` is held against each of them elsewhere."""

from __future__ import annotations

import pytest
from faults import FAULTS, TEXTBOOK


@pytest.mark.parametrize("protocol", [*FAULTS, *TEXTBOOK])
def test_every_protocol_has_at_least_five_faults_with_reasons(protocol: str) -> None:
    faults = (FAULTS | TEXTBOOK)[protocol]
    assert len(faults) >= 5
    assert len({fault.__name__ for fault in faults}) == len(faults)
    for fault in faults:
        assert "Finding" in (fault.__doc__ or "")
        assert fault.__module__ == f"faults.{protocol}"
