"""Build the application and deploy it to an instance of the stack."""
