"""Pages to content: main text as markdown, metadata, language, links."""
