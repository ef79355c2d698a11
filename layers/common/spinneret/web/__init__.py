"""All outbound web requests, under each host's rules.

The entry point is `polite_fetcher.PoliteFetcher`, with the values in `models`; `wiring` builds it.
It uses `fetching` (addresses, URLs, connections, bodies), `politeness` (robots.txt, pace, breaker,
sessions), `hosts` (a tenant's settings for hosts) and `proxies`. Other packages use these directly
only when they fetch no page of a website: `fetching.urls` for URLs, the guarded fetcher for
webhooks, the services of `hosts` and `proxies` for their routes.
"""
