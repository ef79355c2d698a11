"""Commands `jobs list|show|watch|cancel|retry`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from spinneret_client.cli import exits
from spinneret_client.cli.output import plain_of
from spinneret_client.cli.tools import tools_of

JobId = Annotated[str, typer.Argument(help="Id of a job.")]


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(no_args_is_help=True, help="Look at jobs, cancel and retry them.")
    group.command("list", epilog="Example: spinneret jobs list --status failed")(list_jobs)
    group.command(epilog="Example: spinneret jobs show job_0198…")(show)
    group.command(epilog="Example: spinneret jobs watch job_0198…")(watch)
    group.command(epilog="Example: spinneret jobs cancel job_0198…")(cancel)
    group.command(epilog="Example: spinneret jobs retry job_0198…")(retry)
    app.add_typer(group, name="jobs")


def list_jobs(
    context: typer.Context,
    status: Annotated[str | None, typer.Option(help="Only jobs of this state.")] = None,
    kind: Annotated[str | None, typer.Option(help="Only jobs of this kind.")] = None,
    limit: Annotated[int, typer.Option(help="Most jobs.")] = 20,
) -> None:
    """List jobs, newest first."""
    tools = tools_of(context)
    query: dict[str, Any] = {"status": status, "kind": kind, "max_items": limit}
    tools.listing(
        tools.client.jobs.list(limit=min(limit, 100), **query),
        ["id", "kind", "status", "done", "subject"],
        lambda x: (x.job_id, x.kind, x.status, f"{x.progress}%", x.subject or x.domain),
    )


def show(context: typer.Context, job_id: JobId) -> None:
    """Show one job."""
    tools = tools_of(context)
    job = tools.client.jobs.get(job_id)

    def text() -> None:
        for name, value in plain_of(job).items():
            if value is not None:
                tools.output.line(f"{name}: {value}")

    tools.output.result(job, text)


def watch(context: typer.Context, job_id: JobId) -> None:
    """Follow a job until it ended; the exit code has its outcome."""
    tools = tools_of(context)
    jobs = tools.client.jobs
    job = tools.follow(job_id, jobs.stream(job_id), jobs.get)
    reason = f": {job.error_summary}" if job.error_summary else ""
    tools.output.result(job, lambda: tools.output.line(f"{job.status} {job_id}{reason}"))
    exits.leave(exits.code_of([job.status]))


def cancel(context: typer.Context, job_id: JobId) -> None:
    """Cancel a job that isn't finished."""
    tools = tools_of(context)
    done = tools.client.jobs.cancel(job_id)
    tools.output.result(done, lambda: tools.output.line(f"{done.status} {done.job_id}"))


def retry(context: typer.Context, job_id: JobId) -> None:
    """Begin a failed job again."""
    tools = tools_of(context)
    done = tools.client.jobs.retry(job_id)
    tools.output.result(done, lambda: tools.output.line(f"{done.status} {done.job_id}"))
