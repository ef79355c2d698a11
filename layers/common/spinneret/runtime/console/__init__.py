"""Static files of the web console, which `console/` at the repository's root holds."""
