"""Sixty-four bits that stand for a text, the same in every process.

They tell lines, sessions and tickets apart where a million of them are kept; nobody's safety rests
on them. ``hashlib`` would do it as well and costs more to import than a whole refresh of the cache
takes. The checksum of a text read backwards is another linear function of it than the checksum read
forwards, so that together they tell texts apart as well as any 64 bits.
"""

from zlib import crc32


def fingerprint(text: bytes) -> int:
    """Stand for a text.

    Args:
        text: Any bytes.

    Returns:
        A whole number of 64 bits with sign, as SQLite keeps them.
    """
    return (crc32(text) - 0x80000000) << 32 | crc32(text[::-1])
