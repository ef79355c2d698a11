"""all-MiniLM-L6-v2 as the protocol of Text Embeddings Inference (TEI) asks for it.

``convert`` turns the published weights into a CTranslate2 int8 model once. The server of the local
stack and the function ``search/embedder.py`` answer with it.
"""

from __future__ import annotations

__version__ = "1.0.0"
