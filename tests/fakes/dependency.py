"""A dependency that a test can switch off."""

from typing import ClassVar

from spinneret.kernel.errors import DependencyUnavailable


class FakeDependency:
    """Base of the fakes of ports.

    While `available` is false, their calls raise DependencyUnavailable.
    """

    dependency: ClassVar = "dynamodb"
    available = True

    def _require(self) -> None:
        if not self.available:
            raise DependencyUnavailable(self.dependency)
