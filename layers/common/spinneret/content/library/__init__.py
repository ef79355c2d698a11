"""A tenant's documents: reading, labelling, uploading, deleting and indexing them anew."""
