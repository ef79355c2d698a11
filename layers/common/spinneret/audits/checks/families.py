"""Decorators that turn functions into checks."""

from collections.abc import Callable, Collection, Sequence
from typing import Required, TypedDict, Unpack

from spinneret.audits.checks.models import WEIGHTS, Answer, Category, Check, CheckScope, Severity
from spinneret.audits.checks.pages import PageNode
from spinneret.audits.checks.site import Site
from spinneret.audits.facts.models import HtmlFacts, PageFacts, PageKind


class About(TypedDict, total=False):
    """Arguments of every decorator, after a check's id, title and severity."""

    advice: Required[str]
    source: Required[str]
    weight: int
    """The severity's own, if absent."""
    after: Sequence[str]


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
        kinds: Collection[PageKind] = (PageKind.HTML,),
        **about: Unpack[About],
    ) -> Callable[[Callable[[PageFacts], Answer]], Check[Callable[[PageFacts], Answer]]]:
        """Make a check of a page's own facts."""
        return self._made(CheckScope.PAGE, name, title, severity, kinds, about)

    def markup(
        self, name: str, title: str, severity: Severity, **about: Unpack[About]
    ) -> Callable[[Callable[[PageFacts, HtmlFacts], Answer]], Check[Callable[[PageFacts], Answer]]]:
        """Make a check like `page`, for functions that also need the markup."""
        made = self.page(name, title, severity, **about)
        return lambda judge: made(
            lambda page: None if page.html is None else judge(page, page.html)
        )

    def page_in_site(
        self,
        name: str,
        title: str,
        severity: Severity,
        *,
        kinds: Collection[PageKind] = (PageKind.HTML,),
        **about: Unpack[About],
    ) -> Callable[[Callable[[PageNode, Site], Answer]], Check[Callable[[PageNode, Site], Answer]]]:
        """Make a check of a page in the context of its site."""
        return self._made(CheckScope.PAGE_IN_SITE, name, title, severity, kinds, about)

    def site(
        self, name: str, title: str, severity: Severity, **about: Unpack[About]
    ) -> Callable[[Callable[[Site], Answer]], Check[Callable[[Site], Answer]]]:
        """Make a check with one result for the whole site."""
        return self._made(CheckScope.SITE, name, title, severity, (), about)

    def _made[Judge: Callable[..., Answer]](
        self,
        scope: CheckScope,
        name: str,
        title: str,
        severity: Severity,
        kinds: Collection[PageKind],
        about: About,
    ) -> Callable[[Judge], Check[Judge]]:
        return lambda judge: Check(
            id=name,
            title=title,
            advice=about["advice"],
            source=about["source"],
            severity=severity,
            weight=about.get("weight", WEIGHTS[severity]),
            category=self._category,
            scope=scope,
            after=tuple(about.get("after", ())),
            kinds=frozenset(kinds),
            judge=judge,
        )
