"""Frames."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thence.impl.transport.frame import OVERHEAD_BYTES, Frame, FrameError

frames = st.builds(
    Frame, st.integers(0, 2**32 - 1), st.integers(0, 2**16 - 1), st.integers(0, 2**16 - 1), st.binary(max_size=50)
)


@settings(derandomize=True, deadline=None, max_examples=200)
@given(frames)
def test_what_is_sent_arrives(frame: Frame) -> None:
    data = frame.to_bytes()
    assert Frame.from_bytes(data) == frame
    assert len(data) == len(frame.body) + OVERHEAD_BYTES


@settings(derandomize=True, deadline=None, max_examples=200)
@given(frames, st.data())
def test_what_is_damaged_or_cut_off_is_no_frame(frame: Frame, data: st.DataObject) -> None:
    sent = bytearray(frame.to_bytes())
    with pytest.raises(FrameError):
        Frame.from_bytes(bytes(sent[: data.draw(st.integers(0, len(sent) - 1))]))
    sent[data.draw(st.integers(0, len(sent) - 1))] ^= data.draw(st.integers(1, 255))
    with pytest.raises(FrameError):
        Frame.from_bytes(bytes(sent))


def test_another_version_is_no_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as other:
        other.setattr("thence.impl.transport.frame._FORMAT", b"Wh\x02")
        data = Frame(0, 1, 2, b"x").to_bytes()
    with pytest.raises(FrameError, match="another format or version"):
        Frame.from_bytes(data)
