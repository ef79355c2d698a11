"""The handler of a batch: makes its crawls and waits for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spinneret.jobs.children import Children
from spinneret.jobs.worker import Context


class BatchHandler:
    """Of the kind `crawl_batch`."""

    def __init__(self, children: Children) -> None:
        self._children = children

    def __call__(self, context: Context) -> Mapping[str, Any]:
        """Never returns; raises as `Children.create`, and AwaitChildren in the end."""
        self._children.create_planned(context)
        self._children.await_all(context)
