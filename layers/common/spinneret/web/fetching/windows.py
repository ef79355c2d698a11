"""Window sizes of streams, read from their first bytes: output that a decoder must keep."""

from typing import Final

BROTLI_HEAD_BYTES: Final = 1
ZSTD_HEAD_BYTES: Final = 18  # RFC 8878, section 3.1.1.1: magic number and the longest frame header

_ZSTD_MAGIC: Final = b"\x28\xb5\x2f\xfd"
_ZSTD_DICTIONARY_ID_BYTES: Final = (0, 1, 2, 4)  # by the flag: RFC 8878, section 3.1.1.1.1.6
_ZSTD_CONTENT_SIZE_BYTES: Final = (1, 2, 4, 8)  # of a single segment: section 3.1.1.1.1.1


def brotli_window(head: bytes) -> int:
    """Return the window in bytes (RFC 7932, section 9.1, WBITS).

    Code words below 17 bits aren't distinguished.
    """
    wide = head[0] & 1
    return 1 << (17 + (head[0] >> 1 & 7) if wide else 16)


def zstd_window(head: bytes) -> int:
    """Return the window in bytes (RFC 8878, sections 3.1.1.1.2 and, for one segment, 3.1.1.1.4).

    Return 0 if this is no frame, or too little of one.
    """
    if len(head) < 6 or not head.startswith(_ZSTD_MAGIC):
        return 0
    descriptor = head[4]
    if not descriptor & 0x20:
        exponent, mantissa = head[5] >> 3, head[5] & 7
        return (8 + mantissa) << (7 + exponent)
    start = 5 + _ZSTD_DICTIONARY_ID_BYTES[descriptor & 3]
    flag = descriptor >> 6
    field = head[start : start + _ZSTD_CONTENT_SIZE_BYTES[flag]]
    return int.from_bytes(field, "little") + (256 if flag == 1 else 0)
