"""Tags of crawls whose work an existing job does: they reach the same document.

Tags are no part of what makes two crawls identical (ruling "Duplicate").
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from spinneret.content.documents.ports import DocumentStore
from spinneret.content.documents.rules import joined_tags
from spinneret.content.library.kinds import TAG
from spinneret.jobs.models import Draft, Job, Priority, Reply
from spinneret.jobs.placement import Placed
from spinneret.jobs.service import JobService
from spinneret.kernel import bounds
from spinneret.kernel.canonical import fingerprint
from spinneret.kernel.service import service


def with_joined_tags(drafts: Sequence[Draft]) -> list[Draft]:
    """Return the drafts; drafts of identical crawls get each other's tags, as one job does them."""
    tags: defaultdict[str, tuple[str, ...]] = defaultdict(tuple)
    for draft in drafts:
        if draft.duplicate_key is not None:
            tags[draft.duplicate_key] = joined_tags(tags[draft.duplicate_key], _tags(draft.payload))
    return [
        replace(draft, payload=_tagged(draft.payload, tags[draft.duplicate_key]))
        if draft.duplicate_key is not None and tags[draft.duplicate_key]
        else draft
        for draft in drafts
    ]


@service
class DuplicateTags:
    """Adds tags to the work of existing jobs, before the submission that names them is stored."""

    jobs: JobService
    documents: DocumentStore

    def add(self, tenant: str, drafts: Sequence[Draft], placed: Sequence[Placed]) -> None:
        """Amend unfinished jobs; submit a `tag` job for each document that lacks a tag.

        Raises SubmissionRaced if a job has moved since it was looked up. Safe to repeat.
        """
        standing: dict[str, Placed] = {}
        asked: defaultdict[str, tuple[str, ...]] = defaultdict(tuple)
        for draft, each in zip(drafts, placed, strict=True):
            if each.duplicate and _tags(draft.payload):
                standing[each.job.id] = each
                asked[each.job.id] = joined_tags(asked[each.job.id], _tags(draft.payload))
        made: dict[str, tuple[str, ...]] = {}
        for job_id, each in standing.items():
            if not each.is_answered:
                self._amend(each.job, asked[job_id])
            elif each.job.result is not None:
                made[each.job.result["document_id"]] = asked[job_id]
        self._tag(tenant, made)

    def _amend(self, job: Job, tags: Iterable[str]) -> None:
        had = _tags(job.payload)
        joined = joined_tags(had, tuple(tags))
        if set(joined) != set(had):
            self.jobs.amend(job, _tagged(job.payload, joined))

    def _tag(self, tenant: str, made: Mapping[str, tuple[str, ...]]) -> None:
        if not made:
            return
        shown = self.documents.shown(tenant, sorted(made))
        drafts = [
            _draft(identity, tags)
            for identity, tags in made.items()
            if identity in shown and not set(tags) <= set(shown[identity].tag_ids)
        ]
        for start in range(0, len(drafts), bounds.CHILDREN_PER_WRITE):
            some = drafts[start : start + bounds.CHILDREN_PER_WRITE]
            self.jobs.submit(tenant, some, None, lambda _: Reply(status=202, body={}))


def _draft(document_id: str, tags: Sequence[str]) -> Draft:
    payload = {"document_id": document_id, "tag_ids": list(tags)}
    return Draft(
        kind=TAG,
        payload=payload,
        priority=Priority.NORMAL,
        duplicate_key=fingerprint({"kind": TAG, **payload}),
    )


def _tags(payload: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(payload.get("tag_ids", ()))


def _tagged(payload: Mapping[str, Any], tags: Iterable[str]) -> dict[str, Any]:
    return {**payload, "tag_ids": list(tags)}
