"""Tasks: the steps of a marketplace job."""
