"""Check redirects of one visit before they are followed."""

from dataclasses import dataclass, replace
from typing import Final

from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import Contended, LeaseLost
from spinneret.web.exploring.frontier import rules
from spinneret.web.exploring.frontier.guide import LinkPolicy
from spinneret.web.exploring.frontier.keys import key_of
from spinneret.web.exploring.frontier.models import (
    Failed,
    FrontierPage,
    PageLease,
    PageState,
    Redirected,
    RedirectRefused,
)
from spinneret.web.exploring.frontier.ports import FrontierStore, WriteConflict
from spinneret.web.exploring.scope import ScopeRefusal
from spinneret.web.exploring.traps import identity_of
from spinneret.web.fetching.urls import Url

REDIRECT_LOOP: Final = "REDIRECT_LOOP"
_TRIES: Final = 5  # each try means that somebody else made progress; then Contended is raised


@dataclass(kw_only=True)
class RedirectGate:
    """Redirect check of one visit; fits `FetchRequest.before_redirect`."""

    store: FrontierStore
    clock: Clock
    visit: PageLease

    def __post_init__(self) -> None:
        self._asked = {self.visit.page.url}
        self._guide = LinkPolicy(self.visit.crawl)

    def __call__(self, url: Url) -> None:
        """Take the target for this visit. Raises RedirectRefused, LeaseLost and Contended."""
        if url.text in self._asked:
            raise RedirectRefused(_refused(REDIRECT_LOOP, url))
        refusal = self._guide.refusal(url)
        # A start needs no pattern that includes it, nor does the page to which it leads.
        is_start = self.visit.page.parent is None
        if refusal and not (is_start and refusal is ScopeRefusal.NOT_INCLUDED):
            raise RedirectRefused(_refused(refusal.value.upper(), url))
        key = key_of(identity_of(url))
        if key != self.visit.page.key:
            self._take(url, key)
        self._asked.add(url.text)

    def _take(self, url: Url, key: str) -> None:
        crawl, page = self.visit.crawl, self.visit.page
        for _ in range(_TRIES):
            target = self.store.find(crawl.ref, [key]).get(key)
            if not rules.stands_for(target, page):
                raise RedirectRefused(Redirected(to=key, final_url=url.text))
            try:
                self.store.commit(crawl, rules.followed(page, target, url, key, self.clock()))
            except WriteConflict:
                page = self._standing()
            else:
                if target is not None and target.state is PageState.WAITING:
                    page = rules.nearer(page, target)
                self.visit = replace(self.visit, page=page)
                return
        raise Contended("the redirect's target is being changed by others")

    def _standing(self) -> FrontierPage:
        """Return the visit's stored page; a write with a lost response may have moved it nearer."""
        crawl, page = self.visit.crawl, self.visit.page
        standing = self.store.find(crawl.ref, [page.key]).get(page.key)
        if standing is None or (standing.state, standing.fence) != (page.state, page.fence):
            raise LeaseLost(f"page {page.key} belongs to another claim")
        return standing


def _refused(code: str, url: Url) -> Failed:
    return Failed(error_code=code, error_message="a redirect isn't followed", final_url=url.text)
