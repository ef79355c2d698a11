"""The one door to the web: fetching, politeness, the settings of hosts, proxies."""
