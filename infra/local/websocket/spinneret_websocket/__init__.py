"""WebSocket gateway of the local stack: API Gateway's WebSocket contract in front of one function.

Clients connect to ``/<stage>``; each handshake, message and end becomes an invocation through the
Lambda API. Functions answer through ``/<stage>/@connections/<id>``.
"""
