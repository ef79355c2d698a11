"""What the plug-in's transport needs from outside."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from spinneret.marketplace.vinted.models import CallbackWait, Plugin, PluginAnswer, Sent


class PluginStore(Protocol):
    """Plug-ins and what was sent to them, by tenant. Raises DependencyUnavailable."""

    def connect(self, plugin: Plugin) -> None:
        """A plug-in says that it is there."""
        ...

    def newest(self, tenant: str, marketplace: str) -> list[Plugin]:
        """Plug-ins that said so, the newest first."""
        ...

    def gone(self, plugin: Plugin) -> None:
        """Forget one that can't be reached."""
        ...

    def sent(self, tenant: str, key: str) -> Sent | None:
        """What was sent under a key, and its answer."""
        ...

    def send(self, plugin: Plugin, key: str, content: str, now: datetime) -> int:
        """Record that the request is about to be sent to a plug-in; the first time stays. `content`
        is the fingerprint of what is sent.

        Answers its round: how often it was begun again.
        """
        ...

    def begin_again(self, tenant: str, key: str) -> None:
        """Forget that it was sent: its next round is another request to a plug-in."""
        ...

    def withdraw(self, tenant: str, key: str) -> bool:
        """Begin it again, unless a browser has it or has answered: what no browser accepted, none
        may begin any more."""
        ...

    def accept(
        self, tenant: str, key: str, number: int, connection_id: str, browser: str, now: datetime
    ) -> bool:
        """A plug-in has this round, since it first said so, and no other browser will; False for
        what wasn't sent to its connection, what another browser has, and what is answered."""
        ...

    def wait(self, wait: CallbackWait, now: datetime) -> bool:
        """Keep the token of a state that waits for this key's answer, the newest one; False when
        the job no longer waits under its fence."""
        ...

    def waiting(self, tenant: str) -> list[str]:
        """Keys that a state waits for, some tens at most."""
        ...

    def token(self, tenant: str, key: str) -> str | None:
        """The token of the state that waits for it."""
        ...

    def take_token(self, tenant: str, key: str) -> str | None:
        """The token, which is forgotten: of several callers one gets it."""
        ...

    def answer(
        self, tenant: str, key: str, number: int, connection_id: str, answer: PluginAnswer
    ) -> bool:
        """Store the first answer to this round; False for what wasn't sent to its connection."""
        ...
