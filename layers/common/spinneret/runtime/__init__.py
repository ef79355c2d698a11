"""The Lambda-facing side: resolver factory, worker factory, logging. Domains never import it."""
