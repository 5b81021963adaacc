"""Trace files: what is read is what was written, and every fault gets its place and its message."""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

import pytest

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from thence.spec.events import Deliver, Execution, Receive, Send
from thence.spec.trace import LONGEST_LINE_BYTES, Trace, TraceError, read_trace, write_trace

CHOICES = st.lists(st.tuples(st.integers(0, 10), st.integers(0, 4), st.integers(0, 40)), max_size=30)
Build = Callable[[int, Sequence[tuple[int, int, int]]], Execution]

HEADER = '{"format": "thence-trace/1", "processes": 2, "system": "x"}'
SEND = '{"event": "send", "process": 0, "message": "a", "destinations": [1]}'
RECEIVE = '{"event": "receive", "process": 1, "message": "a", "from": 0}'
DELIVER = '{"event": "deliver", "process": 1, "message": "a"}'


def written(folder: Path, *lines: str | bytes) -> Path:
    path = folder / "t.ndjson"
    path.write_bytes(b"".join((line if isinstance(line, bytes) else line.encode()) + b"\n" for line in lines))
    return path


def test_reads_the_format(tmp_path: Path) -> None:
    trace = read_trace(written(tmp_path, HEADER, "", SEND, RECEIVE, DELIVER, DELIVER))
    assert trace.header == {"system": "x"}
    assert trace.execution == Execution(2, (Send(0, "a", (1,)), Receive(1, "a", 0), Deliver(1, "a"), Deliver(1, "a")))


def test_a_byte_order_mark_windows_line_ends_and_other_fields_do_not_matter(tmp_path: Path) -> None:
    send = SEND.replace("}", ', "clock": [1, 0]}')
    trace = read_trace(written(tmp_path, b"\xef\xbb\xbf" + HEADER.encode() + b"\r", send + "\r"))
    assert trace.execution.events == (Send(0, "a", (1,)),)


@settings(derandomize=True, deadline=None, max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    processes=st.integers(2, 5),
    choices=CHOICES,
    header=st.dictionaries(st.text(min_size=1), st.text() | st.booleans() | st.integers(), max_size=3),
)
def test_what_is_written_is_read_back(
    execution_of: Build,
    tmp_path: Path,
    processes: int,
    choices: list[tuple[int, int, int]],
    header: dict[str, str | bool | int],
) -> None:
    header = {name: value for name, value in header.items() if name not in ("format", "processes")}
    trace = Trace(execution_of(processes, choices), header)
    write_trace(tmp_path / "t.ndjson", trace)
    assert read_trace(tmp_path / "t.ndjson") == trace
    assert [path.name for path in tmp_path.iterdir()] == ["t.ndjson"]


NESTED = '{"event":' + "[" * 100_000 + "]" * 100_000 + "}"


