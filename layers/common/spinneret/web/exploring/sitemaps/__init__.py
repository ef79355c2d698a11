"""URLs that a site lists itself: sitemaps, their indexes, and feeds.

for entry in SitemapReader(url).read(chunks): …        one file, while it arrives
walk = SitemapWalk(first_sitemaps(origin, robots))     which files there are to read
"""
