"""A seller's browser with the plug-in, and Vinted, in this process."""

import itertools
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from spinneret.jobs.models import Connection
from spinneret.kernel.errors import NotFound
from spinneret.marketplace.plugins.inbox import PluginInbox


class FakePlugin:
    """Implements Sockets: performs at once every task that is sent to its connection.

    Flags change that: `away` (the connection is gone), `deaf` (the socket accepts the task, but the
    plug-in doesn't get it), `lost` (the plug-in accepts the task and never performs it) and `mute`
    (it performs the task, but its answer is lost).
    """

    def __init__(self, inbox: PluginInbox, tenant: str, browser: str = "laptop") -> None:
        self._inbox = inbox
        self.browser = browser
        self.connection = Connection(id=f"{browser}-1", tenant=tenant, key_id="key_1")
        self.before: Callable[[dict[str, Any]], object] = lambda _: None
        """Function called before each task is sent; it may change the flags."""
        self.away = self.deaf = self.lost = self.mute = False
        self.doubles = False
        """Whether all earlier answers are repeated after each answer."""
        self.status: int | None = None
        """Status of Vinted's refusal of every task, with the body `refusal`; None: Vinted acts."""
        self.refusal: Mapping[str, Any] = {"message": "no"}
        self.refused_titles: set[str] = set()
        """Titles of drafts that Vinted refuses to complete."""
        self.empty = False
        self.odd: dict[str, tuple[int, Mapping[str, Any]]] = {}
        """Last part of a path → answer that the plug-in reports after Vinted has acted."""
        self.drafts: dict[str, Mapping[str, Any]] = {}
        self.photos: dict[str, str] = {}
        """Id of each uploaded photo → its source URL."""
        self.items: dict[str, dict[str, Any]] = {}
        self.done: dict[str, tuple[int, Mapping[str, Any]]] = {}
        """The plug-in's stored answers by key."""
        self.unconfirmed: list[str] = []
        """Keys of answers that the plug-in repeats after its next hello."""
        self.tasks: list[dict[str, Any]] = []
        self._numbers = itertools.count(1)

    def open(self) -> None:
        """Connect the browser, and repeat its unconfirmed answers."""
        self._inbox.hello(self.connection, {"marketplace": "vinted", "browser": self.browser})
        for key in self.unconfirmed:
            with suppress(NotFound):
                self.repeat(key)
        self.unconfirmed.clear()

    def post(self, connection_id: str, text: str) -> bool:
        task = json.loads(text)
        self.before(task)
        if self.away or connection_id != self.connection.id:
            return False
        self.tasks.append(task)
        if self.deaf:
            return True
        key = task["key"]
        try:
            self._inbox.accepted(self.connection, {"key": key, "browser": self.browser})
        except NotFound:  # another browser has the task
            return True
        if self.lost:
            return True
        if key not in self.done:
            self.done[key] = self._act(task)
        if self.mute:
            self.unconfirmed.append(key)
        else:
            self.repeat(key)
        if self.doubles:
            self._double()
        return True

    def _double(self) -> None:
        for key in self.done:
            with suppress(NotFound):  # it was requested again in the meantime
                self.repeat(key)

    def repeat(self, key: str) -> None:
        """Send an answer again that wasn't confirmed."""
        status, body = self.done[key]
        message = {"key": key, "status": status, "body": body, "browser": self.browser}
        self._inbox.answered(self.connection, message)

    def end(self, connection_id: str) -> None:
        self.away = True

    def _act(self, task: Mapping[str, Any]) -> tuple[int, Mapping[str, Any]]:
        if self.status is not None:
            return self.status, self.refusal
        if self.empty:
            return 200, {"items": []}
        last = str(task["path"]).rpartition("/")[2]
        done = self._done(task, last)
        return self.odd.get(last, done)

    def _done(self, task: Mapping[str, Any], last: str) -> tuple[int, Mapping[str, Any]]:
        number = next(self._numbers)
        match last:
            case "photos":
                self.photos[f"photo{number}"] = task["photo_url"]
                return 200, {"id": f"photo{number}"}
            case "drafts":
                self.drafts[f"draft{number}"] = task["body"]["draft"]
                return 200, {"draft": {"id": f"draft{number}"}}
            case "completion":
                draft = self.drafts[str(task["path"]).split("/")[-2]]
                if draft["title"] in self.refused_titles:
                    return 422, {"errors": [{"field": "title", "value": "no"}]}
                item = str(number + 9000)
                url = f"https://www.vinted.example/items/{item}"
                self.items[item] = {"id": item, "url": url, **_shown(draft)}
                return 200, {"item": self.items[item]}
            case item:
                return self._on_item(task, item)

    def _on_item(self, task: Mapping[str, Any], item: str) -> tuple[int, Mapping[str, Any]]:
        if item not in self.items:
            return 404, {}
        if task["method"] == "DELETE":
            del self.items[item]
            return 200, {"deleted": True}
        if task["method"] == "PUT":
            self.items[item] |= _shown(task["body"]["item"])
        return 200, {"item": self.items[item]}


def _shown(item: Mapping[str, Any]) -> dict[str, Any]:
    return {"title": item["title"], "photos": [each["id"] for each in item["assigned_photos"]]}
