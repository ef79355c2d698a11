"""Tools of the parts: Python environments and jars, installed once for all instances."""
