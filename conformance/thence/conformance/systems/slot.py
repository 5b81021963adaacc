"""One case of several that a foreign system holds at once: requests wait for the next batch, answers come later."""

from __future__ import annotations

from typing import Any

from thence.conformance.cases.network import Settings
from thence.conformance.systems import contract
from thence.conformance.systems.contract import Abilities, Broken, Raised, Waits
from thence.conformance.systems.foreign import LATER, SystemFailed, SystemRaised
from thence.conformance.systems.system import ExternalProcess, commands_in


class Slot:
    """A `MakeProcess` of one case. What its participants are asked is in `requests` until it is sent.

    The answer to a call is `LATER`. Then `answered` makes commands of the replies.

    Attributes:
        requests: what is to be asked next, with the number of the case.
    """

    def __init__(self, number: int, settings: Settings, abilities: Abilities) -> None:
        self._number = number
        self._settings = settings
        self._abilities = abilities
        self._senders: dict[str, int] = {}
        self._asked = 0
        self.requests: list[contract.Request] = []

    def begin_case(self, settings: Settings) -> None:
        """Asks for a new case. That the abilities are still the same comes to light with the reply."""
        self._add(contract.init(settings, range(settings.processes)))

    def __call__(self, identity: int, processes: int) -> Any:
        """Participant `identity`."""
        return ExternalProcess(self, identity, self._settings, self._abilities)

    def note(self, message: str, sender: int) -> None:
        """Remembers the sender of a message."""
        self._senders[message] = sender

    def ask(self, identity: int, request: contract.Request, *, may_wait: bool = False) -> list[Any]:
        """The answer comes later."""
        self._asked = identity
        self._add(request)
        return LATER

    def answered(self, replies: list[dict[str, Any]]) -> list[Any]:
        """The commands in the replies to the requests, of which the last one alone has any.

        Raises: SystemFailed, SystemRaised, as the system itself does.
        """
        asked, self.requests = self.requests, []
        commands: list[Any] = []
        try:
            for request, reply in zip(asked, replies, strict=True):
                if request["request"] == "init":
                    abilities = contract.abilities_in(reply)
                    if isinstance(abilities, Raised):
                        raise SystemRaised(abilities.error)
                    if abilities != self._abilities:
                        raise SystemFailed("crash", "replies to init with other abilities than before")
                    continue
                events = contract.events_in(reply, self._settings.processes)
                if isinstance(events, Raised):
                    raise SystemRaised(events.error)
                assert not isinstance(events, Waits)
                commands = commands_in(events, self._asked, self._senders)
        except Broken as error:
            raise SystemFailed("crash", str(error)) from None
        return commands

    def _add(self, request: contract.Request) -> None:
        request["case"] = self._number
        self.requests.append(request)
