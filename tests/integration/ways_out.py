"""A page that uses every way by which a document can make a browser connect to a server.

Each way has its own path at a second server, so that a test can tell which requests arrived.
"""

from urllib.parse import parse_qs, quote, urlsplit

from tests.fakes.scripted_server import Exchange, ScriptedServer, answer, redirect

SITE = "site.localhost"
"""A name that browsers trust as they trust TLS, so that the page may use service workers."""

MARKUP = {
    "stylesheet": '<link rel="stylesheet" href="{to}">',
    "icon": '<link rel="icon" href="{to}">',
    "prefetch": '<link rel="prefetch" href="{to}">',
    "preload": '<link rel="preload" as="image" href="{to}">',
    "module-preload": '<link rel="modulepreload" href="{to}">',
    "css-import": "<style>@import url({to});</style>",
    "css-background": "<style>p {{background: url({to})}}</style><p>text</p>",
    "css-font": "<style>@font-face {{font-family: own; src: url({to})}} b {{font-family: own}}"
    "</style><b>text</b>",
    "css-bullet": "<ul style='list-style-image: url({to})'><li>text</ul>",
    "css-border": "<i style='border: 1px solid; border-image-source: url({to})'>text</i>",
    "css-content": "<style>u::before {{content: url({to})}}</style><u>text</u>",
    "css-mask": "<div style='-webkit-mask-image: url({to})'>text</div>",
    "image": '<img src="{to}">',
    "image-set": '<img srcset="{to} 1x">',
    "picture": '<picture><source srcset="{to}"><img></picture>',
    "image-button": '<input type="image" src="{to}">',
    "image-redirect": '<img src="/redirect?to={to}">',
    "background-attribute": '<table background="{to}"><tr><td>text</table>',
    "svg-image": '<svg><image href="{to}"/></svg>',
    "svg-filter-image": '<svg><filter id="f"><feImage href="{to}"/></filter>'
    '<rect width="9" height="9" filter="url(#f)"/></svg>',
    "frame": '<iframe src="{to}"></iframe>',
    "frame-redirect": '<iframe src="/redirect?to={to}"></iframe>',
    "frame-refresh": '<iframe src="/refresh?to={to}"></iframe>',
    "frame-navigation": '<iframe src="/navigate?to={to}"></iframe>',
    "frame-source-text": "<iframe srcdoc='<img src={to}>'></iframe>",
    "frame-data-url": "<iframe src='data:text/html,<img src={to}>'></iframe>",
    "frame-sandboxed": '<iframe sandbox="allow-scripts" src="/fetching?to={to}"></iframe>',
    "script": '<script src="{to}"></script>',
    "module": '<script type="module" src="{to}"></script>',
    "video": '<video src="{to}" autoplay muted></video>',
    "poster": '<video poster="{to}"></video>',
    "audio": '<audio src="{to}" autoplay muted></audio>',
    "object": '<object data="{to}"></object>',
    "embed": '<embed src="{to}">',
    "form": '<form id="form" method="post" action="{to}" target="aim"><input name="a"></form>'
    '<iframe name="aim"></iframe><script>document.getElementById("form").submit()</script>',
    "ping": '<a id="ping" href="#here" ping="{to}">text</a>'
    '<script>document.getElementById("ping").click()</script>',
}
"""Elements and styles; `{to}` is the target."""

SCRIPTS = {
    "fetch": "fetch(to, {mode: 'no-cors'})",
    "fetch-redirect": "fetch('/redirect?to=' + to, {mode: 'no-cors'})",
    "fetch-keepalive": "fetch(to, {mode: 'no-cors', keepalive: true, method: 'POST', body: 'x'})",
    "request": "const r = new XMLHttpRequest(); r.open('GET', to); r.send()",
    "beacon": "navigator.sendBeacon(to, 'x')",
    "event-source": "new EventSource(to)",
    "web-socket": "new WebSocket(to.replace('http', 'ws'))",
    "import": "import(to)",
    "image-object": "new Image().src = to",
    "worker": "new Worker('/worker?to=' + to)",
    "worker-import": "new Worker('/importer?to=' + to)",
    "worker-socket": "new Worker('/socket-worker?to=' + to)",
    "blob-worker": "new Worker(URL.createObjectURL(new Blob("
    "[`fetch('${to}', {mode: 'no-cors'})`])))",
    "shared-worker": "new SharedWorker('/worker?to=' + to)",
    "service-worker": "navigator.serviceWorker.register('/worker?to=' + to)",
    "popup": "open(to)",
    "text-track": "const v = document.createElement('video'), t = document.createElement('track');"
    "t.src = to; t.default = true; v.crossOrigin = 'anonymous'; v.append(t);"
    "document.body.append(v); t.track.mode = 'showing'",
}
"""Script calls; `to` is the target."""

