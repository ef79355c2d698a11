"""Bounds of keys and uploads, each with its source."""

from typing import Final

UPLOAD_MAX_BYTES: Final = 10 * 1024 * 1024  # T-06
UPLOAD_FORM_SECONDS: Final = 900  # for 10 MB over a slow line; a role's credentials live longer

KEY_NAME_MAX_CHARS: Final = 100
KEYS_PER_TENANT: Final = 100  # active keys: one item of a few kilobytes lists them all
KEY_LIFETIME_MAX_SECONDS: Final = 10 * 365 * 24 * 3600  # a later expiry is as good as none
KEY_RETENTION_SECONDS: Final = 30 * 24 * 3600  # lists show a key for this long after its end
KEY_REQUESTS_PER_MINUTE: Final = 60  # T-01, default
RATE_WINDOW_SECONDS: Final = 60  # T-01: requests per minute
KEY_KNOWN_SECONDS: Final = 5.0  # a revocation reaches each process within this time (T-01)
KEYS_KNOWN_MAX: Final = 1000  # in a process; some 500 bytes each
TICKET_SECONDS: Final = 900  # architecture, section 4: short-lived
SUSPENSION_REASON_MAX_CHARS: Final = 200
TENANT_COMMAND_WAIT_SECONDS: Final = 5.0  # until an operator's command asks again

USERS_PER_TENANT: Final = 500  # one item of some 30 kilobytes lists them all
USER_NAME_MAX_CHARS: Final = 100
EMAIL_MAX_CHARS: Final = 254  # RFC 5321, section 4.5.3.1.3, without the angle brackets
USER_REQUESTS_PER_MINUTE: Final = 300  # a page of the console sends some ten requests
PASSWORD_MIN_CHARS: Final = 15  # NIST SP 800-63B-4, section 3.1.1.2, without a second factor
PASSWORD_MAX_CHARS: Final = 128
INVITATION_SECONDS: Final = 72 * 3600

ACCESS_TOKEN_SECONDS: Final = 3600  # T-02
ACCESS_TOKEN_LEEWAY_SECONDS: Final = 30  # clocks of functions differ by less than a second
ACCESS_TOKEN_MAX_CHARS: Final = 2048  # ours have some 800
SESSION_SECONDS: Final = 7 * 24 * 3600  # T-02; rotation doesn't extend a session
SAME_SUCCESSOR_SECONDS: Final = 10  # a lost answer is asked for again, or a second tab asks
SESSION_CACHE_SECONDS: Final = 60  # an ended session's access tokens end within this time
SIGNING_KEY_SECONDS: Final = 90 * 24 * 3600
SIGNING_KEY_NOTICE_SECONDS: Final = 300  # published before its first use: caches read it meanwhile
KEY_SET_CACHE_SECONDS: Final = 60

SIGN_INS_PER_MINUTE: Final = 100  # attempts of one address
FREE_FAILURES: Final = 4  # the fifth failure of an account at an address begins the delays
FIRST_DELAY_SECONDS: Final = 30
LONGEST_DELAY_SECONDS: Final = 3600
FAILURES_SECONDS: Final = 2 * 3600  # failures of an address count so long after the last one
TRAIL_SECONDS: Final = 365 * 24 * 3600  # an audit looks back a year
ACCOUNT_FAILURES_PER_HOUR: Final = 100  # NIST SP 800-63B-4, section 3.2.2
