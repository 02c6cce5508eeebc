"""Which hosts may be fetched from: one spelling for each, and a line between the public network and the rest.

A URL that an agent was talked into must not reach what only this machine or its network can see. The line is
drawn on addresses, after resolution, never on names; and only what is known to be public counts as such.
"""

import re
import unicodedata
from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final
from urllib.parse import unquote

from dowse.errors import SourceError
from dowse.records import record

__all__ = ["AddressPolicy", "canonical_host", "is_literal", "is_public", "is_public_name"]

# Where clouds hand credentials to whoever asks from inside; one of them is a public address.
_METADATA: Final = frozenset(
    ip_address(each)
    for each in (
        *("169.254.169.254", "fd00:ec2::254", "fd20:ce::254", "100.100.100.200", "192.0.0.192", "168.63.129.16"),
        *("169.254.170.2", "169.254.170.23", "fd00:ec2::23", "169.254.0.23", "169.254.42.42", "fd00:42::42"),
    )
)
_GLOBAL_V6 = IPv6Network("2000::/3")
# NAT64 is how a network without IPv4 reaches public IPv4 servers; the address in the last 32 bits decides.
_NAT64 = IPv6Network("64:ff9b::/96")
# Never servers of the public web, though not every Python knows it: relays, tunnels (6to4 and Teredo hide an
# IPv4 address), benchmarks, documentation, identifiers that are no addresses.
_NOT_PUBLIC: Final = tuple(
    ip_network(each)
    for each in (
        *("0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.88.99.0/24", "198.18.0.0/15", "240.0.0.0/4"),
        *("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"),
    )
)
_PRIVATE_NAMES = re.compile(
    r"[^.]+|(?:.+\.)?(?:localhost|local|localdomain|internal|intranet|lan|home|corp|private|home\.arpa)"
)
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"0x[0-9a-f]*|[0-9]+")
_LONGEST_NAME = 253
_PARTS = 4
_BYTE = 256


@record
class AddressPolicy:
    """What may be connected to; by default only the public network."""

    allow_private: bool = False
    """Loopback, private and link-local addresses as well. Never multicast, nor a cloud's metadata service."""
    may_follow: Callable[[str], bool] = lambda _: True
    """Whether a redirect may be followed to this URL; where the first one leads is the asker's own choice."""

    def check(self, address: str, host: str, *, came_from_public: bool = False) -> None:
        """Refuse an address that this policy keeps out; `host` is for the message.

        A page on the public network may not lead into a private one, whatever is allowed: nobody chose that.

        Raises:
            SourceError: reason `refused_address`.
        """
        if is_public(address):
            return
        shown = host if host == address else f"{host} ({address})"
        plain = _unwrapped(address)
        if plain in _METADATA:
            raise _refused(f"{shown} is a metadata service, which gives out credentials.", "It is never fetched.")
        if plain.is_multicast or str(plain) == "255.255.255.255":
            raise _refused(f"{shown} is no address of a single computer.", "Name the server itself.")
        if came_from_public:
            raise _refused(
                f"A public page leads to {shown}, which is not on the public network.",
                "If that is meant, give this address itself.",
            )
        if not self.allow_private:
            raise _refused(
                f"{shown} is not on the public network.",
                "Private addresses must be allowed first: --allow-private-urls; or give the file itself.",
            )

    def check_name(self, host: str) -> None:
        """Refuse a name that only a private network knows, for where it cannot be resolved.

        Raises:
            SourceError: reason `refused_address`.
        """
        if not self.allow_private and not is_public_name(host):
            raise _refused(
                f"{host} is a name of a private network.",
                "Private addresses must be allowed first: --allow-private-urls",
            )


def _refused(message: str, hint: str) -> SourceError:
    return SourceError(message, reason="refused_address", hint=hint)


def is_public(address: str) -> bool:
    """Whether a numeric address belongs to a server of the public network; one hidden in another decides for it."""
    plain = _unwrapped(address)
    if plain in _METADATA or plain.is_multicast or not plain.is_global:
        return False
    if isinstance(plain, IPv6Address) and plain not in _GLOBAL_V6:
        return False
    return not any(plain in network for network in _NOT_PUBLIC if network.version == plain.version)


def is_public_name(host: str) -> bool:
    """Whether a name could be one of the public network: it has a dot, and no ending of private ones."""
    return is_literal(host) or not _PRIVATE_NAMES.fullmatch(host)


def is_literal(host: str) -> bool:
    """Whether a canonical host is an address rather than a name."""
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _unwrapped(address: str) -> IPv4Address | IPv6Address:
    """The address that packets end at: without zone, and without an IPv6 form around an IPv4 one."""
    found = ip_address(address.partition("%")[0])
    if isinstance(found, IPv6Address):
        if found.ipv4_mapped:
            return found.ipv4_mapped
        if found in _NAT64:
            return IPv4Address(int(found) & 0xFFFFFFFF)
    return found


def canonical_host(host: str) -> str:
    """The one spelling of a host: lower case, ASCII, and addresses as they are usually written.

    `2130706433`, `0177.1`, `0x7f000001` and full-width digits all are 127.0.0.1, as they are to browsers.
    An IPv6 address is given in brackets and returned without.

    Raises:
        ValueError: it is no host.
    """
    if host.startswith("[") and host.endswith("]"):
        inner = host[1:-1]
        if "%" in inner:
            raise ValueError("an address with a zone means nothing elsewhere")
        return IPv6Address(inner).compressed
    name = unicodedata.normalize("NFKC", unquote(host, errors="strict")).lower()
    name = unicodedata.normalize("NFC", name).replace("\u3002", ".").removesuffix(".")
    labels = [_ascii(label) for label in name.split(".")]
    if _NUMBER.fullmatch(labels[-1]):
        return str(_number_address(labels))
    if not all(_LABEL.fullmatch(label) for label in labels) or sum(map(len, labels), len(labels)) > _LONGEST_NAME:
        raise ValueError("it is no name of a host")
    return ".".join(labels)


def _ascii(label: str) -> str:
    return label if label.isascii() else "xn--" + label.encode("punycode").decode()


def _number_address(parts: list[str]) -> IPv4Address:
    """The address in the notation of old system calls: decimal, octal or hexadecimal, the last part filling up."""
    if len(parts) > _PARTS or not all(_NUMBER.fullmatch(part) for part in parts):
        raise ValueError("it is no address")
    *front, last = [_number(part) for part in parts]
    if any(number >= _BYTE for number in front) or last >= _BYTE ** (_PARTS - len(front)):
        raise ValueError("it is no address")
    value = last
    for place, number in enumerate(front):
        value += number << 8 * (_PARTS - 1 - place)
    return IPv4Address(value)


def _number(text: str) -> int:
    if text.startswith("0x"):
        return int(text[2:] or "0", 16)
    return int(text, 8 if text.startswith("0") else 10)