HOSTS = {
    "loopback-name": "localhost:{port}",
    "any-address": "0.0.0.0:{port}",
    "decimal-address": "2130706433:{port}",
    "short-address": "127.1:{port}",
    "mapped-address": "[::ffff:127.0.0.1]:{port}",
    "rebinding-name": "rebind.test:{port}",
}
"""Spellings of the second server's address."""

HEADERS = {
    "link-header": "Link: <{to}>; rel=preload; as=script",
    "policy-report": "Content-Security-Policy-Report-Only: img-src 'none'; report-uri {to}",
}

WAYS = frozenset({*MARKUP, *SCRIPTS, *HOSTS, *HEADERS})
NAVIGATIONS = ("/redirect", "/refresh", "/navigate")
"""Paths whose main document leads the browser to the target in `to`."""

_RTC = """<script>(async () => {
    const server = (kind, rest = '') => ({urls: kind + ':127.0.0.1:%PORT%' + rest,
        username: 'u', credential: 'c'});
    const peer = new RTCPeerConnection({iceServers: [server('stun'), server('turn'),
        server('turn', '?transport=tcp')]});
    peer.createDataChannel('a');
    await peer.setLocalDescription(await peer.createOffer());
})()</script>"""
"""WebRTC calls to the second server, by datagrams and by connections; they have no path."""
_HINTS = '<link rel="preconnect" href="{0}"><link rel="dns-prefetch" href="{0}">'


class Site:
    """The behaviours of the page's server; the targets are on a loopback port."""

    def __init__(self, server: ScriptedServer, port: int) -> None:
        self._port = port
        server.behaviours = {
            "/": answer(self._page(), *self._headers()),
            "/redirect": lambda each: redirect(_to(each))(each),
            "/refresh": _made("<meta http-equiv='refresh' content='0; url={to}'>"),
            "/navigate": _made("<script>location = '{to}'</script>"),
            "/fetching": _made("<script>fetch('{to}', {{mode: 'no-cors'}})</script>"),
            "/worker": _made("fetch('{to}', {{mode: 'no-cors'}})", "text/javascript"),
            "/importer": _made("importScripts('{to}')", "text/javascript"),
            "/socket-worker": _made(
                "new WebSocket('{to}'.replace('http', 'ws'))", "text/javascript"
            ),
        }

    def target(self, way: str, host: str = "127.0.0.1:{port}") -> str:
        """Return the URL of a way at the second server."""
        return f"http://{host.format(port=self._port)}/{way}"

    def _page(self) -> bytes:
        markup = [text.format(to=self.target(way)) for way, text in MARKUP.items()]
        hosts = [f'<img src="{self.target(way, host)}">' for way, host in HOSTS.items()]
        calls = [
            f"<script>try {{ const to = '{self.target(way)}'; {call} }} catch {{}}</script>"
            for way, call in SCRIPTS.items()
        ]
        hints = _HINTS.format(self.target(""))
        rtc = _RTC.replace("%PORT%", str(self._port))
        parts = (
            "<!doctype html><title>ways out</title><body>",
            hints,
            *markup,
            *hosts,
            *calls,
            rtc,
        )
        return "\n".join(parts).encode()

    def _headers(self) -> list[str]:
        return [text.format(to=self.target(way)) for way, text in HEADERS.items()]


def _to(exchange: Exchange) -> str:
    return parse_qs(urlsplit(exchange.request.target).query)["to"][0]


def _made(text: str, content_type: str = "text/html") -> object:
    def behave(exchange: Exchange) -> None:
        answer(text.format(to=_to(exchange)).encode(), content_type=content_type)(exchange)

    return behave


def navigation(path: str, target: str) -> str:
    """Return the path of a document that leads the browser to the target."""
    return f"{path}?to={quote(target, safe='')}"
