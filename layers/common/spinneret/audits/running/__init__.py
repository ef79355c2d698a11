"""An audit as it runs: a job that works in slices, each as long as one invocation.

    settling    which host answers, robots.txt, sitemaps, certificate
    crawling    the sample, page by page, through the frontier and the polite fetcher
    checking    external links and images, by HEAD
    judging     checks, score, comparison, reports

`pipeline` holds the host's session around all of it. A slice ends by handing back, or by deferring
the job until a host may be asked again; neither is charged, and the next slice goes on from what is
stored.
"""
