"""The plug-in's protocol without a browser, for tests: does the same as `clients/vinted-plugin`.

Vinted itself is a table of responses.
"""

import itertools
import json
import threading
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any, Final, Self

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

_BROWSER: Final = "headless"


class HeadlessPlugin:
    """A plug-in that is connected inside its `with` block and performs the tasks that it gets."""

    def __init__(self, address: str, key: str) -> None:
        self._address, self._key = address, key
        self.done: dict[str, tuple[int, Mapping[str, Any]]] = {}
        """Answers by key, repeated if a task is sent again."""
        self._tasks: dict[str, str] = {}
        """Paths by key of the tasks that it has been offered but not yet assigned."""
        self.confirmed: set[str] = set()
        self.items: list[str] = []
        self.ready = threading.Event()
        self._numbers = itertools.count(1)
        self._open = ExitStack()
        self._socket: ClientConnection | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        made = connect(self._address, additional_headers={"X-API-Key": self._key}, open_timeout=30)
        self._socket = self._open.enter_context(made)
        self._send(action="plugin.hello", marketplace="vinted", browser=_BROWSER)
        for key in self.done.keys() - self.confirmed:
            self._answer(key)
        self._thread.start()
        assert self.ready.wait(30)
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()
        self._thread.join(5)

    def _run(self) -> None:
        assert self._socket is not None
        try:
            for text in self._socket:
                self._receive(json.loads(text))
        except ConnectionClosed:
            return

    def _receive(self, message: Mapping[str, Any]) -> None:
        if message["type"] == "confirmed":
            self.ready.set()
            if message["of"] == "plugin.answer":
                self._tasks.pop(message["key"], None)  # the task may have been sent again
                self.confirmed.add(message["key"])
            elif message["of"] == "plugin.accepted":
                self._carry_out(message["key"])
        elif message["type"] == "task":
            self._tasks[message["key"]] = str(message["path"])
            self._send(action="plugin.accepted", key=message["key"], browser=_BROWSER)

    def _carry_out(self, key: str) -> None:
        path = self._tasks.pop(key, None)
        if path is None:
            return
        if key not in self.done:
            self.done[key] = self._act(path)
        self._answer(key)

    def _answer(self, key: str) -> None:
        status, body = self.done[key]
        answer = {"key": key, "status": status, "body": body, "browser": _BROWSER}
        self._send(action="plugin.answer", **answer)

    def _act(self, path: str) -> tuple[int, Mapping[str, Any]]:
        number = next(self._numbers)
        match path.rpartition("/")[2]:
            case "photos":
                return 200, {"id": f"photo{number}"}
            case "drafts":
                return 200, {"draft": {"id": f"draft{number}"}}
            case "completion":
                self.items.append(str(9000 + number))
                url = f"https://www.vinted.example/items/{9000 + number}"
                return 200, {"item": {"id": str(9000 + number), "url": url}}
        return 404, {"message": "not found"}

    def _send(self, **message: Any) -> None:
        assert self._socket is not None
        self._socket.send(json.dumps(message))
