"""URLs that a site lists itself: sitemaps, sitemap indexes, and feeds.

for entry in SitemapReader(url).read(chunks): … one file, while it arrives walk =
SitemapWalk(first_sitemaps(origin, robots)) the files to read
"""
