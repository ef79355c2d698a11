"""API functions: admission, routes, errors."""
