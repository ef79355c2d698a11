"""Connections through an HTTP proxy.

The proxy opens a tunnel to the address that the guard has checked, never to a name, so that it
can't resolve the host to another address. Host header and SNI keep the name. Plain http pages use a
tunnel too, and no request to a host carries the proxy's credentials.
"""

import base64
import ssl
from collections.abc import Iterable
from http import HTTPStatus
from typing import Final

import httpcore

from spinneret.kernel.errors import (
    CallerDeadlineExceeded,
    FetchFailed,
    FetchTimeout,
    ProxyFailed,
    UrlBlocked,
)
from spinneret.web.fetching.connection import Deadline
from spinneret.web.fetching.models import Proxy

# Gateways return these statuses when the host fails (RFC 9110, sections 15.6.3 and 15.6.5).
_SITE_IS_DOWN: Final = frozenset({HTTPStatus.BAD_GATEWAY, HTTPStatus.GATEWAY_TIMEOUT})


class TunnelBackend(httpcore.NetworkBackend):
    """Network backend that connects to an address through the proxy.

    `direct` connects to the proxy itself: it checks the proxy's own addresses and applies the
    deadline of the fetch to every call. `tls` verifies an https proxy by its host name. Every
    failure of the proxy raises ProxyFailed, whose message names no host.
    """

    def __init__(
        self,
        proxy: Proxy,
        direct: httpcore.NetworkBackend,
        tls: ssl.SSLContext,
        deadline: Deadline,
    ) -> None:
        """`deadline` is the fetch's."""
        self._proxy = proxy
        self._direct = direct
        self._tls = tls
        self._deadline = deadline

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ARG002 (the deadline of `direct` holds instead)
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        """See httpcore; takes an address. Raises ConnectError when the proxy can't reach it."""
        connection = httpcore.HTTPConnection(
            origin=self._origin(),
            ssl_context=self._tls,
            local_address=local_address,
            network_backend=self._direct,
            socket_options=socket_options,
        )
        try:
            response = connection.handle_request(self._request(host, port))
        except (FetchTimeout, httpcore.TimeoutException) as error:
            connection.close()
            overrun = self._deadline.overrun("did not answer")
            if isinstance(overrun, CallerDeadlineExceeded):  # it says nothing about the proxy
                raise overrun from error
            raise ProxyFailed("the proxy did not answer in time") from error
        except UrlBlocked as error:
            raise ProxyFailed("the proxy is at an address that must not be reached") from error
        except (FetchFailed, httpcore.NetworkError, httpcore.ProtocolError, OSError) as error:
            connection.close()
            raise ProxyFailed("the connection to the proxy failed") from error
        if response.status in range(200, 300):
            stream: httpcore.NetworkStream = response.extensions["network_stream"]
            return stream
        connection.close()
        if response.status in _SITE_IS_DOWN:
            raise httpcore.ConnectError("the proxy could not reach the host")
        raise _refusal(response.status)

    def _origin(self) -> httpcore.Origin:
        proxy = self._proxy
        return httpcore.Origin(proxy.scheme.encode(), proxy.host.encode(), proxy.port)

    def _request(self, host: str, port: int) -> httpcore.Request:
        target = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        headers = {"Host": target}
        if self._proxy.username is not None:
            headers["Proxy-Authorization"] = _basic(self._proxy.username, self._proxy.password)
        origin = self._origin()
        return httpcore.Request(
            b"CONNECT",
            httpcore.URL(
                scheme=origin.scheme, host=origin.host, port=origin.port, target=target.encode()
            ),
            headers=[(name.encode(), value.encode()) for name, value in headers.items()],
        )


def _basic(username: str, password: str) -> str:
    """Return Basic credentials (RFC 7617), in UTF-8."""
    return "Basic " + base64.b64encode(f"{username}:{password}".encode()).decode()


def _refusal(status: int) -> ProxyFailed:
    if status == HTTPStatus.PROXY_AUTHENTICATION_REQUIRED:
        return ProxyFailed("the proxy refused the credentials", details={"status_code": status})
    return ProxyFailed("the proxy refused the connection", details={"status_code": status})
