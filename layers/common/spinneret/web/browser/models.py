"""Values of rendering: a page to open, what to take from it, and the answer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from spinneret.kernel.errors import ScriptError
from spinneret.web.browser import limits
from spinneret.web.fetching.urls import Url


@dataclass(frozen=True, kw_only=True)
class Viewport:
    """Size of the window in CSS pixels, and device pixels per CSS pixel. Raises ValueError."""

    width: int = 1280
    height: int = 800
    scale: float = 1.0

    def __post_init__(self) -> None:
        if not 1 <= self.width <= limits.VIEWPORT_MAX_WIDTH:
            raise ValueError(f"impossible width: {self.width}")
        if not 1 <= self.height <= limits.VIEWPORT_MAX_HEIGHT:
            raise ValueError(f"impossible height: {self.height}")
        if not 1 <= self.scale <= limits.VIEWPORT_MAX_SCALE:
            raise ValueError(f"impossible scale: {self.scale}")


class ImageFormat(StrEnum):
    """Format of a screenshot; its value is the subtype of the media type."""

    PNG = "png"
    JPEG = "jpeg"
    WEBP = "webp"


class Paper(StrEnum):
    """Sheet of a PDF."""

    A4 = "A4"
    LETTER = "letter"


@dataclass(frozen=True, kw_only=True)
class Margins:
    """Margins of a PDF's pages in millimetres."""

    top: float = 10.0
    right: float = 10.0
    bottom: float = 10.0
    left: float = 10.0


@dataclass(frozen=True, kw_only=True)
class Screenshot:
    """Take an image of the viewport, of the whole page, or of one element."""

    format: ImageFormat = ImageFormat.PNG
    full_page: bool = True
    selector: str | None = None
    """CSS selector of the element; wins over `full_page`."""


@dataclass(frozen=True, kw_only=True)
class Pdf:
    """Print the page."""

    paper: Paper = Paper.A4
    landscape: bool = False
    margins: Margins = Margins()
    print_background: bool = True


@dataclass(frozen=True, kw_only=True)
class Scripts:
    """Run scripts in the page one after the other, even if one before it failed."""

    sources: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Dom:
    """Take the rendered document as HTML in UTF-8, without the documents of its frames."""

    is_measured: bool = False
    """Whether the page's lab figures are taken, too."""


Task = Screenshot | Pdf | Scripts | Dom


@dataclass(frozen=True, kw_only=True)
class RenderRequest:
    """A page to open, and what to take from it once it is ready.

    It is ready after its load event, then `wait_for`, then `wait_seconds`.
    """

    url: Url
    task: Task
    viewport: Viewport = Viewport()
    wait_for: str | None = None
    """CSS selector of an element that must be there."""
    wait_seconds: float = 0.0
    total_seconds: float = limits.RENDER_SECONDS
    left_seconds: Callable[[], float] | None = None
    """Returns the caller's remaining seconds when the browser starts; they bound `total_seconds`.
    An exception from the callable ends the rendering."""
    before_document: Callable[[Url], None] | None = None
    """Called before each request for the page's main document: the first, each redirect, and each
    navigation by the page itself. An exception refuses the request and ends the rendering. It runs
    in a thread of its own, and its time counts as the page's."""


@dataclass(frozen=True, kw_only=True)
class ScriptOutcome:
    """Outcome of one script: a value or an error."""

    value: str | None = None
    """Value in JSON; None if there is an error. `undefined` is `null`."""
    error: ScriptError | None = None
    """Its details give `line` and `column` in the script, from 1, if they are known."""


@dataclass(frozen=True, kw_only=True)
class LabFigures:
    """Figures of one visit in this browser, by the clock of the page: no visitor's. None if the
    browser gave none."""

    first_contentful_paint_ms: int | None = None
    largest_contentful_paint_ms: int | None = None
    layout_shift: float | None = None
    """Cumulative layout shift: the largest sum of shifts within a window of five seconds."""


@dataclass(frozen=True, kw_only=True)
class RenderedPage:
    """The output of the task, with facts of the page."""

    requested: Url
    url: Url
    """URL of the main document from which the task took."""
    status_code: int
    media_type: str
    """Media type of the main document."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Headers of the main document, with names in lower case."""
    body: bytes = field(default=b"", repr=False)
    """Image, PDF or HTML; empty for scripts."""
    scripts: tuple[ScriptOutcome, ...] = ()
    """Outcomes in the order of the task's sources."""
    figures: LabFigures | None = None
    """Lab figures, if the task asked for them."""
    is_cut: bool = False
    """Whether the image shows only the upper part of a page that is too high for one."""
    console_errors: tuple[str, ...] = ()
    """First errors that the page logged or didn't catch."""
    requests: int
    transferred_bytes: int
    """Bytes that the page received and sent, as encoded on the wire."""
    duration_ms: int
    """Time from the browser's start to its end."""
