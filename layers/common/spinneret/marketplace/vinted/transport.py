"""Tasks for the seller's browser over the WebSocket (B-07).

What goes to the plug-in: `{"type": "task", "task_id", "key", "marketplace", "method", "path",
"body", "photo_url"}`. What comes from it:

    {"action": "plugin.hello", "marketplace": "vinted", "browser"}  it is there, and free
    {"action": "plugin.accepted", "key", "browser"}                 it has the task, and may begin?
    {"action": "plugin.answer", "key", "status", "body"}            what the marketplace answered

Each is answered by `{"type": "confirmed", "of": action, "key"}`, or an error. `browser` is a name
that a plug-in makes up once and keeps. It acts when its acceptance is confirmed: of several
browsers that got a task one is, and from then on the task is sent to that one alone. A task may
come again, after a reconnection for instance: a plug-in keeps its answers by key until they are
confirmed, repeats them when it does, and does nothing twice. Before it acts it keeps the answer
`status: 0`, which says that it doesn't know: that is what it answers if it was stopped meanwhile.
What was refused is asked for again under another key. Answers are taken from connections that the
task was sent to.

A job that has asked waits for the callback without a claim: the state of its execution gives us a
token, which is kept beside the key and never sent to anybody. What a plug-in says is stored first;
then the token lets the execution go on. A lost or late token delays: the stored answer counts, and
the execution looks for it when the state's heartbeat or time ends.

Browsers can't send headers: they connect by a ticket for a job or a batch (POST
/api/v1/jobs/{id}/tickets), and get the tasks of that alone. The key, or the one that the ticket was
issued to, has the scope `write`, as publishing asks for.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from spinneret.jobs.driven.ports import CallbackTokens
from spinneret.jobs.models import Connection, JobRef
from spinneret.jobs.ports import Sockets
from spinneret.jobs.worker import Context
from spinneret.kernel import bounds
from spinneret.kernel.canonical import fingerprint
from spinneret.kernel.clock import Clock, Remaining
from spinneret.kernel.errors import (
    DependencyUnavailable,
    Forbidden,
    MarketplaceUnavailable,
    NotFound,
    ValidationFailed,
)
from spinneret.marketplace.publishing.visits import AwaitsCallback
from spinneret.marketplace.tasks.models import Task
from spinneret.marketplace.vinted.models import CallbackWait, Plugin, PluginAnswer, PluginRequest
from spinneret.marketplace.vinted.ports import PluginStore

logger = logging.getLogger(__name__)

_ROUND_DIGITS: Final = 6
PLUGIN_MARKETPLACES: Final = ("vinted",)
"""Marketplaces that are reached by a plug-in."""

MayAct = Callable[[str, str], bool]
"""Whether a tenant's key, by its id, may publish. Raises DependencyUnavailable."""


