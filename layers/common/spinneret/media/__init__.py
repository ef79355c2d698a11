"""Screenshots, PDFs and scripts of pages: jobs of the browser, with their objects in S3."""
