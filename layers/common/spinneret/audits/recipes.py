"""Recipes of audits: how large a sample they take. Pure functions."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from spinneret.audits import limits
from spinneret.kernel.errors import ValidationFailed, field_error


@dataclass(frozen=True, kw_only=True)
class Sample:
    """Size of the sample of a site."""

    max_pages: int
    max_external_links: int
    max_images: int


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """A named, versioned way to audit a site."""

    name: str
    version: int
    """Incremented when the same request would give another kind of result."""
    sample: Sample
    takes_options: bool = True

    def sample_with(self, options: Mapping[str, Any]) -> Sample:
        """Return the sample with the bounds among the options.

        Raises ValidationFailed for options that the recipe doesn't take.
        """
        if options and not self.takes_options:
            fields = [
                field_error(f"options.{name}", "is unknown to this recipe") for name in options
            ]
            raise ValidationFailed(
                f"the recipe {self.name} takes no options", details={"fields": fields}
            )
        own = {name: options[name] for name in vars(self.sample) if name in options}
        return replace(self.sample, **own)


HELLO: Final = "hello"
SEO: Final = "seo"
RECIPES: Final = {
    HELLO: Recipe(
        name=HELLO,
        version=1,
        sample=Sample(max_pages=1, max_external_links=0, max_images=0),
        takes_options=False,
    ),
    SEO: Recipe(
        name=SEO,
        version=1,
        sample=Sample(
            max_pages=limits.PAGES,
            max_external_links=limits.EXTERNAL_LINKS,
            max_images=limits.IMAGES,
        ),
    ),
}
"""Recipes by name. `hello` audits one page: a smoke test of everything that an audit needs."""
