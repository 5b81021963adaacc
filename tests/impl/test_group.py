"""What a process accepts from callers and peers."""

from __future__ import annotations

import pytest

from thence.impl.commands import ProtocolError
from thence.impl.group import Group, require_message


@pytest.mark.parametrize(("identity", "processes"), [(0, 0), (3, 3), (-1, 3), (0, -1)])
def test_a_process_is_one_of_its_group(identity: int, processes: int) -> None:
    with pytest.raises(ValueError, match="process"):
        Group(identity, processes)


def test_destinations_and_senders_are_processes_of_the_group() -> None:
    group = Group(0, 3)
    group.require_sendable(0, "m")
    group.require_sendable(2, "m")
    group.require_sender(2)
    for stranger in (-1, 3, "1", None, 1.0):
        assert not group.has(stranger)
        with pytest.raises(ValueError, match="destination"):
            group.require_sendable(stranger, "m")  # type: ignore[arg-type]
        with pytest.raises(ProtocolError, match="sender"):
            group.require_sender(stranger)  # type: ignore[arg-type]


def test_none_is_not_a_message() -> None:
    with pytest.raises(ValueError, match="not a message"):
        Group(0, 2).require_sendable(1, None)
    with pytest.raises(ProtocolError, match="no message"):
        require_message(None)
    require_message(0)
    assert Group(0, 2).has(1)
