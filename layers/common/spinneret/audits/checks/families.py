"""How checks are made of functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from spinneret.audits.checks.models import WEIGHTS, Answer, Category, Check, CheckScope, Severity
from spinneret.audits.checks.site import PageNode, Site
from spinneret.audits.facts.models import HtmlFacts, Kind, PageFacts


class CheckDecorators:
    """Makes checks of functions: decorators of one category for each scope."""

    def __init__(self, category: Category) -> None:
        self._category = category

    def page(
        self,
        name: str,
        title: str,
        severity: Severity,
        *,
        advice: str,
        source: str,
        weight: int | None = None,
        after: Sequence[str] = (),
        kinds: Sequence[Kind] = (Kind.HTML,),
    ) -> Callable[[Callable[[PageFacts], Answer]], Check[Callable[[PageFacts], Answer]]]:
        """A check that looks at a page's own facts."""
        return self._made(
            CheckScope.PAGE, name, title, severity, advice, source, weight, after, frozenset(kinds)
        )

    def markup(
        self,
        name: str,
        title: str,
        severity: Severity,
        *,
        advice: str,
        source: str,
        weight: int | None = None,
        after: Sequence[str] = (),
    ) -> Callable[[Callable[[PageFacts, HtmlFacts], Answer]], Check[Callable[[PageFacts], Answer]]]:
        """As `page`, for functions that also want the markup, which every page has."""

        def check(
            judge: Callable[[PageFacts, HtmlFacts], Answer],
        ) -> Check[Callable[[PageFacts], Answer]]:
            made = self.page(
                name,
                title,
                severity,
                advice=advice,
                source=source,
                weight=weight,
                after=after,
            )
            return made(lambda page: None if page.html is None else judge(page, page.html))

        return check

    def page_in_site(
        self,
        name: str,
        title: str,
        severity: Severity,
        *,
        advice: str,
        source: str,
        weight: int | None = None,
        after: Sequence[str] = (),
        kinds: Sequence[Kind] = (Kind.HTML,),
    ) -> Callable[[Callable[[PageNode, Site], Answer]], Check[Callable[[PageNode, Site], Answer]]]:
        """A check that looks at a page among the others."""
        return self._made(
            CheckScope.PAGE_IN_SITE,
            name,
            title,
            severity,
            advice,
            source,
            weight,
            after,
            frozenset(kinds),
        )

    def site(
        self,
        name: str,
        title: str,
        severity: Severity,
        *,
        advice: str,
        source: str,
        weight: int | None = None,
        after: Sequence[str] = (),
    ) -> Callable[[Callable[[Site], Answer]], Check[Callable[[Site], Answer]]]:
        """A check of which the whole site has one answer."""
        return self._made(
            CheckScope.SITE, name, title, severity, advice, source, weight, after, frozenset()
        )

    def _made[Judge: Callable[..., Answer]](
        self,
        scope: CheckScope,
        name: str,
        title: str,
        severity: Severity,
        advice: str,
        source: str,
        weight: int | None,
        after: Sequence[str],
        kinds: frozenset[Kind],
    ) -> Callable[[Judge], Check[Judge]]:
        def check(judge: Judge) -> Check[Judge]:
            return Check(
                id=name,
                title=title,
                advice=advice,
                source=source,
                severity=severity,
                weight=WEIGHTS[severity] if weight is None else weight,
                category=self._category,
                scope=scope,
                after=tuple(after),
                kinds=kinds,
                judge=judge,
            )

        return check
