"""Decorators that turn functions into checks."""

from collections.abc import Callable, Sequence

from spinneret.audits.checks.models import WEIGHTS, Answer, Category, Check, CheckScope, Severity
from spinneret.audits.checks.site import PageNode, Site
from spinneret.audits.facts.models import HtmlFacts, Kind, PageFacts


class CheckDecorators:
    """Decorators of one category that turn functions into checks, one for each scope."""

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
        """Make a check of a page's own facts."""
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
        """Make a check like `page`, for functions that also need the markup."""

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
        """Make a check of a page in the context of its site."""
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
        """Make a check with one result for the whole site."""
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
