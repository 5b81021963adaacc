"""What is counted as a field, and what is not."""

from __future__ import annotations

import pytest

from thence.conformance.costs.sizes import NOTHING, Payload, Size, metadata_bytes, process_size, size
from thence.impl.cykas import Cykas
from thence.impl.hybrid_basic import HybridBasic, Msg
from thence.impl.mf import MF
from thence.impl.mf import Msg as Plain
from thence.impl.rst import RST
from thence.impl.transport.codec import Codec

M = Payload(0, 1)


def test_fields() -> None:
    assert size(Plain(M)) == Size(0, 1)
    assert size(Msg(M, 3, 2, True)) == Size(3, 1)
    assert size([(1, 2), {3: (4, M)}, None, frozenset({5})]) == Size(5, 1)
    assert size(0b1011, sets=True) == Size(3, 0)
    with pytest.raises(TypeError, match="not something"):
        size(object())


def test_states() -> None:
    assert process_size(MF(0, 9)) == NOTHING
    assert process_size(RST(0, 9)) == Size(9 * 9 + 9, 0)
    cykas = Cykas(0, 9)
    for receiver in (1, 2, 3):
        cykas.causal_send(receiver, M)
    # Mode; three unacknowledged; kept with the second and third message: who has to acknowledge before.
    assert process_size(cykas) == Size(1 + 3 + 1 + 2, 0)
    waiting = MF(0, 9)
    for _ in range(3):
        waiting.causal_send(1, M)
    assert process_size(waiting).messages == 2


def test_windows_count_their_span() -> None:
    hybrid = HybridBasic(0, 3)
    before = process_size(hybrid).identifiers
    hybrid.causal_send(1, M)
    # The last message to 1, and in the window: receiver, flag, and the packet with its three fields.
    assert process_size(hybrid).identifiers - before == 2 + 2 + 3


def test_bytes() -> None:
    codec = Codec.of(HybridBasic)
    assert metadata_bytes(codec, Msg("text", 3, 2, True)) == metadata_bytes(codec, Msg(1, 3, 2, True)) > 3
