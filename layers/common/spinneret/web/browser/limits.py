"""Bounds of rendered pages, each with its source."""

from typing import Final

RENDER_SECONDS: Final = 60.0  # C-11: one page, from the browser's start to its end
RENDER_WAIT_SECONDS: Final = 30.0  # longest `wait_seconds`: leaves half of the time to the page
RENDER_MAX_BYTES: Final = 50 * 1024 * 1024  # C-11: received and sent for one page, as encoded
RENDER_MAX_REQUESTS: Final = 300  # C-11: of one page
RENDER_MAX_REDIRECTS: Final = 5  # F-01: of the main document
RENDER_MAX_FRAMES: Final = 300  # as many as requests: frames without a request count too
DOCUMENT_MAX_BYTES: Final = 10 * 1024 * 1024  # F-01: the main document, and its rendered DOM
BROWSER_MEMORY_BYTES: Final = 1536 * 1024 * 1024  # C-11: 2 GB, less what the function itself takes

VIEWPORT_MAX_WIDTH: Final = 3840  # CSS pixels, a 4K screen
VIEWPORT_MAX_HEIGHT: Final = 2160
VIEWPORT_MAX_SCALE: Final = 3.0
IMAGE_MAX_PIXELS: Final = 80_000_000  # the largest viewport at the largest scale has 75 million
IMAGE_MAX_SIDE: Final = 16_383  # device pixels; WebP stores no longer side
PDF_MAX_PAGES: Final = 500
PDF_MARGIN_MAX_MM: Final = 100.0  # A4 is 210 mm wide
OUTPUT_MAX_BYTES: Final = 32 * 1024 * 1024  # of an image or a PDF

SCRIPTS_MAX: Final = 20  # C-11
SCRIPT_MAX_BYTES: Final = 64 * 1024  # C-11, as UTF-8
SCRIPT_RESULT_MAX_BYTES: Final = 1024 * 1024  # C-11, as JSON
SCRIPT_RESULT_LEVELS: Final = 50  # of lists and objects within each other
SCRIPT_SECONDS: Final = 10.0  # one script, including the promise that it returns
FIGURES_MS: Final = 300  # until a page that is ready has painted, and observers were called
CONSOLE_ERRORS_MAX: Final = 50
CONSOLE_ERROR_MAX_CHARS: Final = 500
SELECTOR_MAX_CHARS: Final = 500
