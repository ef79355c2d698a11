"""Politeness towards sites: robots.txt, how often one is asked, and when it is left alone."""
