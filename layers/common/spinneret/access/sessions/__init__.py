"""Sign-in of people, and their sessions."""
