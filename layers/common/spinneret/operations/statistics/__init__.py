"""A tenant's own numbers: of its jobs by day and by host, and of its searches.

Numbers of jobs are added up after the fact, from the rows that the ends of jobs write anyway:
`service.JobCounts` reads each job once after its end. So no write of a job waits for a counter, and
no row of a tenant is hot.
"""
