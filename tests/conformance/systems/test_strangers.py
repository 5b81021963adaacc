"""Classes that misbehave in every way that Python allows: findings about them, and text that can be shown."""

from __future__ import annotations

import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from thence.conformance.cases.network import Settings
from thence.conformance.cases.schedule import Send
from thence.conformance.conform.conform import conform
from thence.conformance.conform.sampling import Sampling
from thence.conformance.harness.harness import run_case
from thence.conformance.systems.returned import COMMAND_LIMIT
from thence.conformance.systems.strangers import plain, say, shown, word
from thence.impl.commands import Deliver
from thence.impl.commands import Send as Transmit


class Mute:
    """Cannot be shown, and says nothing of itself."""

    def __repr__(self) -> str:
        raise ValueError("no text")

    @property
    def message(self) -> str:
        raise RuntimeError("not to be had")


class Speechless(Exception):
    def __str__(self) -> str:
        raise ValueError("no message")


class Subject:
    """Delivers whatever arrives; `does` is what it does besides when something arrives."""

    does: Callable[[Any], Any]

    def __init__(self, identity: int, processes: int) -> None:
        self.identity = identity

    def causal_send(self, destination: int, message: str) -> list[Any]:
        return [Transmit(destination, SimpleNamespace(message=message))]  # type: ignore[arg-type]

    def receive(self, sender: int, packet: Any) -> Any:
        return type(self).does(packet)


def doing(does: Callable[[Any], Any]) -> type[Subject]:
    return type("Doing", (Subject,), {"does": staticmethod(does)})


def raising(error: BaseException) -> type[Subject]:
    def fail(_packet: Any) -> Any:
        raise error

    return doing(fail)


def endless(packet: Any) -> Any:
    while True:
        yield Deliver(0, packet.message)


async def asynchronous(packet: Any) -> list[Any]:
    return [Deliver(0, packet.message)]


@pytest.mark.parametrize(
    ("subject", "kind", "said"),
    [
        (raising(BaseException("x")), "crash", "raises BaseException: x"),
        (raising(GeneratorExit()), "crash", "raises GeneratorExit"),
        (raising(SystemExit(0)), "crash", "raises SystemExit: 0"),
        (raising(RecursionError()), "crash", "raises RecursionError"),
        (raising(Speechless()), "crash", "raises Speechless: (without a message)"),
        (raising(RuntimeError("\ud800 \x1b[31m")), "crash", r"raises RuntimeError: \ud800 \x1b[31m"),
        (doing(lambda _: None), "crash", "it returns None, where a list of commands is due; is a `return` forgotten?"),
        (doing(lambda _: 5), "crash", "it returns 5, where a list of commands is due"),
        (doing(lambda _: "m0.1"), "crash", "it returns 'm0.1', where a list"),
        (doing(lambda _: {}), "crash", "it returns {}, where a list"),
        (doing(lambda _: Deliver(0, "m0.1")), "crash", "it returns one Deliver, where a list of commands is due"),
        (doing(asynchronous), "crash", "it is asynchronous, and returns a coroutine"),
        (doing(lambda _: [Mute()]), "crash", "returns <Mute without a text>, which is neither"),
        (doing(lambda _: [Deliver(0, Mute())]), "phantom", "delivers <Mute without a text>"),  # type: ignore[arg-type]
        (doing(lambda _: [Transmit(True, Mute())]), "crash", "sends a packet to True"),  # type: ignore[arg-type]
        (doing(lambda _: [Deliver(0, "\ud800\x1b")]), "phantom", r"delivers '\ud800\x1b'"),
        (doing(endless), "crash", f"returns {COMMAND_LIMIT:,} commands or more at once"),
        (doing(lambda _: [Transmit(1, Mute())]), "endless", "there is no end"),  # type: ignore[arg-type]
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_it_is_a_finding_that_can_be_shown(subject: type[Subject], kind: str, said: str) -> None:
    outcome = run_case(subject, (Send(0, 1),), Settings(), limit_s=20)
    finding = next(found for found in outcome.findings if found.kind == kind)
    assert said in finding.text
    for text in (str(finding), finding.traceback):
        assert text.replace("\n", "").isprintable()
    assert json.dumps([str(found) for found in outcome.findings], ensure_ascii=False).encode()


def test_what_is_asked_of_a_process_may_fail() -> None:
    class Blocked(Subject):
        does = staticmethod(lambda packet: [Deliver(0, packet.message)])

        @property
        def blocked(self) -> bool:
            raise RuntimeError("who knows")

    [finding] = run_case(Blocked, (Send(0, 1),), Settings()).findings
    assert (finding.kind, finding.text) == ("crash", "p0: blocked raises RuntimeError: who knows")
    assert conform(Blocked, None, Settings(), Sampling(cases=20)).counterexamples[0].kinds == ("crash",)


def test_an_interruption_is_none_of_its_faults() -> None:
    with pytest.raises(KeyboardInterrupt):
        run_case(raising(KeyboardInterrupt()), (Send(0, 1),), Settings())


def test_words() -> None:
    thing = SimpleNamespace(name="m0.1", odd="\x07", number=7, none=None)
    assert [word(thing, name) for name in ("name", "odd", "number", "none", "nothing")] == [
        "m0.1", r"\x07", "7", None, None,
    ]  # fmt: skip
    assert word(Mute(), "message") is None
    assert shown(Mute()) == "<Mute without a text>" and shown("a\nb") == r"'a\nb'"
    assert len(shown("x" * 10_000)) <= 200 and len(say(ValueError("x" * 10_000))) <= 300
    assert plain("a\n\tb\udcff") == "a\n\\tb\\udcff"


def test_a_generator_of_commands_is_run() -> None:
    def one(packet: Any) -> Any:
        yield Deliver(0, packet.message)

    assert run_case(doing(one), (Send(0, 1),), Settings()).findings == ()
