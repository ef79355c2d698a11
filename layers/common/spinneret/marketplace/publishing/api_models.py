"""Requests and responses of marketplace jobs and batches."""

from typing import Annotated, Any

from pydantic import AliasPath, AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints

from spinneret.jobs.models import JobStatus
from spinneret.kernel.views import ListOf, View
from spinneret.marketplace import limits
from spinneret.marketplace.tasks.api_models import TaskView

Id = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,80}$")]
Code = Annotated[str, StringConstraints(pattern=r"^[a-z_]{1,40}$")]
PriorityNumber = Annotated[int, Field(ge=1, le=4)]
Moment = Annotated[AwareDatetime, Field(strict=False)]


class MarketplaceJobRequest(BaseModel):
    """One action for one product on one marketplace."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    marketplace: Code
    action_code: Code
    product_id: Id | None = None
    """Omitted by actions without a product: orders, messages."""
    priority: PriorityNumber | None = None
    """1 critical, 2 high, 3 normal, 4 low; by default the priority of the action type."""
    input_data: dict[str, Any] = {}
    """`override_price` (minor units), `custom_title`, `custom_description`, and the fields that an
    action needs, such as `text` of a message or `external_id` of a link."""
    publish_at: Moment | None = None
    """Time within the next 30 days at which the action begins (RFC 3339); by default at once. It
    sends what the product is then."""


class MarketplaceJobView(BaseModel):
    """A marketplace job."""

    job_id: str
    marketplace: str
    action_code: str
    product_id: str | None
    """null after the product's deletion."""
    batch_job_id: str | None
    """Id of the batch; null for a single job."""
    status: JobStatus
    priority: int
    """1 critical, 2 high, 3 normal, 4 low."""
    retry_count: int
    """Number of failed attempts so far."""
    max_retries: int
    """Maximum number of failed attempts."""
    expires_at: str | None
    """Time at which the job expires if it still waits."""
    publish_at: str | None
    """Time at which the action begins; null if at once."""
    waiting_for: str | None
    input_data: dict[str, Any]
    """Input of the action, as submitted."""
    result_data: dict[str, Any] | None
    """Result of the action; null before the end."""
    error: dict[str, Any] | None
    """Last error: `error`, `code` and `details`; null without one."""
    created_at: str
    started_at: str | None
    completed_at: str | None
    progress: int


class MarketplaceJobWithTasks(MarketplaceJobView):
    """A marketplace job and its tasks by position."""

    tasks: list[TaskView]
    """Steps of the job in their order."""


class MarketplaceJobList(ListOf[MarketplaceJobView]):
    """A page of jobs, newest first."""


class BatchJobRequest(BaseModel):
    """One action for several products on one marketplace."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    marketplace: Code
    action_code: Code
    product_ids: Annotated[
        tuple[Id, ...], Field(min_length=1, max_length=limits.BATCH_PRODUCTS_MAX, strict=False)
    ]
    """Ids of the products, one job for each."""
    priority: PriorityNumber | None = None
    """1 critical, 2 high, 3 normal, 4 low; by default the action type's."""
    publish_at: Moment | None = None
    """Time within the next 30 days at which the batch begins (RFC 3339); by default at once. Not
    used by a plan."""


class BatchJobView(BaseModel):
    """A batch."""

    publish_at: str | None
    """Time at which the batch begins; null if at once."""

    batch_id: str
    """Id of the batch, which is also its parent job's."""
    marketplace: str
    action_code: str
    status: JobStatus
    priority: int
    """1 critical, 2 high, 3 normal, 4 low."""
    total_count: int
    """Number of products, without products whose job another batch or request has under way."""
    completed_count: int
    failed_count: int
    """Failed jobs, including expired ones."""
    cancelled_count: int
    pending_count: int
    progress_percent: int
    """Share of finished jobs, 0 to 100."""
    is_active: bool
    """Whether jobs of the batch are under way."""
    is_terminal: bool
    """Whether all jobs of the batch have ended."""
    created_at: str
    started_at: str | None
    completed_at: str | None


class BatchJobWithJobs(BatchJobView):
    """A batch and its newest 100 jobs.

    The list of jobs contains all of them, filtered by `batch_job_id`.
    """

    jobs: list[MarketplaceJobView]
    """Jobs of the batch, at most one page."""


class BatchJobList(ListOf[BatchJobView]):
    """A page of batches, newest first."""


class RuledField(BaseModel):
    """Field that the seller's rules for the marketplace change."""

    field: str
    """One of `title`, `price` and `quantity`."""
    product: str | int
    """Value without the rules; prices in minor units."""
    shown: str | int
    """Value that the marketplace would show."""


class ProspectView(View):
    """Planned outcome for one product."""

    product_id: str
    outcome: str
    """One of `create`, `update`, `end`, `look`, `nothing` and `refused`."""
    fields: list[dict[str, Any]]
    """Fields that are missing or wrong."""
    rules: Annotated[list[RuledField], Field(validation_alias="ruled")]
    """Fields that the seller's rules change."""
    fees: Annotated[list[dict[str, Any]], Field(validation_alias=AliasPath("preflight", "fees"))]
    """Costs of publishing, if the marketplace reports them in advance."""
    violations: Annotated[
        list[dict[str, Any]], Field(validation_alias=AliasPath("preflight", "violations"))
    ]
    """Violations that the marketplace reports for the current listing: `type`, `reason`, `state`
    (`OUT_OF_COMPLIANCE` may prevent a revision, `AT_RISK` doesn't yet), `field`, `cause`, `fix`,
    and the affected `aspects` with their `suggested` values."""
    unchecked: Annotated[str | None, Field(validation_alias=AliasPath("preflight", "unchecked"))]
    """Reason why the marketplace wasn't asked or didn't answer; null if it answered."""


class PlanView(BaseModel):
    """Planned outcomes of a batch, which changed nothing."""

    marketplace: str
    action_code: str
    total_count: int
    """Number of products."""
    refused_count: int
    """Number of products that the marketplace would refuse."""
    items: list[ProspectView]


class ActionTypeView(View):
    """An action on a marketplace."""

    marketplace: str
    code: str
    """Code to submit as `action_code`, with the marketplace's name at its end."""
    name: str
    """Name for people."""
    priority: int
    """Default priority: 1 critical, 2 high, 3 normal, 4 low."""
    max_retries: int
    """Maximum number of failed attempts of a job."""
    description: str
    """Effect of the action at the marketplace."""
    supported: bool
    """Whether the marketplace has an interface for the action."""


class ActionTypeList(BaseModel):
    """All action types."""

    items: list[ActionTypeView]


class DayView(View):
    """Numbers of an action type's jobs that ended on a UTC day."""

    day: str
    marketplace: str
    action_code: str
    completed_count: Annotated[int, Field(validation_alias="completed")]
    failed_count: Annotated[int, Field(validation_alias="failed")]
    cancelled_count: Annotated[int, Field(validation_alias="cancelled")]
    expired_count: Annotated[int, Field(validation_alias="expired")]
    """Number of jobs whose time ran out."""
    total_seconds: Annotated[int, Field(validation_alias="seconds")]
    """Sum of the durations of all jobs, in seconds."""


class StatisticsView(BaseModel):
    """Statistics of all action types for one day."""

    day: str
    """Last day of the figures (UTC)."""
    items: list[DayView]
    """Figures by day, marketplace and action."""
