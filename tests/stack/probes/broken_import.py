"""A module that can't be imported."""

import module_that_does_not_exist  # noqa: F401  # the point of this file
