"""The API's document: generated from the routes, served as a file."""