class PluginTransport:
    """Sends requests to the newest plug-in of a seller, and finds their answers."""

    def __init__(self, store: PluginStore, sockets: Sockets, clock: Clock) -> None:
        self._store = store
        self._sockets = sockets
        self._clock = clock

    def ask(
        self, context: Context, task: Task, marketplace: str, request: PluginRequest
    ) -> PluginAnswer:
        """The plug-in's answer if it has come.

        Raises AwaitsCallback when it was asked, again if it was before, and while no plug-in is
        connected; MarketplaceUnavailable after PLUGIN_TASK_SECONDS without an answer of the browser
        that accepted it. What none has accepted in such a time is a new request.
        """
        tenant, key = task.tenant, key_of(task, request)
        asked = self._store.sent(tenant, key)
        if asked is not None and asked.answer is not None:
            return asked.answer
        now = self._clock()
        late = timedelta(seconds=bounds.PLUGIN_TASK_SECONDS)
        if asked is not None and (asked.accepted_at or asked.sent_at) + late <= now:
            if not self._store.withdraw(tenant, key):
                raise MarketplaceUnavailable(
                    f"no answer of the plug-in within {bounds.PLUGIN_TASK_SECONDS:.0f} s"
                )
            asked = None
        families = (None, context.job.id, context.job.parent)
        plugins = [
            each for each in self._store.newest(tenant, marketplace) if each.only_job in families
        ]
        only = asked.accepted_by if asked is not None else None
        if only is not None:
            plugins = [each for each in plugins if each.browser == only]
        is_sent = self._sent(plugins, key, task, request) or only is not None
        what = "the plug-in's answer" if is_sent else f"a plug-in for {marketplace}"
        raise AwaitsCallback(now, key, what, is_begun=is_sent)

    def answer_of(self, task: Task, request: PluginRequest) -> PluginAnswer | None:
        """The answer that came, without asking."""
        asked = self._store.sent(task.tenant, key_of(task, request))
        return asked.answer if asked is not None else None

    def was_sent(self, task: Task, request: PluginRequest) -> bool:
        """Whether a plug-in may have it."""
        return self._store.sent(task.tenant, key_of(task, request)) is not None

    def was_only_sent_as(self, task: Task, request: PluginRequest) -> bool:
        """Whether nothing else was sent under its key."""
        asked = self._store.sent(task.tenant, key_of(task, request))
        return asked is not None and asked.contents == {_content(request)}

    def begin_again(self, task: Task, request: PluginRequest) -> None:
        """Give a request that may be repeated its time anew."""
        self._store.begin_again(task.tenant, key_of(task, request))

    def _sent(
        self, plugins: Sequence[Plugin], key: str, task: Task, request: PluginRequest
    ) -> bool:
        """Whether a plug-in was reached; recorded before, as a lost answer may have reached it."""
        for plugin in plugins:
            number = self._store.send(plugin, key, _content(request), self._clock())
            message = _message(f"{key}.{number}", task, request)
            try:
                if self._sockets.post(plugin.connection_id, message):
                    return True
            except DependencyUnavailable as error:
                logger.warning("plugin_not_reached", extra={"reason": error.message})
                return True
            self._store.gone(plugin)
        return False


class PluginCallbacks:
    """The state that waits for a plug-in's answer."""

    def __init__(self, store: PluginStore, tokens: CallbackTokens, clock: Clock) -> None:
        self._store = store
        self._tokens = tokens
        self._clock = clock

    def wait(self, state: Mapping[str, Any], _: Remaining) -> None:
        """Keep the state's token, unless there is nothing to wait for: then it goes on at once.

        Raises DependencyUnavailable.
        """
        ref = JobRef(tenant=state["tenant"], job_id=state["job_id"])
        wait = CallbackWait(ref=ref, fence=state["fence"], key=state["key"], token=state["token"])
        if not self._store.wait(wait, self._clock()):
            self._tokens.complete(wait.token)
            return
        sent = self._store.sent(ref.tenant, wait.key)  # its answer may have come before the token
        if sent is not None and sent.answer is not None:
            wake(self._store, self._tokens, ref.tenant, wait.key)


