"""One Chromium with a profile of its own: its start, its memory, and its end."""

import asyncio
import ctypes
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Final

from spinneret.kernel.errors import BrowserFailed, DependencyUnavailable
from spinneret.web.browser import unpacking

START_SECONDS: Final = 15.0
_POLL_SECONDS: Final = 0.01
_PR_SET_PDEATHSIG: Final = 1  # linux/prctl.h
_PR_SET_CHILD_SUBREAPER: Final = 36
_KIB: Final = 1024

FLAGS: Final = (
    "--headless",
    "--no-sandbox",  # Lambda gives no user namespaces; the function holds one tenant's page
    "--no-zygote",  # so every process is a child of the browser
    "--disable-gpu",
    "--disable-dev-shm-usage",  # Lambda has no /dev/shm
    "--no-first-run",
    "--no-default-browser-check",
    "--no-pings",
    "--mute-audio",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--font-render-hinting=none",
    "--block-new-web-contents",
    "--deny-permission-prompts",
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-sync",
    "--disable-features=HttpsUpgrades,MediaRouter,OptimizationHints,Translate",
    "--js-flags=--max-old-space-size=512",
    "--disable-quic",
    "--dns-prefetch-disable",
    # Names are resolved by the proxy only; without `<-loopback>` Chromium reaches loopback itself.
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--proxy-bypass-list=<-loopback>",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",  # obeyed by the headless build
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",  # obeyed by the full build
    "--remote-debugging-port=0",
)


class ChromiumProcess:
    """A running Chromium; it and its children are one process group."""

    def __init__(self, process: subprocess.Popen[bytes], profile: Path) -> None:
        self._process = process
        self._profile = profile
        self._is_ended = False

    async def devtools_url(self) -> str:
        """Return the WebSocket URL of DevTools once it listens.

        Raises DependencyUnavailable if the program ends or doesn't listen in time.
        """
        port_file = self._profile / "DevToolsActivePort"
        try:
            async with asyncio.timeout(START_SECONDS):
                while self._process.poll() is None:
                    with suppress(FileNotFoundError):
                        port, _, path = port_file.read_text().partition("\n")
                        if path:
                            return f"ws://127.0.0.1:{port}{path}"
                    await asyncio.sleep(_POLL_SECONDS)
        except TimeoutError as error:
            raise DependencyUnavailable("browser", "did not start in time") from error
        code = self._process.returncode
        raise DependencyUnavailable("browser", f"ended with {code} when it was started")

    def memory_bytes(self) -> int:
        """Return the memory of the group that no file backs; shared memory counts once for each."""
        return sum(_anonymous_bytes(Path("/proc", each)) for each in self._members())

    def _members(self) -> Iterator[str]:
        for entry in os.listdir("/proc"):  # noqa: PTH208 (names only, many times a second)
            if entry.isdigit():
                with suppress(ProcessLookupError):
                    if os.getpgid(int(entry)) == self._process.pid:
                        yield entry

    def end(self) -> None:
        """Kill the group and reap all of it, then wipe the profile; once is enough."""
        if self._is_ended:  # its number may be another process's by now
            return
        self._is_ended = True
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        with suppress(ChildProcessError):
            while True:  # its children are ours now, and killed
                os.waitpid(-self._process.pid, 0)
        shutil.rmtree(self._profile, ignore_errors=True)


@contextmanager
def running(folder: Path, scratch: Path, arguments: Sequence[str]) -> Iterator[ChromiumProcess]:
    """Run the Chromium that is unpacked in the folder, with a new profile in `scratch`."""
    libc = ctypes.CDLL(None, use_errno=True)
    _adopt_orphans(libc)
    profile = Path(tempfile.mkdtemp(prefix="browser-", dir=scratch))
    program = folder / unpacking.PROGRAM
    words = [str(program), *FLAGS, f"--user-data-dir={profile}", *arguments, "about:blank"]
    try:
        process = subprocess.Popen(  # noqa: S603 (our own program and flags)
            words,
            preexec_fn=partial(_die_with_parent, libc),  # noqa: PLW1509 (calls libc only)
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            cwd=profile,
            env=_environment(folder, profile),
        )
    except OSError as error:
        shutil.rmtree(profile, ignore_errors=True)
        raise DependencyUnavailable("browser", "could not be started") from error
    browser = ChromiumProcess(process, profile)
    try:
        yield browser
    finally:
        browser.end()


def _environment(folder: Path, profile: Path) -> dict[str, str]:
    """Return the browser's variables: none of the function's own, which has credentials."""
    return {
        "PATH": os.defpath,
        "LANG": "C.UTF-8",
        "HOME": str(profile),
        "TMPDIR": str(profile),
        "LD_LIBRARY_PATH": str(folder / unpacking.LIBRARIES),
        "FONTCONFIG_FILE": str(folder / unpacking.FONT_SETTINGS),
    }


def _die_with_parent(libc: ctypes.CDLL) -> None:
    """Let the kernel kill the browser when the thread that started it ends, even by a signal.

    Its children end when it does. A worker that is killed couldn't end it.
    """
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _adopt_orphans(libc: ctypes.CDLL) -> None:
    """Make this process the parent of orphaned descendants, so that it can reap them.

    Otherwise the browser's children would go to Lambda's first process, which reaps nothing.
    """
    if libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise BrowserFailed("the browser's processes can't be adopted")


def _anonymous_bytes(process: Path) -> int:
    try:
        lines = (process / "status").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):  # it ended meanwhile
        return 0
    fields = dict(line.split(":", 1) for line in lines if ":" in line)
    sizes = (fields.get(name, "0 kB").split()[0] for name in ("RssAnon", "RssShmem"))
    return sum(int(size) * _KIB for size in sizes)
