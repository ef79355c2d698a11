"""References to targets, from groups of status pages and from maintenance windows."""

from collections.abc import Collection, Mapping, Sequence

from spinneret.kernel.errors import ValidationFailed, field_error
from spinneret.monitoring.targets.ports import TargetStore


def require_targets(
    targets: TargetStore,
    tenant: str,
    lists: Mapping[str, Sequence[str]],
    former: Collection[str] = (),
) -> None:
    """Require that the tenant has a target for each id: a mistyped one would match nothing.

    `lists` maps the path of each list in the request to its ids. Ids in `former`, the object's
    ids until now, are accepted, because their targets may be deleted since. Raises
    ValidationFailed and DependencyUnavailable.
    """
    given = dict.fromkeys(each for ids in lists.values() for each in ids if each not in former)
    known = {*former, *(each.target.id for each in targets.get_many(tenant, list(given)))}
    unknown = [
        field_error(f"{path}.{number}", "no such target", "GET /v1/targets lists the ids")
        for path, ids in lists.items()
        for number, target_id in enumerate(ids)
        if target_id not in known
    ]
    if unknown:
        raise ValidationFailed("some targets don't exist", details={"fields": unknown})
