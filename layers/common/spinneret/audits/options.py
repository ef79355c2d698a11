"""Options of an audit that its tenant chooses: checks of the request."""

from dataclasses import replace
from typing import Final

from spinneret.audits import limits
from spinneret.audits.api_models import AuditOptions
from spinneret.audits.checks.catalogue import numbers
from spinneret.audits.recipes import Recipe, Sample
from spinneret.audits.request_headers import SealedHeaders
from spinneret.kernel.errors import BrowserMissing, ValidationFailed
from spinneret.web.exploring.globs import compile_patterns
from spinneret.web.fetching.addresses import AddressPolicy
from spinneret.web.fetching.rules import check_url_at_submission
from spinneret.web.fetching.urls import Url
from spinneret.web.politeness.rules import host_key

_ONLY_LINKS: Final = ("max_pages", "include", "exclude")


def checked_urls(url: str | None, options: AuditOptions, policy: AddressPolicy) -> tuple[Url, ...]:
    """Return the start page, or else the listed pages. Raises ValidationFailed unless there is
    exactly one of both, or if the pages aren't of one host, UrlInvalid and UrlBlocked."""
    if (url is None) == (not options.urls):
        raise ValidationFailed.of_field("url", "give either url or options.urls")
    if url is not None:
        return (check_url_at_submission(url, policy),)
    if sum(map(len, options.urls)) > limits.URLS_MAX_CHARS:
        message = f"together more than {limits.URLS_MAX_CHARS} characters"
        raise ValidationFailed.of_field("options.urls", message)
    urls = [
        check_url_at_submission(text, policy, f"options.urls.{number}")
        for number, text in enumerate(options.urls)
    ]
    for number, each in enumerate(urls):
        if host_key(each.host) != host_key(urls[0].host):
            message = f"isn't of the host {urls[0].host}"
            raise ValidationFailed.of_field(f"options.urls.{number}", message)
    return tuple(dict.fromkeys(urls))


def require_renderable(
    options: AuditOptions, headers: SealedHeaders | None, *, has_browser: bool
) -> None:
    """Raise BrowserMissing to render without one, ValidationFailed with headers."""
    if not options.render:
        return
    if not has_browser:
        raise BrowserMissing
    if headers is not None:
        message = "a browser doesn't send an audit's headers"
        raise ValidationFailed.of_field("options.render", message, "remove headers and cookie")


def sample_for(recipe: Recipe, options: AuditOptions) -> Sample:
    """Return the sample; raise ValidationFailed for invalid patterns, unknown checks, and options
    that contradict a list of pages."""
    sample = recipe.sample_with(options.given)
    if options.urls:
        given = [name for name in _ONLY_LINKS if name in options.given]
        if given:
            raise ValidationFailed.of_field(f"options.{given[0]}", "has no effect on options.urls")
        sample = replace(sample, max_pages=len(options.urls))
    compile_patterns(options.include, "options.include")
    compile_patterns(options.exclude, "options.exclude")
    unknown = [name for name in options.checks_off if name not in numbers()]
    if unknown:
        message = f"has no check {unknown[0]}; docs/audits.md lists all"
        raise ValidationFailed.of_field("options.checks_off", message, error=f"the audit {message}")
    return sample
