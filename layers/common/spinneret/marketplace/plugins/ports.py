"""Ports of the plug-in transport."""

from datetime import datetime
from typing import Protocol

from spinneret.marketplace.plugins.models import CallbackWait, Plugin, PluginAnswer, Sent


class PluginStore(Protocol):
    """Plug-ins and requests sent to them, by tenant. Raises DependencyUnavailable."""

    def connect(self, plugin: Plugin) -> None:
        """Store a plug-in that has connected."""

    def newest(self, tenant: str, marketplace: str) -> list[Plugin]:
        """Return connected plug-ins, newest first."""

    def gone(self, plugin: Plugin) -> None:
        """Delete a plug-in that can't be reached."""

    def sent(self, tenant: str, key: str) -> Sent | None:
        """Return the last round that was sent under a key, with its answer, or None."""

    def send(self, plugin: Plugin, key: str, content: str, now: datetime) -> int:
        """Record that the request is about to be sent to a plug-in; the first time is kept.
        `content` is the fingerprint of its content.

        Return the number of the request's round.
        """

    def begin_again(self, tenant: str, key: str, number: int) -> None:
        """Forget that this round was sent: the next one is a new request to a plug-in. No-op if a
        later round has begun."""

    def withdraw(self, tenant: str, key: str, number: int) -> bool:
        """Begin the request again unless a browser has accepted or answered this round, or a
        later one has begun; return whether it was begun. No browser can accept the round
        afterwards."""

    def accept(
        self, tenant: str, key: str, number: int, connection_id: str, browser: str, now: datetime
    ) -> bool:
        """Record that a browser accepted this round, and when it first did; no other browser can
        accept it.

        Return False if the round wasn't sent to the connection, another browser has it, or it is
        answered.
        """

    def wait(self, wait: CallbackWait, now: datetime) -> bool:
        """Store the token of a state that waits for this key's answer; the newest token counts.
        Return False if the job no longer waits under its fence."""

    def waiting(self, tenant: str) -> list[str]:
        """Return keys that states wait for, at most PLUGIN_WAITS_WOKEN."""

    def token(self, tenant: str, key: str) -> str | None:
        """Return the token of the state that waits for the key, or None."""

    def take_token(self, tenant: str, key: str) -> str | None:
        """Remove and return the token; of several callers only one gets it."""

    def answer(
        self,
        tenant: str,
        key: str,
        number: int,
        connection_id: str,
        browser: str,
        answer: PluginAnswer,
    ) -> bool:
        """Store the first answer to this round; return False if the round was neither sent to the
        connection nor accepted by the browser."""
