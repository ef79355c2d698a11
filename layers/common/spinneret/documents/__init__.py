"""Documents: main content, metadata, chunks and their versions."""
