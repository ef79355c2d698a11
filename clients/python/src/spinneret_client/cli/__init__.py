"""The command `spinneret`."""
