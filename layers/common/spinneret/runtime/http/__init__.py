"""Common code of API functions: admission, routes, errors."""
