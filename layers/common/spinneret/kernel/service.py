"""Services: classes whose collaborators are their fields."""

from dataclasses import dataclass
from typing import dataclass_transform


@dataclass_transform(kw_only_default=True, eq_default=False)
def service[T](cls: type[T]) -> type[T]:
    """Make the fields of a class the keyword-only arguments of its constructor.

    Services are compared by identity, and their collaborators don't show in logs.
    """
    return dataclass(kw_only=True, eq=False, repr=False)(cls)
