"""Live progress of jobs: over WebSockets, and for requests that wait (P-07)."""
