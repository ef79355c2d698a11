"""Settings of an instance's stage, from `set` or the environment, and stored with the instance.

Every parameter of the template is one. A name means the parameter that it spells; neither case,
underscores nor the prefix SPINNERET_ matter. A later `deploy` uses the stored value of a setting
that isn't given. An empty value resets it to the default.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from spinneret.web.fetching.addresses import AddressPolicy
from stack.deployment import template_parameters
from stack.deployment.template_parameters import Parameter
from stack.deployment.variables import OTHERS, PREFIX
from stack.errors import UsageError
from stack.files import write_json
from stack.instance import Instance
from stack.ports import HOST, Ports

FETCH_PARAMETER: Final = "FetchAllowed"
EMBEDDER: Final = "SPINNERET_EMBEDDER"
"""`server` (the instance's own part) or `function` (as on AWS without a URL)."""
SERVER: Final = "server"
_WEBSITE: Final = f"http://{HOST}:{Ports.website}"
_MARKETS: Final = f"http://{HOST}:{Ports.markets}"
_RENAMED: Final = {"FetchAllowedEndpoints": FETCH_PARAMETER, "CrawlWorkerTimeout": "CrawlTimeout"}
"""Settings that earlier versions stored under other names."""
STACK_OWN: Final[Mapping[str, str]] = {
    "Stage": "`samconfig.toml`, by `--config-env`",
    "OpenSearchUrl": "nobody: the stage has its own domain",
    "EmbedderUrl": "you, if you have such a server",
    "WebSocketUrl": "nobody: the stage has its own gateway",
    "BrowserFolder": "you, only to build without a browser",
}
"""Template parameters whose values follow from the instance; and who sets them on AWS."""
_OWN: Final = {
    EMBEDDER: (SERVER, "server, or function: embed in a function of the stack, as on AWS."),
}


@dataclass(frozen=True)
class Setting:
    """A setting of the stage: a parameter of the template, or one of the stack itself."""

    name: str
    default: str
    meaning: str
    parameter: Parameter | None

    @property
    def variable(self) -> str:
        """Environment variable that gives it to `deploy`, in the spelling of the docs."""
        words = re.sub("(?<=[a-z0-9])(?=[A-Z])", "_", self.name).upper()
        return PREFIX + words.removeprefix(PREFIX)

    @property
    def needs_deployment(self) -> bool:
        """Whether a change needs more than new variables of functions."""
        if self.parameter is None:
            return self.name == EMBEDDER
        return self.parameter.changes_resources

    def check(self, value: str) -> None:
        """Raise UsageError for a value that the deployment or the functions would reject."""
        if self.name == EMBEDDER:
            embedder({EMBEDDER: value})
        elif self.name == FETCH_PARAMETER:
            _check_endpoints(value)
        if self.parameter is not None:
            self.parameter.check(value)


def known(template: Path) -> dict[str, Setting]:
    """Return all settings by name, with the template's meanings and this stack's defaults."""
    declared = template_parameters.read(template)
    defaults = parameters({})
    found = {
        name: Setting(name, defaults.get(name, each.default), each.meaning, each)
        for name, each in declared.items()
        if name not in STACK_OWN
    }
    return found | {
        name: Setting(name, default, meaning, None) for name, (default, meaning) in _OWN.items()
    }


def find(name: str, among: Mapping[str, Setting]) -> Setting:
    """Return the setting that a name spells.

    Raises UsageError, with the most similar name, if there is none.
    """
    spelled = {_plain(each): each for each in among}
    if _plain(name) in spelled:
        return among[spelled[_plain(name)]]
    similar = get_close_matches(_plain(name), spelled, n=1)
    advice = f"did you mean {spelled[similar[0]]}?" if similar else "`make settings` lists all"
    raise UsageError(f"no setting is named {name}: {advice}")


def check(settings: Mapping[str, str], among: Mapping[str, Setting]) -> None:
    """Raise UsageError for an unknown setting or an invalid value."""
    for name, value in settings.items():
        find(name, among).check(value)


def _plain(name: str) -> str:
    return name.removeprefix(PREFIX).replace("_", "").lower()


def assignments(
    words: Sequence[str], environ: Mapping[str, str], among: Mapping[str, Setting]
) -> dict[str, str]:
    """Return settings of a command line by name: `NAME=value`, or `NAME` with a variable's value.

    Raises UsageError for an unknown one, and for one that has no value in either place.
    """
    found = {}
    for word in words:
        name, given, value = word.partition("=")
        setting = find(name, among).name
        if not given and name not in environ:
            raise UsageError(f"{setting} has no value: write {setting}=value")
        found[setting] = value if given else environ[name]
    return found


def _check_endpoints(value: str) -> None:
    try:
        AddressPolicy(frozenset(value.split(",")))
    except ValueError as error:
        raise UsageError(f"{FETCH_PARAMETER} is {value!r}: {error}") from error


def wanted(
    instance: Instance,
    environ: Mapping[str, str],
    among: Mapping[str, Setting],
    words: Sequence[str] = (),
) -> dict[str, str]:
    """Return the settings to deploy by name.

    Those of the command line (`words`) override the environment's, and these the stored ones.
    Raises UsageError for a variable that names no setting and isn't one of `OTHERS`.
    """
    named = sorted(name for name in environ if name.startswith(PREFIX) and name not in OTHERS)
    given = assignments(named, environ, among) | assignments(words, environ, among)
    return merge(kept(instance), given)


def merge(former: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    """Return former settings with the given ones; an empty value removes a setting."""
    return {name: value for name, value in {**former, **given}.items() if value}


def keep(instance: Instance, settings: Mapping[str, str]) -> None:
    """Store the settings after their deployment, so that rejected or failed ones aren't reused."""
    write_json(instance.folder / "settings.json", dict(settings))


def kept(instance: Instance) -> dict[str, str]:
    """Return the settings of the last deployment by name."""
    try:
        found: dict[str, str] = json.loads((instance.folder / "settings.json").read_text())
    except FileNotFoundError:
        return {}
    found.pop("SPINNERET_SITE_PORT", None)  # an earlier version's: now a port of the instance
    return {_RENAMED.get(name, name): value for name, value in found.items()}


def embedder(settings: Mapping[str, str]) -> str:
    """Return which embedder to use. Raises UsageError for an unknown value."""
    chosen = settings.get(EMBEDDER) or SERVER
    if chosen not in {SERVER, "function"}:
        raise UsageError(f"{EMBEDDER} is {chosen!r} instead of server or function")
    return chosen


def parameters(
    settings: Mapping[str, str], website: str = _WEBSITE, markets: str = _MARKETS
) -> dict[str, str]:
    """Return the template's parameters that follow from the settings.

    `website` and `markets` are the URLs of the demonstration's servers.
    """
    chosen = {name: value for name, value in settings.items() if name not in _OWN}
    # A user's endpoints are added to the demonstration's, which would fail otherwise.
    own_site = ",".join(url.removeprefix("http://") for url in (website, markets))
    allowed = ",".join(filter(None, (own_site, chosen.get(FETCH_PARAMETER))))
    # Products of a laptop go to local marketplaces, never to real ones. Nobody buys there, so order
    # polling is disabled. The emulator has no host for each bucket, and no X-Ray.
    hosts = market_hosts(markets, chosen.get("MarketplaceHosts", ""))
    defaults = {"OrderPollingEnabled": "false", "S3AddressingStyle": "path", "Tracing": "Disabled"}
    own = {**defaults, **chosen, "MarketplaceHosts": hosts}
    return {**own, FETCH_PARAMETER: allowed}


def market_hosts(origin: str, given: str = "") -> str:
    """Return all marketplace hosts at one origin, in the format of the template's parameter.

    `given` are pairs of that format that replace single ones.
    """
    # Half a second, which commands that deploy nothing don't need.
    from spinneret.marketplace.registry import PLATFORMS  # noqa: PLC0415 - see above

    all_hosts = sorted(name for platform in PLATFORMS.values() for name in platform.hosts)
    named = dict(pair.partition("=")[::2] for pair in given.split(",") if pair)
    hosts = {**dict.fromkeys(all_hosts, origin), **named}
    return ",".join(f"{name}={at}" for name, at in hosts.items())
