"""The one kernel of work: a crawl, an audit, a delivery is a job with lease, fence and events."""
