"""Requests and responses of media."""

from typing import Annotated, Any, Final, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    field_validator,
    model_validator,
)

from spinneret.jobs.models import JobStatus
from spinneret.kernel import bounds
from spinneret.media import limits
from spinneret.media.models import Terms
from spinneret.web.browser import limits as browser_limits
from spinneret.web.browser.models import (
    ImageFormat,
    Margins,
    Paper,
    Pdf,
    Screenshot,
    Viewport,
)

UrlText = Annotated[str, StringConstraints(min_length=1, max_length=bounds.URL_MAX_CHARS)]
Selector = Annotated[
    str, StringConstraints(min_length=1, max_length=browser_limits.SELECTOR_MAX_CHARS)
]
WaitInPage = Annotated[float, Field(ge=0, le=browser_limits.RENDER_WAIT_SECONDS)]
Millimetres = Annotated[float, Field(ge=0, le=browser_limits.PDF_MARGIN_MAX_MM)]
DEFAULT_WAIT_SECONDS: Final = 2.0


class MediaRequest(BaseModel):
    """A page and the moment at which it is ready: after its load event, `wait_for` and then
    `wait_seconds`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    wait_for: Selector | None = None
    """CSS selector of an element that must be there; without it within the time of a page, the
    job fails."""
    webhook_url: UrlText | None = None
    """URL to notify of the end of the job, signed with the tenant's default secret."""
    webhook_headers: Annotated[dict[str, str], Field(repr=False)] = {}
    """Headers of the notifications to `webhook_url`; never returned."""


class ViewportRequest(BaseModel):
    """Size of the browser's window in CSS pixels."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    width: Annotated[int, Field(ge=1, le=browser_limits.VIEWPORT_MAX_WIDTH)]
    """Width of the window in CSS pixels."""
    height: Annotated[int, Field(ge=1, le=browser_limits.VIEWPORT_MAX_HEIGHT)]
    """Height of the window in CSS pixels."""


class ScreenshotRequest(MediaRequest):
    """Body of `POST /api/v1/screenshot`: one `url`, or `urls` with a job each."""

    url: UrlText | None = None
    """URL of the page."""
    urls: Annotated[
        tuple[UrlText, ...] | None,
        Field(min_length=1, max_length=limits.URLS_PER_SCREENSHOT, strict=False),
    ] = None
    """URLs of several pages."""
    wait_seconds: WaitInPage = DEFAULT_WAIT_SECONDS
    """Seconds to wait after the page is there."""
    full_page: bool = True
    """Whether the image shows the whole page, or only the window."""
    selector: Selector | None = None
    """CSS selector of the one element to show; wins over `full_page`."""
    viewport: ViewportRequest = ViewportRequest(width=Viewport().width, height=Viewport().height)
    """Size of the window."""
    device_scale_factor: Annotated[float, Field(ge=1, le=browser_limits.VIEWPORT_MAX_SCALE)] = 1.0
    """Device pixels per CSS pixel."""
    format: Annotated[ImageFormat, Field(strict=False)] = ImageFormat.PNG
    """Format of the image."""

    @model_validator(mode="after")
    def _either(self) -> Self:
        if (self.url is None) == (self.urls is None):
            raise ValueError("give either url or urls")
        return self

    def terms(self, url: str) -> Terms:
        """Return the terms of one page's job."""
        return Terms(
            url=url,
            wait_for=self.wait_for,
            wait_seconds=self.wait_seconds,
            viewport=Viewport(
                width=self.viewport.width,
                height=self.viewport.height,
                scale=self.device_scale_factor,
            ),
            task=Screenshot(format=self.format, full_page=self.full_page, selector=self.selector),
        )


