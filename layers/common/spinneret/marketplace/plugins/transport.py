"""Tasks for the seller's browser over the WebSocket (B-07).

The plug-in receives `{"type": "task", "task_id", "key", "marketplace", "method", "path",
"body", "photo_url"}`. It sends:

    {"action": "plugin.hello", "marketplace": "vinted", "browser"}  it is connected and free
    {"action": "plugin.accepted", "key", "browser"}                 it has the task, asks to begin
    {"action": "plugin.answer", "key", "status", "body", "browser"} the marketplace's answer

Each message is answered by `{"type": "confirmed", "of": action, "key"}`, or an error. `browser` is
a name that a plug-in invents once and keeps. The plug-in acts when its acceptance is confirmed. If
several browsers received a task, one is confirmed, and the task is then sent to that one only.

A task may arrive again, for instance after a reconnection. So a plug-in keeps its answers by key
until they are confirmed, repeats them for a repeated task, and does nothing twice. Before it acts,
it stores the answer `status: 0`, for an unknown outcome, and sends it if it was stopped meanwhile.
A refused request is sent again under another key. Answers are accepted only from connections to
which the task was sent, and from the browser that accepted it. After each hello it offers the
answers that it keeps. The error for an outdated answer names its key: the plug-in drops it.

A job that sent a request waits for the callback without a claim. The state of its execution
provides a token, which is stored with the key and sent to nobody. A plug-in's message is stored
first; then the token resumes the execution. A lost or late token only causes a delay: the stored
answer counts. The execution looks for it when the state's heartbeat or time ends.

Browsers can't send headers. They connect with a ticket for a job or a batch (POST
/api/v1/jobs/{id}/tickets), and get only its tasks. The key of the connection or of the ticket needs
the scope `write`, as publishing does.
"""

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from spinneret.jobs.driven.ports import CallbackTokens
from spinneret.jobs.models import Connection, JobRef
from spinneret.jobs.ports import Sockets
from spinneret.jobs.worker import Context
from spinneret.kernel.canonical import fingerprint
from spinneret.kernel.clock import Clock, Remaining
from spinneret.kernel.errors import (
    DependencyUnavailable,
    Forbidden,
    MarketplaceUnavailable,
    NotFound,
    ValidationFailed,
)
from spinneret.kernel.service import service
from spinneret.kernel.unicode import storable
from spinneret.marketplace import limits
from spinneret.marketplace.plugins.models import CallbackWait, Plugin, PluginAnswer, PluginRequest
from spinneret.marketplace.plugins.ports import PluginStore
from spinneret.marketplace.publishing.visits import AwaitsCallback
from spinneret.marketplace.tasks.models import Task

logger = logging.getLogger(__name__)

_ROUND_DIGITS: Final = 6

MayAct = Callable[[str, str], bool]
"""(tenant, key id) → whether the key may publish. Raises DependencyUnavailable."""


@service
class PluginTransport:
    """Sends requests to a seller's newest plug-in, and finds their answers."""

    store: PluginStore
    sockets: Sockets
    clock: Clock

    def ask(
        self, context: Context, task: Task, marketplace: str, request: PluginRequest
    ) -> PluginAnswer:
        """Return the plug-in's answer if it has arrived.

        Raises AwaitsCallback after the request was sent or resent, and while no plug-in is
        connected. Raises MarketplaceUnavailable if the browser that accepted it doesn't answer
        within PLUGIN_TASK_SECONDS. A request that no browser accepts in that time becomes a new
        request.
        """
        tenant, key = task.tenant, key_of(task, request)
        asked = self.store.sent(tenant, key)
        if asked is not None and asked.answer is not None:
            return asked.answer
        now = self.clock()
        late = timedelta(seconds=limits.PLUGIN_TASK_SECONDS)
        if asked is not None and (asked.accepted_at or asked.sent_at) + late <= now:
            if not self.store.withdraw(tenant, key):
                raise MarketplaceUnavailable(
                    f"no answer of the plug-in within {limits.PLUGIN_TASK_SECONDS:.0f} s"
                )
            asked = None
        families = (None, context.job.id, context.job.parent)
        plugins = [
            each for each in self.store.newest(tenant, marketplace) if each.only_job in families
        ]
        only = asked.accepted_by if asked is not None else None
        if only is not None:
            plugins = [each for each in plugins if each.browser == only]
        is_sent = self._sent(plugins, key, task, request) or only is not None
        what = "the plug-in's answer" if is_sent else f"a plug-in for {marketplace}"
        raise AwaitsCallback(now, key, what, is_begun=is_sent)

    def answer_of(self, task: Task, request: PluginRequest) -> PluginAnswer | None:
        """Return the answer that has arrived, or None; send nothing."""
        asked = self.store.sent(task.tenant, key_of(task, request))
        return asked.answer if asked is not None else None

    def was_sent(self, task: Task, request: PluginRequest) -> bool:
        """Return whether a plug-in may have the request."""
        return self.store.sent(task.tenant, key_of(task, request)) is not None

    def was_only_sent_as(self, task: Task, request: PluginRequest) -> bool:
        """Return whether the request was sent, and nothing else under its key."""
        asked = self.store.sent(task.tenant, key_of(task, request))
        return asked is not None and asked.contents == {_content(request)}

    def begin_again(self, task: Task, request: PluginRequest) -> None:
        """Begin a repeatable request again, with a new time limit."""
        self.store.begin_again(task.tenant, key_of(task, request))

    def _sent(
        self, plugins: Sequence[Plugin], key: str, task: Task, request: PluginRequest
    ) -> bool:
        """Send the request and return whether a plug-in was reached. It is recorded first, because
        a post without an answer may have reached the plug-in."""
        for plugin in plugins:
            number = self.store.send(plugin, key, _content(request), self.clock())
            message = _message(f"{key}.{number}", task, request)
            try:
                if self.sockets.post(plugin.connection_id, message):
                    return True
            except DependencyUnavailable as error:
                logger.warning("plugin_not_reached", extra={"reason": error.message})
                return True
            self.store.gone(plugin)
        return False


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


def key_of(task: Task, request: PluginRequest) -> str:
    """Return the key of a request. The same request keeps its key however often it is sent; one
    with a name of its own keeps it in every task."""
    if request.once is not None:
        return f"once.{fingerprint([request.once])[:40]}"
    return f"{task.id}.{_content(request)[:16]}"


def _content(request: PluginRequest) -> str:
    return fingerprint([request.method, request.path, dict(request.body), request.photo_url])


def _message(name: str, task: Task, request: PluginRequest) -> str:
    return json.dumps(
        {
            "type": "task",
            "task_id": task.id,
            "key": name,
            "marketplace": task.platform,
            "method": request.method,
            "path": request.path,
            "body": dict(request.body),
            "photo_url": request.photo_url,
        }
    )


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
