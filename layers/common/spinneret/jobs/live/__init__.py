"""Live progress of jobs over WebSockets (P-07)."""
