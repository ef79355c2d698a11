"""A tenant's documents: reading, labelling, uploading, deleting and reindexing."""
