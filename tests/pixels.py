"""Pixels of images."""

import zlib

RED, GREEN, BLUE, WHITE = (255, 0, 0), (0, 128, 0), (0, 0, 255), (255, 255, 255)
TOLERANCE = 2  # for one colour channel: drivers round differently
SQUARES = b"""<!doctype html><style>
body {margin: 0; background: white} div {position: absolute; width: 20px; height: 20px}
</style><div style="left: 0; top: 0; background: red"></div>
<div id="low" style="left: 40px; top: 180px; background: green"></div>
<div style="left: 80px; top: 60px; background: blue"></div>"""
"""A page of three squares: red at 0/0, green at 40/180, blue at 80/60."""


class Image:
    """The pixels of a PNG with eight bits per channel and no interlacing."""

    def __init__(self, data: bytes) -> None:
        assert data.startswith(b"\x89PNG\r\n\x1a\n")
        at, packed = 8, b""
        while at < len(data):
            length, kind = int.from_bytes(data[at : at + 4]), data[at + 4 : at + 8]
            chunk = data[at + 8 : at + 8 + length]
            at += 12 + length
            if kind == b"IHDR":
                self.width, self.height = (
                    int.from_bytes(chunk[each : each + 4]) for each in (0, 4)
                )
                self._channels = {2: 3, 6: 4}[chunk[9]]
                assert (chunk[8], chunk[12]) == (8, 0)
            packed += chunk if kind == b"IDAT" else b""
        self._rows = self._unfiltered(zlib.decompress(packed))

    def _unfiltered(self, data: bytes) -> list[bytearray]:
        """Return the rows with their filters undone (PNG, section 9.2)."""
        step, size = self._channels, self.width * self._channels
        rows: list[bytearray] = []
        for start in range(0, len(data), size + 1):
            kind, row = data[start], bytearray(data[start + 1 : start + 1 + size])
            above = rows[-1] if rows else bytearray(size)
            for at in range(size) if kind else ():
                left, up = (row[at - step] if at >= step else 0), above[at]
                corner = above[at - step] if at >= step else 0
                guess = (0, left, up, (left + up) // 2, _paeth(left, up, corner))[kind]
                row[at] = (row[at] + guess) & 0xFF
            rows.append(row)
        return rows

    def at(self, x: int, y: int) -> tuple[int, ...]:
        start = x * self._channels
        return tuple(self._rows[y][start : start + 3])


def _paeth(left: int, up: int, corner: int) -> int:
    guess = left + up - corner
    return min((left, up, corner), key=lambda each: abs(guess - each))


def is_colour(found: tuple[int, ...], colour: tuple[int, ...]) -> bool:
    """Return whether a pixel has a colour, within TOLERANCE."""
    return all(abs(a - b) <= TOLERANCE for a, b in zip(found, colour, strict=True))
