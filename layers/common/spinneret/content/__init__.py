"""Content of pages: extraction, chunking, documents and search."""
