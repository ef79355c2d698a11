"""The parts of the stack: how each one is installed, started and asked whether it works."""
