"""Extracts content from pages: main text as Markdown, metadata, language and links."""
