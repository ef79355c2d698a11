"""What is made of a page: main content, chunks, documents, and the search over them."""
