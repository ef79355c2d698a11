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
from collections.abc import Sequence
from datetime import datetime, timedelta

from spinneret.jobs.ports import Sockets
from spinneret.jobs.worker import Context
from spinneret.kernel.canonical import fingerprint
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import DependencyUnavailable
from spinneret.kernel.service import service
from spinneret.marketplace import limits
from spinneret.marketplace.plugins.models import Plugin, PluginRequest, Sent
from spinneret.marketplace.plugins.ports import PluginStore
from spinneret.marketplace.publishing.job_step import AwaitsCallback
from spinneret.marketplace.tasks.models import Task

logger = logging.getLogger(__name__)


@service
class PluginTransport:
    """Sends requests to a seller's newest plug-in, and finds their answers."""

    store: PluginStore
    sockets: Sockets
    clock: Clock

    def ask(self, context: Context, task: Task, request: PluginRequest) -> Sent:
        """Return the round that was answered, or whose browser has accepted it and doesn't answer
        within PLUGIN_TASK_SECONDS: that one has no answer.

        Raises AwaitsCallback after the request was sent or resent, and while no plug-in is
        connected. A request that no browser accepts in that time becomes a new request.
        """
        key, now = key_of(task, request), self.clock()
        asked = self.asked(task, request)
        if asked is not None and _is_nobodys(asked) and _is_late(asked, now):
            is_over = self.store.withdraw(task.tenant, key, asked.number)
            asked = None if is_over else self.asked(task, request)
        if asked is not None and (asked.answer is not None or _is_late(asked, now)):
            return asked
        families = (None, context.job.id, context.job.parent)
        connected = self.store.newest(task.tenant, task.platform)
        plugins = [each for each in connected if each.only_job in families]
        only = asked.accepted_by if asked is not None else None
        if only is not None:
            plugins = [each for each in plugins if each.browser == only]
        is_sent = self._sent(plugins, key, task, request) or only is not None
        what = "the plug-in's answer" if is_sent else f"a plug-in for {task.platform}"
        raise AwaitsCallback(now, key, what, is_begun=is_sent)

    def asked(self, task: Task, request: PluginRequest) -> Sent | None:
        """Return the round that a plug-in may have, or None; send nothing."""
        return self.store.sent(task.tenant, key_of(task, request))

    def begin_again(self, task: Task, request: PluginRequest, asked: Sent) -> None:
        """Begin a request again after this round, with a new time limit; another claim may have
        done so."""
        self.store.begin_again(task.tenant, key_of(task, request), asked.number)

    def _sent(
        self, plugins: Sequence[Plugin], key: str, task: Task, request: PluginRequest
    ) -> bool:
        """Send the request and return whether a plug-in was reached. It is recorded first, because
        a post without an answer may have reached the plug-in."""
        for plugin in plugins:
            number = self.store.send(plugin, key, content_of(request), self.clock())
            message = _message(f"{key}.{number}", task, request)
            try:
                if self.sockets.post(plugin.connection_id, message):
                    return True
            except DependencyUnavailable as error:
                logger.warning("plugin_not_reached", extra={"reason": error.message})
                return True
            self.store.gone(plugin)
        return False


def key_of(task: Task, request: PluginRequest) -> str:
    """Return the key of a request. The same request keeps its key however often it is sent; one
    with a name of its own keeps it in every task."""
    if request.once is not None:
        return f"once.{fingerprint([request.once])[:40]}"
    return f"{task.id}.{content_of(request)[:16]}"


def content_of(request: PluginRequest) -> str:
    """Return the fingerprint of a request's content."""
    return fingerprint([request.method, request.path, dict(request.body), request.photo_url])


def _is_nobodys(asked: Sent) -> bool:
    return asked.accepted_by is None and asked.answer is None


def _is_late(asked: Sent, now: datetime) -> bool:
    late = timedelta(seconds=limits.PLUGIN_TASK_SECONDS)
    return (asked.accepted_at or asked.sent_at) + late <= now


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
