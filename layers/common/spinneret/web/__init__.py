"""The one door to the web: fetching under every host's rules.

Its face is `polite_fetcher.PoliteFetcher`, with the values in `models`; `wiring` builds it. Behind
it are `fetching` (addresses, URLs, connections, bodies), `politeness` (robots.txt, pace, breaker,
sessions), `hosts` (a tenant's settings for hosts) and `proxies`. Others use these directly only
where they fetch no page of a website: `fetching.urls` for URLs, the guarded fetcher for webhooks,
the services of `hosts` and `proxies` for their routes.
"""
