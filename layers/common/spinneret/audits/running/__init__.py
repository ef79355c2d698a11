"""Audit runs: a job that works in slices, each as long as one invocation.

    settling    find the host that responds, robots.txt, sitemaps, certificate
    crawling    fetch the sample page by page, through the frontier and the polite fetcher
    checking    request external links and images, by HEAD
    judging     run checks; write score, comparison, reports

`pipeline` holds the host's session around all phases. A slice ends by releasing the job, or by
deferring it until a host may be requested again. Neither counts as an attempt; the next slice
continues from the stored state.
"""
