"""Lambda-facing code: resolver factory, worker factory, logging. Domains never import it."""
