"""Text embedder of the local stack: `spinneret_embedder` behind the TEI HTTP protocol.

``server`` serves the folder that ``spinneret_embedder.convert`` creates.
"""
