"""One page: how it is set up, watched and awaited."""

import asyncio
import json
from contextlib import suppress
from typing import Any, Final

from cdp_use.cdp.page.events import JavascriptDialogOpeningEvent
from cdp_use.cdp.runtime.events import ConsoleAPICalledEvent, ExceptionThrownEvent
from cdp_use.cdp.target.events import AttachedToTargetEvent

from spinneret.kernel.errors import ScriptError
from spinneret.web.browser import limits
from spinneret.web.browser.devtools import CommandRefused, DevTools
from spinneret.web.browser.documents import Documents
from spinneret.web.browser.models import Viewport
from spinneret.web.browser.watch import Watch

POLL_SECONDS: Final = 0.1
_WEB: Final = ("http://", "https://", "ws://", "wss://")


class BrowserPage:
    """The one page of a browser, with everything that it starts."""

    def __init__(self, devtools: DevTools, watch: Watch, session: str, frame: str) -> None:
        self._devtools = devtools
        self._watch = watch
        self.session = session
        self.frame = frame
        self.console_errors: list[str] = []

    async def set_up(self, documents: Documents, viewport: Viewport) -> None:
        """Turn on what guards and watches the page, before its first request."""
        self._listen(documents)
        send, ask, session = self._devtools.send, self._devtools.ask, self.session
        await ask(send.Browser.setDownloadBehavior({"behavior": "deny"}))
        await ask(send.Page.enable(session_id=session))
        await ask(send.Runtime.enable(session_id=session))
        await ask(send.Network.enable(session_id=session))
        await ask(send.Inspector.enable(session_id=session))
        documents_only = {"patterns": [{"urlPattern": "*", "resourceType": "Document"}]}
        await ask(send.Fetch.enable(documents_only, session))  # type: ignore[arg-type]  # a TypedDict
        await ask(send.Network.setBypassServiceWorker({"bypass": True}, session))
        await ask(
            send.Emulation.setDeviceMetricsOverride(
                {
                    "width": viewport.width,
                    "height": viewport.height,
                    "deviceScaleFactor": viewport.scale,
                    "mobile": False,
                },
                session,
            )
        )
        await self._attach_to_children(session)

    def _listen(self, documents: Documents) -> None:
        """Register handlers; each runs in a task of its own, since the connection awaits them."""
        on, spawn = self._devtools.on, self._watch.spawn
        on.Fetch.requestPaused(lambda event, sid: spawn(documents.on_request_paused(event, sid)))
        on.Network.responseReceived(lambda event, _: documents.on_response(event))
        on.Network.dataReceived(lambda event, _: documents.on_data(event))
        on.Network.loadingFailed(lambda event, _: documents.on_failure(event))
        on.Network.requestWillBeSent(lambda event, _: self._count(event["request"]["url"]))
        on.Network.webSocketCreated(lambda event, _: self._count(event["url"]))
        on.Page.frameAttached(lambda _, __: self._watch.count_frame())
        on.Page.frameNavigated(lambda event, _: documents.on_navigated(event))
        on.Page.loadEventFired(lambda _, sid: self._on_load(documents, sid))
        on.Page.javascriptDialogOpening(lambda event, sid: spawn(self._dismiss(event, sid)))
        on.Runtime.consoleAPICalled(lambda event, _: self._on_console(event))
        on.Runtime.exceptionThrown(lambda event, _: self._on_exception(event))
        on.Inspector.targetCrashed(lambda _, sid: self._on_crash(sid))
        on.Target.attachedToTarget(lambda event, _: spawn(self._on_attached(event)))

    async def _attach_to_children(self, session: str) -> None:
        await self._devtools.ask(
            self._devtools.send.Target.setAutoAttach(
                {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True}, session
            )
        )

    async def _on_attached(self, event: AttachedToTargetEvent) -> None:
        """Watch a frame's process or a worker; close a popup or a service worker."""
        send, ask, child = self._devtools.send, self._devtools.ask, event["sessionId"]
        target = event["targetInfo"]
        try:
            if target["type"] in {"page", "service_worker"}:
                await ask(send.Target.closeTarget({"targetId": target["targetId"]}))
                return
            await ask(send.Network.enable(session_id=child))
            if target["type"] == "iframe":
                await ask(send.Page.enable(session_id=child))
            await self._attach_to_children(child)
            await ask(send.Runtime.runIfWaitingForDebugger(session_id=child))
        except CommandRefused:
            pass  # it ended meanwhile, or has no such domain: then it waits, and requests nothing

    def _count(self, url: str) -> None:
        if url.startswith(_WEB):  # data: and blob: come from the page itself
            self._watch.count_request()

    def _on_load(self, documents: Documents, session: str | None) -> None:
        if session == self.session:
            documents.loaded.set()

    def _on_crash(self, session: str | None) -> None:
        if session == self.session:
            self._watch.fail(self._watch.too_large("crashed, as pages do that use up their memory"))

    async def _dismiss(self, event: JavascriptDialogOpeningEvent, session: str | None) -> None:
        is_leaving = event["type"] == "beforeunload"
        with suppress(CommandRefused):  # the page closed it
            await self._devtools.ask(
                self._devtools.send.Page.handleJavaScriptDialog({"accept": is_leaving}, session)
            )

    # ------------------------------------------------------------ Console

    def _on_console(self, event: ConsoleAPICalledEvent) -> None:
        if event["type"] == "error":
            values = (_shown(each) for each in event["args"])
            self._keep(" ".join(values))

    def _on_exception(self, event: ExceptionThrownEvent) -> None:
        details = event["exceptionDetails"]
        thrown = details.get("exception")
        self._keep(_shown(thrown) if thrown is not None else details["text"])

    def _keep(self, text: str) -> None:
        if len(self.console_errors) < limits.CONSOLE_ERRORS_MAX:
            self.console_errors.append(text[: limits.CONSOLE_ERROR_MAX_CHARS])

    # ------------------------------------------------------------ Reading

    async def evaluate(self, expression: str) -> Any:
        """Return the JSON value of our own expression, or of its promise, out of the reach of the
        page's scripts.

        Raises CommandRefused if the page leaves its document meanwhile, and ScriptError.
        """
        send, ask = self._devtools.send, self._devtools.ask
        world = await ask(send.Page.createIsolatedWorld({"frameId": self.frame}, self.session))
        context = world["executionContextId"]
        answer = await ask(
            send.Runtime.evaluate(
                {
                    "expression": expression,
                    "contextId": context,
                    "returnByValue": True,
                    "awaitPromise": True,
                },
                self.session,
            )
        )
        if "exceptionDetails" in answer:
            raise ScriptError("the selector isn't valid")
        return answer["result"].get("value")

    async def require_selector(self, selector: str) -> None:
        """Raise ScriptError unless the text is a CSS selector."""
        await self.evaluate(f"document.querySelector({json.dumps(selector)}) === null")

    async def wait_for(self, selector: str) -> None:
        """Wait until an element is there."""
        found = f"document.querySelector({json.dumps(selector)}) !== null"
        while True:
            try:
                if await self.evaluate(found):
                    return
            except CommandRefused:
                pass  # the next document is asked
            await asyncio.sleep(POLL_SECONDS)


def _shown(value: Any) -> str:
    """Return a remote object as the console shows it."""
    return str(value.get("description", value.get("value", value.get("type"))))
