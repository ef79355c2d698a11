"""Browser plug-ins: tasks for the sellers' own browsers, and their answers."""
