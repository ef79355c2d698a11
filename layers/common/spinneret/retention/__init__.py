"""Delete expired objects: the original pages of audits (A-04).

python -m spinneret.retention       one pass, even without RETENTION_CLEANUP_ENABLED
"""
