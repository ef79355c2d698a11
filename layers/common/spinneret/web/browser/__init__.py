"""Pages in a real browser, under the address rules of every other fetch."""
