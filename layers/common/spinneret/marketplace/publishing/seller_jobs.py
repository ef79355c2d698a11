"""Jobs that no request of a seller submits: after a sale, by a webhook, or on schedule."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from spinneret.jobs.models import Job, JobRef, Reply
from spinneret.jobs.placement import Placed
from spinneret.jobs.service import JobService
from spinneret.kernel.canonical import fingerprint
from spinneret.kernel.errors import NotFound
from spinneret.kernel.service import service
from spinneret.marketplace.kinds import PUBLISH
from spinneret.marketplace.publishing.commands import ASKED, Command
from spinneret.marketplace.publishing.drafting import Drafter


@service
class SellerJobService:
    """Implements SellerJobs."""

    jobs: JobService
    drafter: Drafter

    def find(self, tenant: str, job_id: str) -> Job | None:
        try:
            return self.jobs.get(JobRef(tenant=tenant, job_id=job_id), PUBLISH)
        except NotFound:
            return None

    def ask(
        self,
        tenant: str,
        marketplace: str,
        action: str,
        product_id: str,
        why: str,
        once: str,
    ) -> str:
        given = {"reason": why}
        return self._submit(tenant, marketplace, action, product_id, given, 1, once)

    def ask_to_publish(
        self, tenant: str, marketplace: str, product_id: str, question: str, once: str
    ) -> str:
        """See SellerJobs."""
        given = {"question": question}
        return self._submit(tenant, marketplace, "publish", product_id, given, 1, once)

    def read_orders(
        self,
        tenant: str,
        marketplace: str,
        why: str,
        *,
        urgent: bool = True,
        once: str | None = None,
    ) -> str:
        priority = 1 if urgent else None
        return self._submit(tenant, marketplace, "orders", None, {"reason": why}, priority, once)

    def _submit(
        self,
        tenant: str,
        marketplace: str,
        action: str,
        product_id: str | None,
        given: Mapping[str, str],
        priority: int | None,
        once: str | None,
    ) -> str:
        command = Command(
            marketplace=marketplace, action_code=action, product_id=product_id, input_data=given
        )
        draft = self.drafter.job(tenant, command, priority)
        if once is not None:
            key = fingerprint(["marketplace", command.payload, once])
            draft = replace(draft, duplicate_key=key, once=True)
        draft = replace(draft, payload={**draft.payload, ASKED: True})

        def reply(placed: Sequence[Placed]) -> Reply:
            return Reply(status=201, body={"job_id": placed[0].job.id})

        return str(self.jobs.submit(tenant, [draft], None, reply).reply.body["job_id"])
