"""WebSocket gateway of the local stack: API Gateway's WebSocket contract in front of one function.

Clients connect to ``/<stage>``. Each handshake, message and end of a connection becomes an
invocation through the Lambda API. Functions send messages through ``/<stage>/@connections/<id>``.
"""