class MarginsRequest(BaseModel):
    """Margins of a PDF's sheets in millimetres."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    top: Millimetres = Margins().top
    """Margin at the upper edge in millimetres."""
    right: Millimetres = Margins().right
    """Margin at the right edge in millimetres."""
    bottom: Millimetres = Margins().bottom
    """Margin at the lower edge in millimetres."""
    left: Millimetres = Margins().left
    """Margin at the left edge in millimetres."""


class PdfRequest(MediaRequest):
    """Body of `POST /api/v1/pdf`."""

    url: UrlText
    """URL of the page."""
    wait_seconds: WaitInPage = DEFAULT_WAIT_SECONDS
    """Seconds to wait after the page is there."""
    format: Annotated[Paper, Field(strict=False)] = Paper.A4
    """Size of the sheets."""
    landscape: bool = False
    """Whether the sheets lie on their long side."""
    margins: MarginsRequest = MarginsRequest()
    """Margins of the sheets."""
    print_background: bool = True
    """Whether backgrounds are printed."""

    def terms(self, url: str) -> Terms:
        """Return the terms of the job."""
        task = Pdf(
            paper=self.format,
            landscape=self.landscape,
            margins=Margins(**self.margins.model_dump()),
            print_background=self.print_background,
        )
        return Terms(url=url, wait_for=self.wait_for, wait_seconds=self.wait_seconds, task=task)


class ScriptsRequest(MediaRequest):
    """Body of `POST /api/v1/execute-js`."""

    url: UrlText
    """URL of the page."""
    scripts: Annotated[
        tuple[str, ...],
        Field(min_length=1, max_length=browser_limits.SCRIPTS_MAX, strict=False, repr=False),
    ]
    """Scripts that run one after the other, even if one before it failed. The value of a script is
    that of its last expression, or what a promise there resolves to."""

    @field_validator("scripts")
    @classmethod
    def _fit(cls, scripts: tuple[str, ...]) -> tuple[str, ...]:
        if any(len(each.encode()) > browser_limits.SCRIPT_MAX_BYTES for each in scripts):
            raise ValueError(f"a script has more than {browser_limits.SCRIPT_MAX_BYTES} bytes")
        return scripts

    def terms(self, url: str, scripts_id: str) -> Terms:
        """Return the terms of the job."""
        return Terms(url=url, wait_for=self.wait_for, wait_seconds=0.0, scripts_id=scripts_id)


class MediaError(BaseModel):
    """Reason for a rejection or failure."""

    error: str
    code: str
    details: dict[str, Any] = {}


class MediaSubmission(BaseModel):
    """Response to one URL."""

    job_id: str
    status: JobStatus
    message: str


class MediaOutcome(BaseModel):
    """Outcome of one of several URLs: its job or its error."""

    url: str
    """URL as requested."""
    job_id: str | None = None
    status: JobStatus | None = None
    message: str
    error: MediaError | None = None
    """Reason for the rejection; null if the URL was accepted."""


class MediaBatch(BaseModel):
    """Response to several URLs, in their order."""

    batch_id: str | None
    """Filter for the list of jobs; null for a single accepted URL."""
    jobs: list[MediaOutcome]
    """Outcomes in the order of the URLs."""
    total_submitted: int
    failed_count: int


class ScriptView(BaseModel):
    """Outcome of one script: its value or its error."""

    value: Any = None
    """Value of the script as JSON; `undefined` is null."""
    error: MediaError | None = None
    """Error of the script, with `line` and `column` from 1 if they are known; null for a value."""


class MediaView(BaseModel):
    """A screenshot, a PDF or a run of scripts.

    Fields about the page are null until the job is completed.
    """

    job_id: str
    kind: str
    """`screenshot`, `pdf` or `execute_js`."""
    url: str
    """URL as requested."""
    status: JobStatus
    progress: int
    step: str | None
    attempts: int
    final_url: str | None
    """URL of the document that the page showed in the end."""
    status_code: int | None
    """Status of that document; a page with any status is taken."""
    media_type: str | None
    """Media type of the object."""
    bytes: int | None
    """Size of the object."""
    is_cut: bool | None
    """Whether an image shows only the upper part of a page that is too large for one."""
    scripts: list[ScriptView] | None
    """Outcomes of the scripts in their order; null for other jobs, and if all outcomes together
    have more than 64 KB: the object has them."""
    console_errors: list[str] | None
    """First errors that the page logged or didn't catch."""
    requests: int | None
    """Number of requests that the page caused."""
    transferred_bytes: int | None
    """Bytes that the page received and sent, as encoded."""
    render_ms: int | None
    """Time from the browser's start to its end."""
    download_url: str | None
    """URL of the object for 15 minutes; null before the end and after `expires_at`."""
    expires_at: str | None
    """Time after which the object is removed."""
    created_at: str
    finished_at: str | None
    duration_ms: int | None
    """Time from the first claim of this run to its end, including waits."""
    error: MediaError | None
    """Reason of the failure, or of the last one while the job waits for another try."""
    error_type: str | None
