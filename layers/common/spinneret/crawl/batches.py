"""Handler of a batch: creates its crawls and waits for them."""

from collections.abc import Mapping
from typing import Any

from spinneret.jobs.children import Children
from spinneret.jobs.worker import Context


class BatchHandler:
    """Handle `crawl_batch` jobs."""

    def __init__(self, children: Children) -> None:
        self._children = children

    def __call__(self, context: Context) -> Mapping[str, Any]:
        """Create the crawls and wait.

        Never returns: raises the exceptions of `Children.create`, or AwaitChildren at the end.
        """
        self._children.create_planned(context)
        self._children.await_all(context)