class PluginInbox:
    """What plug-ins send, for the WebSocket function."""

    def __init__(
        self,
        store: PluginStore,
        tokens: CallbackTokens,
        marketplaces: frozenset[str],
        may_act: MayAct,
        clock: Clock,
    ) -> None:
        self._store = store
        self._tokens = tokens
        self._marketplaces = marketplaces
        self._may_act = may_act
        self._clock = clock

    @property
    def actions(self) -> Mapping[str, Callable[[Connection, Mapping[str, Any]], dict[str, Any]]]:
        """By the messages' `action`."""
        return {
            "plugin.hello": self.hello,
            "plugin.accepted": self.accepted,
            "plugin.answer": self.answered,
        }

    def hello(self, connection: Connection, message: Mapping[str, Any]) -> dict[str, Any]:
        """A plug-in says that it is there: what waits for one is sent to it. Raises Forbidden and
        ValidationFailed."""
        self._require_leave(connection)
        marketplace = message.get("marketplace")
        if marketplace not in self._marketplaces:
            raise _wrong("marketplace")
        self._store.connect(
            Plugin(
                tenant=connection.tenant,
                connection_id=connection.id,
                marketplace=str(marketplace),
                connected_at=self._clock(),
                browser=_browser(connection, message),
                only_job=connection.only_job,
            )
        )
        for key in self._store.waiting(connection.tenant):
            wake(self._store, self._tokens, connection.tenant, key)
        return {"type": "confirmed", "of": "plugin.hello"}

    def accepted(self, connection: Connection, message: Mapping[str, Any]) -> dict[str, Any]:
        """It has a task, and may begin once this is confirmed. Raises Forbidden, ValidationFailed
        and NotFound."""
        self._require_leave(connection)
        name, browser, now = _key(message), _browser(connection, message), self._clock()
        key, number = _asked(name)
        if not self._store.accept(connection.tenant, key, number, connection.id, browser, now):
            raise NotFound("no such task was sent, another browser has it, or it is answered")
        token = self._store.token(connection.tenant, key)
        if token is not None:
            _harmless(lambda: self._tokens.heartbeat(token))
        return {"type": "confirmed", "of": "plugin.accepted", "key": name}

    def answered(self, connection: Connection, message: Mapping[str, Any]) -> dict[str, Any]:
        """The marketplace's answer; the first one counts. Raises Forbidden, ValidationFailed and
        NotFound."""
        self._require_leave(connection)
        name, status, body = _key(message), message.get("status"), message.get("body")
        if not isinstance(status, int):
            raise _wrong("status")
        if not isinstance(body, dict):
            raise _wrong("body")
        answer = PluginAnswer(status=status, body=body)
        key, number = _asked(name)
        if not self._store.answer(connection.tenant, key, number, connection.id, answer):
            raise NotFound("no such task was sent")
        wake(self._store, self._tokens, connection.tenant, key)
        return {"type": "confirmed", "of": "plugin.answer", "key": name}

    def _require_leave(self, connection: Connection) -> None:
        """Whoever gets tasks and answers them decides what is published."""
        if not self._may_act(connection.tenant, connection.key_id):
            raise Forbidden("the key lacks the scope write")


def wake(store: PluginStore, tokens: CallbackTokens, tenant: str, key: str) -> None:
    """Let the state that waits for this key go on, if there is one. Raises DependencyUnavailable
    of the store alone."""
    token = store.take_token(tenant, key)
    if token is not None:
        _harmless(lambda: tokens.complete(token))


def _harmless(callback: Callable[[], object]) -> None:
    """A callback that isn't answered delays: the state's time ends by itself."""
    try:
        callback()
    except DependencyUnavailable as error:
        logger.warning("callback_lost", extra={"reason": error.message})


def key_of(task: Task, request: PluginRequest) -> str:
    """Names a request: the same one keeps it, however often it is sent, and what must not be done
    twice keeps it in every job."""
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
    """The request and its round that a plug-in knows by this name. Raises NotFound."""
    key, _, number = name.rpartition(".")
    if not key or not number.isdecimal() or len(number) > _ROUND_DIGITS:
        raise NotFound("no such task was sent")
    return key, int(number)


def _key(message: Mapping[str, Any]) -> str:
    key = message.get("key")
    if not isinstance(key, str) or not 1 <= len(key) <= 120:
        raise _wrong("key")
    return key


def _browser(connection: Connection, message: Mapping[str, Any]) -> str:
    """One without a name is another browser at each connection."""
    browser = message.get("browser", connection.id)
    if not isinstance(browser, str) or not 1 <= len(browser) <= 120:
        raise _wrong("browser")
    return browser


def _wrong(field: str) -> ValidationFailed:
    return ValidationFailed(f"invalid: {field}", details={"fields": [{"field": field}]})
