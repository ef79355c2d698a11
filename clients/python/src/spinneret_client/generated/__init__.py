"""Generated code: models, request bodies and methods."""
