"""Text embedder of the local stack: all-MiniLM-L6-v2 behind the TEI HTTP protocol.

``convert`` turns the published weights into a CTranslate2 int8 model once; ``server`` serves it.
"""

from __future__ import annotations

__version__ = "1.0.0"
