"""A seller's browser with the plug-in in it, and Vinted behind it, in this process."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from typing import Any

from spinneret.jobs.models import Connection
from spinneret.marketplace.vinted.transport import PluginInbox


class FakePlugin:
    """Implements Sockets: what is sent to its connection is done at once, unless it is `away`,
    `deaf` (it gets the task and is lost) or `mute` (it acts, and its answer is lost)."""

    def __init__(self, inbox: PluginInbox, tenant: str) -> None:
        self._inbox = inbox
        self.connection = Connection(id="browser-1", tenant=tenant, key_id="key_1")
        self.away = self.deaf = self.mute = False
        self.status: int | None = None
        """What Vinted answers instead."""
        self.empty = False
        self.odd: dict[str, tuple[int, Mapping[str, Any]]] = {}
        """By the path's last part: what the plug-in makes of an answer after Vinted has acted."""
        self.drafts: list[str] = []
        self.items: dict[str, dict[str, Any]] = {}
        self.done: dict[str, tuple[int, Mapping[str, Any]]] = {}
        """The plug-in's memory: answers by key."""
        self.tasks: list[dict[str, Any]] = []
        self._numbers = itertools.count(1)

    def open(self) -> None:
        """The browser connects."""
        self._inbox.hello(self.connection, {"marketplace": "vinted"})

    def post(self, connection_id: str, text: str) -> bool:
        if self.away or connection_id != self.connection.id:
            return False
        task = json.loads(text)
        self.tasks.append(task)
        if self.deaf:
            return True
        key = task["key"]
        self._inbox.accepted(self.connection, {"key": key})
        if key not in self.done:
            self.done[key] = self._act(task)
        if not self.mute:
            self.repeat(key)
        return True

    def repeat(self, key: str) -> None:
        """Tell an answer that wasn't confirmed."""
        status, body = self.done[key]
        self._inbox.answered(self.connection, {"key": key, "status": status, "body": body})

    def end(self, connection_id: str) -> None:
        self.away = True

    def _act(self, task: Mapping[str, Any]) -> tuple[int, Mapping[str, Any]]:
        if self.status is not None:
            return self.status, {"message": "no"}
        if self.empty:
            return 200, {"items": []}
        last = str(task["path"]).rpartition("/")[2]
        done = self._done(str(task["method"]), last)
        return self.odd.get(last, done)

    def _done(self, method: str, last: str) -> tuple[int, Mapping[str, Any]]:
        match last:
            case "photos":
                return 200, {"id": f"photo{next(self._numbers)}"}
            case "drafts":
                self.drafts.append(f"draft{next(self._numbers)}")
                return 200, {"draft": {"id": self.drafts[-1]}}
            case "completion":
                item = str(next(self._numbers) + 9000)
                self.items[item] = {"id": item, "url": f"https://www.vinted.example/items/{item}"}
                return 200, {"item": self.items[item]}
            case item:
                return self._on_item(method, item)

    def _on_item(self, method: str, item: str) -> tuple[int, Mapping[str, Any]]:
        if item not in self.items:
            return 404, {}
        if method == "DELETE":
            del self.items[item]
            return 200, {"deleted": True}
        return 200, {"item": {**self.items[item], "title": "Wool coat"}}
