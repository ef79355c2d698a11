"""The URLs of a crawl: which are known, which is next, and what became of each.

    frontier.begin(ref, plan, urls, fence)   once
    frontier.next_batch(ref, fence)          the driver: pages to fetch, a time to wait for, the end
    frontier.claim(ref, key, owner, until)   a worker takes one page of the batch,
    frontier.redirects(visit)                asks before it follows a redirect,
    frontier.record(visit, outcome)          and says what became of it

The order. Pages are taken in batches, and a batch ends before the next one begins. The links of
its pages are merged by the driver alone, page after page in the order of the batch, so that the
order of a crawl doesn't depend on which worker was faster, and a plain loop can compute it.

The set. A page that is found again nearer to the start gets the smaller depth, and if its links
were merged before, they are merged once more. So without a budget every strategy visits the same
pages: all that are within `max_depth` links of the start (for best-first: by links that score
enough).

The budget. `max_pages` counts pages that were fetched with success. A batch is never larger than
what is left of it, and no page is counted twice, since its row and the counter change together.

One page, several names. Session ids and the order of parameters are no part of a page's identity.
A redirect's target is taken like a page before it is asked for; when it is known already, the
redirect isn't followed. A page whose content equals that of one before is counted, for it was
fetched, but its links aren't followed: they are those of the first.
"""
