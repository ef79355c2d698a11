"""Building the application and bringing it to an instance of the stack."""
