"""What the parts are run with: Python environments and jars, installed once for all instances."""
