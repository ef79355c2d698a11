"""Use cases of a tenant's tags."""

from collections.abc import Sequence
from dataclasses import replace

from spinneret.content.tags.models import Tag
from spinneret.content.tags.ports import TagStore
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import Conflict, ValidationFailed, existing, field_error
from spinneret.kernel.ids import NewId
from spinneret.kernel.paging import Page
from spinneret.kernel.races import changing, until_written
from spinneret.kernel.service import service


@service
class TagService:
    """Manages tags. Unknown ids and other tenants' ids raise the same NotFound.

    All methods raise DependencyUnavailable.
    """

    store: TagStore
    clock: Clock
    new_id: NewId

    def create(self, tenant: str, name: str) -> Tag:
        """Create a tag; raise Conflict if the name is taken."""
        tag = Tag(
            tenant=tenant,
            id=self.new_id("tag"),
            name=name,
            created_at=self.clock(),
        )
        self.store.add(tag)
        return tag

    def get(self, tenant: str, tag_id: str) -> Tag:
        """Return the tag; raise NotFound."""
        return existing(self.store.get(tenant, tag_id), "tag")

    def named(self, tenant: str, names: Sequence[str]) -> list[Tag]:
        """Return the tags with these names, in their order; create missing tags."""
        return [self._named(tenant, name) for name in dict.fromkeys(names)]

    def ids_named(self, tenant: str, names: Sequence[str]) -> list[str]:
        """Return the ids of the tags with these names; raise ValidationFailed for unknown ones."""
        found = {name: self.store.find(tenant, name) for name in dict.fromkeys(names)}
        unknown = [
            field_error(f"tags.{number}", "no such tag", "GET /api/v1/tags lists the names")
            for number, name in enumerate(names)
            if found[name] is None
        ]
        if unknown:
            raise ValidationFailed("some tags don't exist", details={"fields": unknown})
        return [tag.id for tag in found.values() if tag is not None]

    def many(self, tenant: str, tag_ids: Sequence[str]) -> dict[str, Tag]:
        """Return tags by id; unknown ids are skipped."""
        return {tag.id: tag for tag in self.store.many(tenant, tag_ids)}

    def _named(self, tenant: str, name: str) -> Tag:
        def found_or_created() -> Tag | None:
            found = self.store.find(tenant, name)
            if found is not None:
                return found
            try:
                return self.create(tenant, name)
            except Conflict:  # another request created it meanwhile
                return None

        return until_written(found_or_created, changing("the tag"))

    def page(self, tenant: str, after: str | None, limit: int) -> Page[Tag]:
        """See TagStore.page."""
        return self.store.page(tenant, after, limit)

    def rename(self, tenant: str, tag_id: str, name: str) -> Tag:
        """Rename a tag. Raise NotFound, or Conflict if the name is taken."""

        def renamed() -> Tag | None:
            former = self.get(tenant, tag_id)
            tag = replace(former, name=name, version=former.version + 1)
            return tag if self.store.replace(former, tag) else None

        return until_written(renamed, changing("the tag"))

    def remove(self, tenant: str, tag_id: str) -> None:
        """Remove a tag; raise NotFound."""
        until_written(lambda: self.store.remove(self.get(tenant, tag_id)), changing("the tag"))
