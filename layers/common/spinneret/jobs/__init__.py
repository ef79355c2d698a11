"""Job kernel: crawls, audits and deliveries are jobs with a lease, a fence and events."""