@pytest.mark.parametrize(
    ("lines", "line", "problem"),
    [
        ([], None, "the file is empty"),
        ([""], None, "the file is empty"),
        (["\x00\x01\x02"], 1, "this is a binary file"),
        ([b"\xff\xfe\x89PNG"], 1, "this is a binary file, or not UTF-8"),
        (["hello"], 1, "the line is not JSON"),
        ([HEADER, SEND.replace('"message"', '"process": 1, "message"')], 2, "the key process stands twice"),
        (["[1, 2]"], 1, "the line is not a JSON object: [1, 2]"),
        ([SEND], 1, "the header is missing"),
        (['{"format": "other/2", "processes": 2}'], 1, 'the format is "other/2"'),
        (['{"format": "thence-trace/1"}'], 1, '"processes" in the header is missing'),
        (['{"format": "thence-trace/1", "processes": true}'], 1, '"processes" in the header is true'),
        (['{"format": "thence-trace/1", "processes": 0}'], 1, '"processes" in the header is 0'),
        (['{"format": "thence-trace/1", "processes": 1000000000}'], 1, "in the header is 1000000000"),
        ([HEADER, SEND, '{"event": "deliver", "proc', DELIVER], 3, "the line is not JSON (Unterminated string"),
        ([HEADER, NESTED], 2, "nested too deeply"),
        ([HEADER, '{"process": ' + "1" * 5000 + "}"], 2, "a number is too long"),
        ([HEADER, "x" * (LONGEST_LINE_BYTES + 5)], 2, "the line is longer than 1,048,576 bytes"),
        ([HEADER, SEND.replace('"a"', f'"{"a" * LONGEST_LINE_BYTES}"')], 2, "the line is longer than 1,048,576 bytes"),
        (
            [HEADER, SEND, SEND.replace('"a"', f'"{"a" * LONGEST_LINE_BYTES}"')],
            3,
            "the line is longer than 1,048,576 bytes",
        ),
        ([HEADER.replace('"x"', '"x", "inferred": "true"'), SEND], 1, '"inferred" in the header is "true"'),
        ([HEADER.replace('"x"', '"x", "loss": 1'), SEND], 1, '"loss" in the header is 1'),
        ([HEADER.replace('"x"', '"x", "duplication": null'), SEND], 1, '"duplication" in the header is null'),
        ([HEADER.replace('"x"', '"x", "channels": "FIFO"'), SEND], 1, '"channels" in the header is "FIFO"'),
        ([HEADER.replace('"x"', '"x", "delivery": ["unicast"]'), SEND], 1, '"delivery" in the header is ["unicast"]'),
        ([HEADER, DELIVER], 2, "message 'a' is delivered, but no earlier line sends it"),
        ([HEADER, RECEIVE], 2, "message 'a' is received, but no earlier line sends it"),
        ([HEADER, SEND, "", SEND], 4, "message 'a' is sent again (first in line 2)"),
        ([HEADER, SEND.replace("[1]", "[2]")], 2, '"destinations" has 2, which is not one of the 2 processes'),
        ([HEADER, SEND.replace("[1]", '["1"]')], 2, '"destinations" has "1", which is not one of the 2 processes'),
        ([HEADER, SEND.replace("[1]", "1")], 2, '"destinations" is 1'),
        ([HEADER, SEND.replace("0", "-1")], 2, '"process" has -1, which is not one of the 2 processes'),
        ([HEADER, SEND, RECEIVE.replace('"from": 0', '"from": 9')], 3, '"from" has 9'),
        ([HEADER, SEND, RECEIVE.replace('"from"', '"form"')], 3, '"from" is missing'),
        ([HEADER, SEND, DELIVER.replace('"a"', "7")], 3, '"message" is 7'),
        ([HEADER, SEND.replace("send", "sent")], 2, '"event" is "sent"'),
        ([HEADER, '{"process": 0, "message": "a"}'], 2, '"event" is missing'),
    ],
)
def test_faults_have_a_place_and_a_message(
    tmp_path: Path, lines: list[str | bytes], line: int | None, problem: str
) -> None:
    path = written(tmp_path, *lines)
    with pytest.raises(TraceError) as caught:
        read_trace(path)
    error = caught.value
    assert error.line == line
    assert problem in error.problem
    assert str(error).startswith(f"{path}:{line}: " if line else f"{path}: ")
    assert error.advice in str(error)
    assert len(str(error)) < 600


def test_a_directory_and_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="is a directory, not a trace"):
        read_trace(tmp_path)
    with pytest.raises(TraceError, match="cannot be read: No such file or directory"):
        read_trace(tmp_path / "missing.ndjson")


