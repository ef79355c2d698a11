"""The API's document: made from the routes, served as a file."""
