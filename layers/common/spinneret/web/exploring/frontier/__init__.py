"""The URLs of a crawl: known URLs, their order, and the outcome of each.

    frontier.begin(ref, plan, urls, fence)   once
    frontier.next_batch(ref, fence)          the driver: pages to fetch, or wait until, or the end
    frontier.claim(ref, key, owner, until)   a worker takes one page of the batch,
    frontier.claim_page(crawl, page, …)      which it may have read already,
    frontier.redirects(visit)                checks each redirect before following it,
    frontier.record(visit, outcome)          and reports the outcome

Order. Pages are taken in batches, and a batch ends before the next one begins. Only the driver
merges the links of its pages, one page after the other in batch order. So the order of a crawl
doesn't depend on the speed of its workers, and a plain loop can compute it.

Set. A page that is found again nearer to the start gets the smaller depth. If its links were merged
before, they are merged once more. So without a budget every strategy visits the same pages: all
within `max_depth` links of the start (best-first: over links that reach the threshold).

Budget. `max_pages` counts successfully fetched pages. A batch never exceeds the remaining budget.
No page is counted twice, since its row and the counter change together.

Duplicates. A page's identity ignores session ids and the order of parameters. A redirect's target
is taken like a page before it is requested; a redirect to a known page isn't followed. A page with
the same content as an earlier one counts, since it was fetched. Its links aren't followed, because
the first page has the same links.
"""
