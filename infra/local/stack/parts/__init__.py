"""Parts of the stack: installation, start and probe of each."""
