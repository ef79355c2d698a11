"""What has been kept long enough is deleted: the pages of audits as they came (A-04).

python -m spinneret.retention       one pass, whatever RETENTION_CLEANUP_ENABLED says
"""
