"""Picks, uses and failures of proxies on DynamoDB; dynamo.py documents the key design.

One row per config and version, with flat attributes `uses_<position>`, `failures_<position>` and
`failed_at_<position>`, so that each can be counted and compared separately. `purge_at` (epoch
seconds) is DynamoDB's TTL attribute: it only removes garbage; no condition uses it.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from spinneret.aws import dynamo
from spinneret.aws.table import DynamoAdapter
from spinneret.web.proxies import limits, rules
from spinneret.web.proxies.models import Failures, ProxyConfig, Usage

_MEMORY_SECONDS: Final = round(limits.PROXY_MEMORY_SECONDS)
_KEPT_SECONDS: Final = 24 * 3600  # longer than anything in a row is used
_ROUNDS: Final = 8  # after so many concurrent reports one more failure is irrelevant


class DynamoProxyUsageStore(DynamoAdapter):
    """Implements ProxyUsageStore."""

    def read(self, config: ProxyConfig) -> Usage:
        return _usage(dynamo.get(self._client, self._table, _key(config)))

    def count_pick(self, config: ProxyConfig, now: int) -> Usage:
        update = "SET #picks = if_not_exists(#picks, :none) + :one, #purge_at = :purge_at"
        values = {":none": 0, ":one": 1, ":purge_at": now + _KEPT_SECONDS}
        return _usage(dynamo.update_item(self._client, self._table, _key(config), update, values))

    def count_use(self, config: ProxyConfig, position: int, seen: Usage, now: int) -> Usage | None:
        uses = f"uses_{position}"
        if rules.hour_is_over(seen, now):
            condition = dynamo.equals(counted_since=seen.counted_since)
            others = [f"uses_{each}" for each in seen.uses if each != position]
            changes = {uses: 1, "counted_since": now}
        else:
            condition = dynamo.equals(
                **{"counted_since": seen.counted_since, uses: seen.uses.get(position)}
            )
            others = []
            changes = {uses: seen.uses.get(position, 0) + 1}
        return self._update(config, changes, others, condition, now)

    def add_failure(self, config: ProxyConfig, position: int, now: int) -> None:
        """See ProxyUsageStore: each round starts from the state that rejected the previous one."""
        seen = Usage()
        for _ in range(_ROUNDS):
            standing = seen.failures.get(position)
            count = rules.failures_of(seen, position, now) + 1
            changes = {f"failures_{position}": count, f"failed_at_{position}": now}
            condition = dynamo.equals(
                **{
                    f"failures_{position}": standing.count if standing else None,
                    f"failed_at_{position}": standing.last_at if standing else None,
                }
            )
            refused = self._update(config, changes, (), condition, now)
            if refused is None:
                return
            seen = refused

    def clear_failures(self, config: ProxyConfig, position: int) -> None:
        update = f"REMOVE #failures_{position}, #failed_at_{position}"
        dynamo.update_item(self._client, self._table, _key(config), update, {})

    def _update(
        self,
        config: ProxyConfig,
        changes: Mapping[str, int],
        removed: Iterable[str],
        condition: dynamo.Condition,
        now: int,
    ) -> Usage | None:
        """Update the row; return None on success, else the state that rejected the update."""
        changes = {**changes, "purge_at": now + _KEPT_SECONDS}
        update = "SET " + ", ".join(f"#{name} = :to_{name}" for name in changes)
        if gone := ", ".join(f"#{name}" for name in removed):
            update += f" REMOVE {gone}"
        expression, values = condition
        values = {**values, **{f":to_{name}": to for name, to in changes.items()}}
        answer = dynamo.update_or_standing(
            self._client, self._table, _key(config), update, values, expression
        )
        return _usage(answer.item) if isinstance(answer, dynamo.Standing) else None


def _key(config: ProxyConfig) -> dict[str, str]:
    return {"pk": f"T#{config.tenant}#PROXY#{config.id}", "sk": f"USAGE#{config.version}"}


def _usage(item: Mapping[str, Any]) -> Usage:
    uses, counts, moments = (
        _by_position(item, prefix) for prefix in ("uses_", "failures_", "failed_at_")
    )
    return Usage(
        picks=int(item.get("picks", 0)),
        counted_since=int(item["counted_since"]) if "counted_since" in item else None,
        uses=uses,
        failures={
            position: Failures(count=count, last_at=moments[position])
            for position, count in counts.items()
        },
    )


def _by_position(item: Mapping[str, Any], prefix: str) -> dict[int, int]:
    return {
        int(name.removeprefix(prefix)): int(value)
        for name, value in item.items()
        if name.startswith(prefix)
    }
