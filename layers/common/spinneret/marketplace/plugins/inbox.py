"""Messages of plug-ins, and the states of executions that wait for them; see `transport`."""

import logging
from collections.abc import Callable, Mapping
from typing import Any, Final

from spinneret.jobs.driven.ports import CallbackTokens
from spinneret.jobs.models import Connection, JobRef
from spinneret.kernel.clock import Clock, Remaining
from spinneret.kernel.errors import DependencyUnavailable, Forbidden, NotFound, ValidationFailed
from spinneret.kernel.service import service
from spinneret.kernel.unicode import storable
from spinneret.marketplace.plugins.models import CallbackWait, Plugin, PluginAnswer
from spinneret.marketplace.plugins.ports import PluginStore

logger = logging.getLogger(__name__)

_ROUND_DIGITS: Final = 6

MayAct = Callable[[str, str], bool]
"""(tenant, key id) → whether the key may publish. Raises DependencyUnavailable."""


@service
class PluginCallbacks:
    """Handler of the state that waits for a plug-in's answer."""

    store: PluginStore
    tokens: CallbackTokens
    clock: Clock

    def wait(self, state: Mapping[str, Any], _: Remaining) -> None:
        """Store the state's token. If there is nothing to wait for, complete the state at once.

        Raises DependencyUnavailable.
        """
        ref = JobRef(tenant=state["tenant"], job_id=state["job_id"])
        wait = CallbackWait(ref=ref, fence=state["fence"], key=state["key"], token=state["token"])
        if not self.store.wait(wait, self.clock()):
            self.tokens.complete(wait.token)
            return
        sent = self.store.sent(ref.tenant, wait.key)  # the answer may have preceded the token
        if sent is not None and sent.answer is not None:
            wake(self.store, self.tokens, ref.tenant, wait.key)


@service
class PluginInbox:
    """Handler of plug-ins' messages, for the WebSocket function."""

    store: PluginStore
    tokens: CallbackTokens
    marketplaces: frozenset[str]
    may_act: MayAct
    clock: Clock

    @property
    def actions(self) -> Mapping[str, Callable[[Connection, Mapping[str, Any]], dict[str, Any]]]:
        """Handlers by the messages' `action`."""
        return {
            "plugin.hello": self.hello,
            "plugin.accepted": self.accepted,
            "plugin.answer": self.answered,
        }

    def hello(self, connection: Connection, message: Mapping[str, Any]) -> dict[str, Any]:
        """Store a connected plug-in, and wake the states that wait for one. Raises Forbidden and
        ValidationFailed."""
        self._require_leave(connection)
        marketplace = message.get("marketplace")
        if not isinstance(marketplace, str) or marketplace not in self.marketplaces:
            raise _wrong("marketplace")
        self.store.connect(
            Plugin(
                tenant=connection.tenant,
                connection_id=connection.id,
                marketplace=marketplace,
                connected_at=self.clock(),
                browser=_browser(connection, message),
                only_job=connection.only_job,
            )
        )
        for key in self.store.waiting(connection.tenant):
            wake(self.store, self.tokens, connection.tenant, key)
        return {"type": "confirmed", "of": "plugin.hello"}

    def accepted(self, connection: Connection, message: Mapping[str, Any]) -> dict[str, Any]:
        """Store a browser's acceptance of a task; the browser may begin once this is confirmed.
        Raises Forbidden, ValidationFailed and NotFound."""
        self._require_leave(connection)
        name, browser, now = _key(message), _browser(connection, message), self.clock()
        key, number = _asked(name)
        if not self.store.accept(connection.tenant, key, number, connection.id, browser, now):
            raise NotFound("no such task was sent, another browser has it, or it is answered")
        token = self.store.token(connection.tenant, key)
        if token is not None:
            _harmless(lambda: self.tokens.heartbeat(token))
        return {"type": "confirmed", "of": "plugin.accepted", "key": name}

    def answered(self, connection: Connection, message: Mapping[str, Any]) -> dict[str, Any]:
        """Store the marketplace's answer; the first one counts. Raises Forbidden, ValidationFailed
        and NotFound."""
        self._require_leave(connection)
        name, status, body = _key(message), message.get("status"), message.get("body")
        if not isinstance(status, int):
            raise _wrong("status")
        if not isinstance(body, dict):
            raise _wrong("body")
        answer, browser = PluginAnswer(status=status, body=body), _browser(connection, message)
        key, number = _asked(name)
        if not self.store.answer(connection.tenant, key, number, connection.id, browser, answer):
            raise _unasked(name)
        wake(self.store, self.tokens, connection.tenant, key)
        return {"type": "confirmed", "of": "plugin.answer", "key": name}

    def _require_leave(self, connection: Connection) -> None:
        """Raise Forbidden unless the key may publish: the receiver of tasks decides what is
        published."""
        if not self.may_act(connection.tenant, connection.key_id):
            raise Forbidden("the key lacks the scope write")


def wake(store: PluginStore, tokens: CallbackTokens, tenant: str, key: str) -> None:
    """Resume the state that waits for this key, if there is one. Raises DependencyUnavailable for
    the store only."""
    token = store.take_token(tenant, key)
    if token is not None:
        _harmless(lambda: tokens.complete(token))


def _harmless(callback: Callable[[], object]) -> None:
    """Call back and log a failure, which only causes a delay: the state's time ends by itself."""
    try:
        callback()
    except DependencyUnavailable as error:
        logger.warning("callback_lost", extra={"reason": error.message})


def _asked(name: str) -> tuple[str, int]:
    """Return a request's key and round from the name sent to the plug-in. Raises NotFound."""
    key, _, number = name.rpartition(".")
    if not key or not number.isdecimal() or len(number) > _ROUND_DIGITS:
        raise _unasked(name)
    return key, int(number)


def _unasked(name: str) -> NotFound:
    return NotFound("no such task was sent", details={"of": "plugin.answer", "key": name})


def _key(message: Mapping[str, Any]) -> str:
    return _name("key", message.get("key"))


def _browser(connection: Connection, message: Mapping[str, Any]) -> str:
    """Return the browser's name; a browser without one counts as another at each connection."""
    return _name("browser", message.get("browser", connection.id))


def _name(field: str, value: Any) -> str:
    """Return a name that a row can hold. Raises ValidationFailed."""
    if not isinstance(value, str) or not 1 <= len(value) <= 120 or storable(value) != value:
        raise _wrong(field)
    return value


def _wrong(field: str) -> ValidationFailed:
    return ValidationFailed.of_field(field, "isn't valid", error=f"invalid: {field}")
