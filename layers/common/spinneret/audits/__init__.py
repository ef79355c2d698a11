"""Site audits: facts of pages and sites, checks over them, scores, reports. Pure: no I/O at all."""
