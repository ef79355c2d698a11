"""The function behind the API, taken from the deployed stack and invoked through the Lambda API."""

import asyncio
import json
import xml.etree.ElementTree as ET
from typing import Any, Final
from urllib.parse import quote

import httpx

from spinneret_websocket.errors import FunctionFailed, FunctionTimedOut, FunctionUnavailable
from spinneret_websocket.events import Event
from spinneret_websocket.limits import INTEGRATION_SECONDS, LOOKUP_SECONDS

OUTPUT: Final = "WebSocketFunction"
_ERROR_TYPE = "x-amzn-errortype"


class _FunctionMissing(FunctionUnavailable):
    """The Lambda API has no function of this name, because the stack was recreated."""


class LiveFunction:
    """The function that the stack's output names; looked up once per stack."""

    def __init__(self, http: httpx.AsyncClient, stack: str, region: str) -> None:
        """``http`` sends requests to the AWS endpoint."""
        self._http = http
        self._stack = stack
        self._scope = f"local/20000101/{region}/cloudformation/aws4_request"
        self._name: str | None = None
        self._lookup = asyncio.Lock()

    async def invoke(self, event: Event) -> Any:
        """Invoke the function and return its answer.

        Raises:
            InvocationError: there is none.
        """
        name = await self._known_name()
        try:
            return await self._invoke(name, event)
        except _FunctionMissing:
            if self._name == name:
                self._name = None
        return await self._invoke(await self._known_name(), event)

    async def _known_name(self) -> str:
        async with self._lookup:  # one lookup serves all waiting calls
            if self._name is None:
                self._name = await self._look_up()
            return self._name

    async def _invoke(self, name: str, event: Event) -> Any:
        path = f"/2015-03-31/functions/{quote(name, safe='')}/invocations"
        answer = await self._post(path, json.dumps(event), {}, INTEGRATION_SECONDS)
        if answer.is_error:
            code = answer.headers.get(_ERROR_TYPE, "")
            error = _FunctionMissing if code == "ResourceNotFoundException" else FunctionUnavailable
            raise error(f"the invocation of {name} was refused: {answer.status_code} {code}")
        try:
            payload = answer.json()
        except ValueError as error:
            raise FunctionFailed(f"{name} answered no JSON") from error
        if "x-amz-function-error" in answer.headers:
            kind = payload.get("errorType") if isinstance(payload, dict) else None
            raise FunctionFailed(f"{name} failed: {kind}; see its log")
        return payload

    async def _look_up(self) -> str:
        form = f"Action=DescribeStacks&Version=2010-05-15&StackName={quote(self._stack, safe='')}"
        headers = {
            "content-type": "application/x-www-form-urlencoded",
            # It selects the service; the signature isn't checked.
            "authorization": f"AWS4-HMAC-SHA256 Credential={self._scope}, "
            "SignedHeaders=host, Signature=0",
        }
        answer = await self._post("/", form, headers, LOOKUP_SECONDS)
        if answer.is_error:
            raise FunctionUnavailable(f"stack {self._stack} is not deployed")
        name = _output(answer.content)
        if name is None:
            raise FunctionUnavailable(f"stack {self._stack} has no output {OUTPUT}")
        return name

    async def _post(
        self, path: str, content: str, headers: dict[str, str], seconds: float
    ) -> httpx.Response:
        try:
            async with asyncio.timeout(seconds):
                return await self._http.post(path, content=content, headers=headers)
        except TimeoutError as error:
            raise FunctionTimedOut(f"no answer within {seconds:.0f} s") from error
        except httpx.HTTPError as error:
            raise FunctionUnavailable(f"{type(error).__name__}: {error}") from error


def _output(description: bytes) -> str | None:
    """Return the value of OUTPUT in a response of DescribeStacks."""
    try:
        root = ET.fromstring(description)  # noqa: S314 - the emulator's own answer
    except ET.ParseError as error:
        raise FunctionUnavailable("the answer of DescribeStacks is no XML") from error
    for member in root.iterfind(".//{*}Outputs/{*}member"):
        if member.findtext("{*}OutputKey") == OUTPUT:
            return member.findtext("{*}OutputValue")
    return None
