"""The contract: what is asked and what is understood agree with the published JSON Schema."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from thence.conformance.cases.network import Settings
from thence.conformance.systems import contract
from thence.conformance.systems.contract import Abilities, Broken, Delivered, Emitted, Foreign, Raised, Reacted, Waits

SCHEMA = json.loads((files("thence.conformance.systems") / "contract.schema.json").read_text(encoding="utf-8"))


def valid(value: object, part: str) -> bool:
    """Whether the schema allows it as that."""
    return bool(Draft202012Validator({**SCHEMA, "oneOf": [{"$ref": f"#/$defs/{part}"}]}).is_valid(value))


def test_the_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert contract.VERSION == SCHEMA["title"] == SCHEMA["$defs"]["init"]["properties"]["version"]["const"]
    assert not valid({}, "request") and not valid({}, "reply")


@pytest.mark.parametrize(
    ("asked", "what"),
    [
        (contract.init(Settings(5, channels="fifo", loss=True, delivery="multicast"), [1]), "init"),
        (contract.send("send", 1, (0, 2), "m1.1"), "send"),
        (contract.send("react", 0, (1,), "m0.7"), "react"),
        (contract.receive(2, 0, {"any": ["thing", None]}), "receive"),
        (contract.tick(0), "tick"),
        (contract.tick(0, "beat"), "tick"),
        (contract.input_(1, "acquire", (2, True)), "input"),
        (contract.batch([{"case": 3, **contract.tick(0)}, {"case": 0, **contract.init(Settings(2), [0, 1])}]), "batch"),
    ],
)
def test_requests_are_lines_that_the_schema_allows(asked: contract.Request, what: str) -> None:
    line = contract.line(asked)
    assert line.endswith(b"\n") and line.count(b"\n") == 1
    read = json.loads(line)
    assert valid(read, "request") and read["request"] == what
    assert valid(read, what)
    assert not valid(read, "reply")


# Whatever a system may say: the right words in the right places, with some of them spoilt.
CONTENT = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
PROCESS = st.integers(0, 4)
SPOILT = st.sampled_from([True, -1, 1.5, 2.0, "0", [], {}, None])
TEXT = st.text(max_size=5) | SPOILT
EVENTS = st.one_of(
    st.fixed_dictionaries(
        {"packet": CONTENT, "to": PROCESS | st.lists(PROCESS | SPOILT, max_size=3) | SPOILT},
        optional={"kind": TEXT, "message": TEXT, "deliver": TEXT},
    ),
    st.fixed_dictionaries({"deliver": TEXT}, optional={"from": PROCESS | SPOILT}),
    st.fixed_dictionaries({"sent": TEXT}),
    CONTENT,
)
REPLIES = st.one_of(
    st.fixed_dictionaries({"events": st.lists(EVENTS, max_size=3)}, optional={"error": CONTENT, "request": TEXT}),
    st.fixed_dictionaries({"events": SPOILT}),
    st.fixed_dictionaries({"waits": SPOILT}, optional={"events": st.lists(EVENTS, max_size=1), "request": TEXT}),
    st.fixed_dictionaries({"error": CONTENT}),
    CONTENT,
)


@settings(derandomize=True, deadline=None, max_examples=250)
@given(REPLIES)
def test_a_report_is_understood_where_the_schema_allows_it(reply: Any) -> None:
    line = json.dumps(reply).encode()
    try:
        found = contract.read_events(line, 5, may_wait=True)
    except Broken as error:
        assert not valid(reply, "report") and not valid(reply, "error") and not valid(reply, "waiting")
        assert str(error).isprintable() and len(str(error)) < 500
        return
    match found:
        case Raised():
            assert valid(reply, "error")
        case Waits():
            assert valid(reply, "waiting") and not valid(reply, "report")
            with pytest.raises(Broken, match="only an application that has an input"):
                contract.read_events(line, 5)
        case events:
            assert valid(reply, "report") and not valid(reply, "waiting")
            assert len(events) == len(reply["events"])


@settings(derandomize=True, deadline=None, max_examples=100)
@given(
    st.fixed_dictionaries(
        {"version": st.sampled_from(["thence-exec/1", "thence-exec/2", 1, None])},
        optional={
            "cases": SPOILT | st.integers(-1, 3),
            "timers": SPOILT,
            "react": SPOILT,
            "kinds": st.booleans(),
            "error": TEXT,
            "request": TEXT,
        },
    )
)
def test_a_greeting_is_understood_where_the_schema_allows_it(reply: Any) -> None:
    try:
        found = contract.read_abilities(json.dumps(reply).encode())
    except Broken:
        assert not valid(reply, "greeting") and not valid(reply, "error")
        return
    assert valid(reply, "error" if isinstance(found, Raised) else "greeting")


@pytest.mark.parametrize("reply", [{}, {"replies": 1}, {"replies": [1, {}]}, {"replies": [{}]}, {"error": "no"}, []])
def test_replies_to_a_batch_are_as_many_as_requests(reply: Any) -> None:
    with pytest.raises(Broken, match=r"to a batch|is not a JSON object"):
        contract.read_replies(json.dumps(reply).encode(), 2)
    assert valid({"replies": [{"events": []}, {"error": "no"}]}, "reply")
    assert contract.read_replies(b'{"replies": [{"events": []}, {"error": "no"}]}', 2) == [
        {"events": []},
        {"error": "no"},
    ]


def test_what_is_understood() -> None:
    line = (
        b'{"events": [{"packet": {"a": [1]}, "to": [1, 2.0], "kind": "MSG", "message": "m0.1"},'
        b' {"deliver": "m1.1", "from": 1}, {"sent": "m0.2"}, {"packet": null, "to": 0}, {"deliver": "m1.2"}]}'
    )
    assert contract.read_events(line, 3) == (
        Emitted((1, 2), Foreign({"a": [1]}, "MSG", "m0.1")),
        Delivered("m1.1", 1),
        Reacted("m0.2"),
        Emitted((0,), Foreign(None)),
        Delivered("m1.2", None),
    )
    fields = b'{"events": [{"packet": 7, "to": 1, "kind": "MSG", "fields": {"n": 2}}]}'
    assert contract.read_events(fields, 3) == (Emitted((1,), Foreign(7, "MSG", None, {"n": 2})),)
    with pytest.raises(Broken, match="fields are not an object"):
        contract.read_events(fields.replace(b'{"n": 2}', b"[2]"), 3)
    assert contract.read_events(b'{"error": "out\\nof order"}', 3) == Raised("out\\nof order")
    assert contract.read_abilities(b'{"version": "thence-exec/1", "timers": false}') == Abilities(timers=False)


@settings(derandomize=True, deadline=None, max_examples=200)
@given(st.text(max_size=400))
def test_words_for_people_are_one_short_printable_line(text: str) -> None:
    for said in (contract.printable(text), contract.shown(text.encode(errors="replace")), contract.shortened(text)):
        assert said.isprintable()
        said.encode()
        assert len(said) <= 12 * contract.NAME_LENGTH
