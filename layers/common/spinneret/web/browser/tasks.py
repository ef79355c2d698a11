"""The outputs of a page that is ready."""

import asyncio
import base64
import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from cdp_use.cdp.page.commands import CaptureScreenshotParameters
from cdp_use.cdp.page.types import Viewport as Clip
from cdp_use.cdp.runtime.types import ExceptionDetails
from pypdf import PdfReader

from spinneret.kernel.canonical import is_deeper
from spinneret.kernel.errors import ScriptError
from spinneret.web.browser import limits
from spinneret.web.browser.devtools import CommandRefused, DevTools
from spinneret.web.browser.documents import Documents
from spinneret.web.browser.models import (
    Dom,
    ImageFormat,
    LabFigures,
    Paper,
    Pdf,
    Screenshot,
    ScriptOutcome,
    Scripts,
    Task,
)
from spinneret.web.browser.page import BrowserPage
from spinneret.web.browser.watch import Watch

_MM_PER_INCH: Final = 25.4
_INCHES: Final = {Paper.A4: (210 / _MM_PER_INCH, 297 / _MM_PER_INCH), Paper.LETTER: (8.5, 11.0)}
# A PNG takes half the time so, and a third more bytes.
_FAST: Final[CaptureScreenshotParameters] = {"optimizeForSpeed": True}
_GOOD: Final[CaptureScreenshotParameters] = {"quality": 85}
_ENCODING: Final = {ImageFormat.PNG: _FAST, ImageFormat.JPEG: _GOOD, ImageFormat.WEBP: _GOOD}
_MILLISECONDS: Final = 1000


@dataclass(frozen=True, kw_only=True)
class Output:
    """See the fields of RenderedPage."""

    body: bytes = b""
    scripts: tuple[ScriptOutcome, ...] = ()
    is_cut: bool = False
    figures: LabFigures | None = None


@dataclass(frozen=True, kw_only=True)
class Taker:
    """Takes outputs from one page."""

    devtools: DevTools
    watch: Watch
    page: BrowserPage
    documents: Documents
    monotonic: Callable[[], float]
    scale: float

    async def take(self, task: Task) -> Output:
        """Return the task's output. Raises ScriptError and PageTooLarge."""
        match task:
            case Screenshot():
                return await self._screenshot(task)
            case Pdf():
                return Output(body=await self._pdf(task))
            case Scripts():
                return Output(scripts=tuple([await self._run(each) for each in task.sources]))
            case Dom(is_measured=is_measured):
                figures = await self._figures() if is_measured else None
                return Output(body=await self._dom(), figures=figures)

    # ------------------------------------------------------------ Images

    async def _screenshot(self, task: Screenshot) -> Output:
        clip, is_cut = await self._clip(task)
        shot = self.devtools.send.Page.captureScreenshot(
            {
                "format": task.format.value,
                "clip": clip,
                "captureBeyondViewport": True,
                **_ENCODING[task.format],
            },
            self.page.session,
        )
        body = base64.b64decode((await self.devtools.ask(shot))["data"])
        return Output(body=self._bounded(body), is_cut=is_cut)

    async def _clip(self, task: Screenshot) -> tuple[Clip, bool]:
        """Return the part to show in CSS pixels, and whether it is less than all of it."""
        if task.selector is not None:
            x, y, width, height = await self.page.evaluate(_BOX % json.dumps(task.selector))
        else:
            metrics = await self.devtools.ask(
                self.devtools.send.Page.getLayoutMetrics(session_id=self.page.session)
            )
            if task.full_page:
                size = metrics["cssContentSize"]
                x, y, width, height = 0.0, 0.0, size["width"], size["height"]
            else:
                view = metrics["cssLayoutViewport"]
                x, y = float(view["pageX"]), float(view["pageY"])
                width, height = float(view["clientWidth"]), float(view["clientHeight"])
        if width < 1 or height < 1:
            raise ScriptError("the element has no size")
        longest = limits.IMAGE_MAX_SIDE / self.scale
        shown_width = min(width, longest)
        most_rows = limits.IMAGE_MAX_PIXELS / (shown_width * self.scale**2)
        shown_height = float(int(min(height, longest, most_rows)))
        clip: Clip = {"x": x, "y": y, "width": shown_width, "height": shown_height, "scale": 1}
        return clip, shown_width < width or shown_height < int(height)

    def _bounded(self, body: bytes) -> bytes:
        if len(body) > limits.OUTPUT_MAX_BYTES:
            raise self.watch.too_large(
                f"gives an output of more than {limits.OUTPUT_MAX_BYTES} bytes"
            )
        return body

    # ------------------------------------------------------------ PDF

    async def _pdf(self, task: Pdf) -> bytes:
        width, height = _INCHES[task.paper]
        margins = task.margins
        printed = await self.devtools.ask(
            self.devtools.send.Page.printToPDF(
                {
                    "landscape": task.landscape,
                    "printBackground": task.print_background,
                    "paperWidth": width,
                    "paperHeight": height,
                    "marginTop": margins.top / _MM_PER_INCH,
                    "marginRight": margins.right / _MM_PER_INCH,
                    "marginBottom": margins.bottom / _MM_PER_INCH,
                    "marginLeft": margins.left / _MM_PER_INCH,
                    "pageRanges": f"1-{limits.PDF_MAX_PAGES + 1}",
                    "transferMode": "ReturnAsStream",
                },
                self.page.session,
            )
        )
        body = await self._streamed(printed["stream"])
        if len(PdfReader(io.BytesIO(body)).pages) > limits.PDF_MAX_PAGES:
            raise self.watch.too_large(f"prints more than {limits.PDF_MAX_PAGES} sheets")
        return body

    async def _streamed(self, handle: str) -> bytes:
        """Read a stream of the browser; a PDF would be too large for one message."""
        parts = b""
        while True:
            part = await self.devtools.ask(
                self.devtools.send.IO.read({"handle": handle}, self.page.session)
            )
            data = part["data"]
            parts += base64.b64decode(data) if part.get("base64Encoded") else data.encode()
            self._bounded(parts)
            if part["eof"]:
                return parts

    # ------------------------------------------------------------ DOM and scripts

    async def _dom(self) -> bytes:
        html = await self.page.evaluate(_HTML)
        if html is None or len(body := str(html).encode("utf-8", "replace")) > (
            limits.DOCUMENT_MAX_BYTES
        ):
            raise self.documents.too_large()
        return body

    async def _figures(self) -> LabFigures:
        first, largest, shift = await self.page.evaluate(_FIGURES)
        return LabFigures(
            first_contentful_paint_ms=_rounded(first),
            largest_contentful_paint_ms=_rounded(largest),
            layout_shift=None if shift is None else round(float(shift), 4),
        )

    async def _run(self, source: str) -> ScriptOutcome:
        began_at = self.monotonic()
        try:
            async with asyncio.timeout(limits.SCRIPT_SECONDS):
                answer = await self.devtools.ask(
                    self.devtools.send.Runtime.evaluate(
                        {
                            "expression": source,
                            "awaitPromise": True,
                            "returnByValue": True,
                            "timeout": limits.SCRIPT_SECONDS * _MILLISECONDS,
                        },
                        self.page.session,
                    )
                )
        except TimeoutError:
            return _failed(f"it didn't end within {limits.SCRIPT_SECONDS:g} s")
        except CommandRefused:  # for any of several reasons
            if self.monotonic() - began_at >= limits.SCRIPT_SECONDS:
                return _failed(f"it didn't end within {limits.SCRIPT_SECONDS:g} s")
            return _failed("it left the document, or its value isn't JSON")
        if (thrown := answer.get("exceptionDetails")) is not None:
            return ScriptOutcome(error=_thrown(thrown))
        return _value(answer["result"])