@settings(
    derandomize=True, deadline=None, max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(position=st.integers(0, 400), junk=st.binary(max_size=4), cut=st.booleans())
def test_a_damaged_file_is_read_or_refused(tmp_path: Path, position: int, junk: bytes, cut: bool) -> None:
    whole = "\n".join((HEADER, SEND, RECEIVE, DELIVER, "")).encode()
    damaged = whole[:position] if cut else whole[:position] + junk + whole[position + len(junk) :]
    path = tmp_path / "t.ndjson"
    path.write_bytes(damaged)
    try:
        trace = read_trace(path)
    except TraceError as error:
        assert str(error).startswith(str(path))
    else:
        assert trace.execution.processes >= 1


def test_an_unwritable_place_leaves_nothing_behind(tmp_path: Path) -> None:
    trace = Trace(Execution(1, ()))
    with pytest.raises(TraceError, match="cannot be written: No such file or directory"):
        write_trace(tmp_path / "missing" / "t.ndjson", trace)
    (tmp_path / "folder").mkdir()
    with pytest.raises(TraceError, match="cannot be written"):
        write_trace(tmp_path / "folder", trace)
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_a_header_that_is_not_json_leaves_the_old_file(tmp_path: Path) -> None:
    path = written(tmp_path, HEADER)
    with pytest.raises(TypeError):
        write_trace(path, Trace(Execution(1, ()), {"when": object()}))
    assert json.loads(path.read_text()) == json.loads(HEADER)
    assert [p.name for p in tmp_path.iterdir()] == ["t.ndjson"]


# --- what is read fast is what is read line by line ------------------------------------------------


def mangled(random: Random, line: str) -> str:
    """A line with a small fault, or another way to write the same."""
    match random.randrange(14):
        case 0:
            return line.replace('"process": ', '"process": 0')
        case 1:
            return line.replace("[", "[,").replace("]", ", ]")
        case 2:
            return line.replace(": ", ":")
        case 3:
            return line.replace("}", ', "more": {"process": 9}}')
        case 4:
            at = random.randrange(len(line))
            return line[:at] + random.choice(' "\\,:{}[]0a\t\x00\u2028é') + line[at:]
        case 5:
            at = random.randrange(len(line))
            return line[:at] + line[at + 1 :]
        case 6:
            return line + line
        case 7:
            return line.replace('"event"', '"event": "send", "event"')
        case 8:
            return line.replace("deliver", "delivered")
        case 9:
            return "\r" + line + "\r"
    return line


def read_or_refused(path: Path) -> object:
    try:
        return read_trace(path)
    except TraceError as error:
        return str(error)


@pytest.mark.parametrize("seed", range(6))
def test_plain_lines_are_read_as_json_reads_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, execution_of: Build
) -> None:
    random = Random(seed)
    for _ in range(60):
        choices = [(random.randrange(11), random.randrange(4), random.randrange(16)) for _ in range(20)]
        trace = Trace(execution_of(4, choices))
        path = tmp_path / "t.ndjson"
        write_trace(path, trace)
        head, *lines = path.read_text(encoding="utf-8").replace(",", ", ").replace(":", ": ").splitlines()
        head = head.replace("thence-trace/1 ", "thence-trace/1")
        path.write_text("\n".join([head, *(mangled(random, line) for line in lines)]), encoding="utf-8")
        fast = read_or_refused(path)
        with monkeypatch.context() as slow:
            slow.setattr("thence.spec.trace._plain", lambda _block: None)
            assert read_or_refused(path) == fast


def test_blocks_end_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, HEADER, SEND, RECEIVE, "", DELIVER, DELIVER, DELIVER)
    whole = read_trace(path)
    for size in range(1, 200, 7):
        monkeypatch.setattr("thence.spec.trace._BLOCK_BYTES", size)
        assert read_trace(path) == whole
    path.write_bytes(path.read_bytes() + b"{")
    with pytest.raises(TraceError, match=r"t\.ndjson:8: "):
        read_trace(path)


# --- compressed ------------------------------------------------------------------------------------


Packed = Callable[[bytes], bytes]
PACKED = pytest.mark.parametrize("pack", [gzip.compress, zstd.compress], ids=["gzip", "zstd"])


@PACKED
def test_a_compressed_recording_is_read(pack: Packed, tmp_path: Path) -> None:
    path = written(tmp_path, HEADER, SEND, DELIVER)
    packed = tmp_path / "t.packed"
    packed.write_bytes(pack(path.read_bytes()))
    assert read_trace(packed) == read_trace(path)


@PACKED
@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: data[: len(data) // 2],
        lambda data: data[:40] + bytes([data[40] ^ 255]) + data[41:],
        lambda data: data[:-4] + b"\0\0\0\0",
        lambda data: data[:2],
        lambda data: data + b"rest",
    ],
)
def test_a_damaged_packed_file_is_refused(pack: Packed, tmp_path: Path, spoil: Callable[[bytes], bytes]) -> None:
    lines = [HEADER, *(SEND.replace('"a"', f'"{number * number}"') for number in range(300))]
    packed = tmp_path / "t.packed"
    packed.write_bytes(spoil(pack("\n".join(lines).encode())))
    with pytest.raises(TraceError, match=r"damaged (gzip|zstd) file|not JSON|binary"):
        read_trace(packed)


@PACKED
def test_a_small_file_does_not_become_a_large_one(
    pack: Packed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("thence.spec.trace.MOST_UNPACKED_BYTES", 3 << 20)
    packed = tmp_path / "t.packed"
    packed.write_bytes(pack(HEADER.encode() + b"\n" + b"\n" * (4 << 20)))
    with pytest.raises(TraceError, match="more than 3 MiB when decompressed"):
        read_trace(packed)