def _rounded(milliseconds: float | None) -> int | None:
    return None if milliseconds is None else round(milliseconds)


def _value(result: Any) -> ScriptOutcome:
    """Return the outcome for a remote object that was returned by value."""
    if result["type"] == "undefined":
        return ScriptOutcome(value="null")
    if "value" not in result:  # NaN, infinities, -0, big integers
        return _failed("its value isn't JSON")
    if is_deeper(result["value"], limits.SCRIPT_RESULT_LEVELS):
        most = limits.SCRIPT_RESULT_LEVELS
        return _failed(f"its value has more than {most} levels of lists and objects")
    value = json.dumps(result["value"], ensure_ascii=False, separators=(",", ":"))
    if len(value.encode("utf-8", "replace")) > limits.SCRIPT_RESULT_MAX_BYTES:
        return _failed(f"its value has more than {limits.SCRIPT_RESULT_MAX_BYTES} bytes")
    return ScriptOutcome(value=value)


def _failed(message: str) -> ScriptOutcome:
    return ScriptOutcome(error=ScriptError(f"the script has no result: {message}"))


def _thrown(details: ExceptionDetails) -> ScriptError:
    exception = details.get("exception", {})
    text = str(exception.get("description", exception.get("value", details["text"])))
    return ScriptError(
        text.partition("\n")[0][: limits.CONSOLE_ERROR_MAX_CHARS],
        details={"line": details["lineNumber"] + 1, "column": details["columnNumber"] + 1},
    )


_BOX: Final = """(() => {
    const box = document.querySelector(%s).getBoundingClientRect();
    return [box.x + scrollX, box.y + scrollY, box.width, box.height];
})()"""

_HTML: Final = f"""(() => {{
    const doctype = document.doctype === null ? "" : "<!DOCTYPE html>\\n";
    const html = doctype + (document.documentElement?.outerHTML ?? "");
    return html.length > {limits.DOCUMENT_MAX_BYTES} ? null : html;
}})()"""

# Entries so far arrive with the first call of an observer; a page that never paints gives none.
# A window of shifts ends after a second without one (web.dev/articles/cls).
_FIGURES: Final = f"""new Promise((done) => {{
    let first = null, largest = null, shift = 0, sum = 0, began = 0, last = 0;
    const see = (type, read) => new PerformanceObserver((list) => list.getEntries().forEach(read))
        .observe({{ type, buffered: true }});
    see("paint", (each) => {{
        if (each.name === "first-contentful-paint") first = each.startTime;
    }});
    see("largest-contentful-paint", (each) => {{ largest = each.startTime; }});
    see("layout-shift", (each) => {{
        if (each.hadRecentInput) return;
        const isSame = sum > 0 && each.startTime - last < 1000 && each.startTime - began < 5000;
        if (!isSame) {{ sum = 0; began = each.startTime; }}
        sum += each.value;
        last = each.startTime;
        shift = Math.max(shift, sum);
    }});
    setTimeout(() => done([first, largest, first === null ? null : shift]), {limits.FIGURES_MS});
}})"""
