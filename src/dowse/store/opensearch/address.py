"""Where a cluster is and how it is spoken to, read from one URL and the environment.

    opensearch://host1:9200,host2:9200/prefix?shards=3&replicas=1

`opensearchs://`, or `?tls=1`, speaks TLS. Credentials never stand in the URL, which ends up in listings and logs:
DOWSE_OPENSEARCH_USER and DOWSE_OPENSEARCH_PASSWORD, or DOWSE_OPENSEARCH_TOKEN.
"""

import os
import re
from collections.abc import Mapping
from urllib.parse import parse_qsl, urlsplit

from dowse.errors import ConfigError
from dowse.records import record

__all__ = ["SCHEMES", "Address"]

SCHEMES = ("opensearch", "opensearchs")
_PORT = 9200
_PREFIX = re.compile(r"[a-z0-9][a-z0-9_.-]{0,99}")
_EXAMPLE = "opensearch://host1:9200,host2:9200/prefix?shards=3&replicas=1"
_LIMITS = {"shards": (1, 1024), "replicas": (0, 16), "timeout": (1, 600), "tls": (0, 1), "verify": (0, 1)}
"""What may follow the question mark, and in which range."""


@record
class Address:
    """One cluster, and the prefix of the indexes there that are ours."""

    hosts: tuple[tuple[str, int], ...]
    prefix: str
    shards: int = 3
    replicas: int = 1
    tls: bool = False
    verify: bool = True
    """Whether the certificates of the nodes are checked."""
    timeout: float = 10.0
    """Seconds that a node has to answer before the next one is asked; bulk writes get some more."""
    user: str = ""
    password: str = ""
    token: str = ""

    @classmethod
    def parse(cls, url: str, env: Mapping[str, str] | None = None) -> "Address":
        """Read a URL; credentials come from the environment.

        Raises:
            ConfigError: it is not such a URL.
        """
        env = os.environ if env is None else env
        parts = urlsplit(url)
        prefix = parts.path.strip("/") or "dowse"
        if parts.scheme not in SCHEMES or parts.fragment or not _PREFIX.fullmatch(prefix):
            raise _refused("it does not read as one; the prefix takes small letters, digits and `_.-`")
        if "@" in parts.netloc:
            raise _refused("it holds credentials; put them into DOWSE_OPENSEARCH_USER and DOWSE_OPENSEARCH_PASSWORD")
        options = _options(parts.query)
        return cls(
            hosts=tuple(_host(each) for each in parts.netloc.split(",")),
            prefix=prefix,
            shards=options.get("shards", 3),
            replicas=options.get("replicas", 1),
            tls=parts.scheme.endswith("s") or options.get("tls", 0) == 1,
            verify=options.get("verify", 1) == 1,
            timeout=float(options.get("timeout", 10)),
            user=env.get("DOWSE_OPENSEARCH_USER", ""),
            password=env.get("DOWSE_OPENSEARCH_PASSWORD", ""),
            token=env.get("DOWSE_OPENSEARCH_TOKEN", ""),
        )

    @property
    def copies(self) -> int:
        """How many copies a write must reach before it is acknowledged."""
        return min(2, 1 + self.replicas)

    def __str__(self) -> str:
        return ", ".join(f"{host}:{port}" for host, port in self.hosts)


def _host(text: str) -> tuple[str, int]:
    found = re.fullmatch(r"(\[[0-9a-fA-F:.]+\]|[\w.-]+)(?::(\d{1,5}))?", text)
    if not found or not 0 < int(found[2] or _PORT) < 1 << 16:
        raise _refused(f"{text!r} is not a host with its port")
    return found[1].strip("[]"), int(found[2] or _PORT)


def _options(query: str) -> dict[str, int]:
    options: dict[str, int] = {}
    for name, text in parse_qsl(query, keep_blank_values=True):
        low, high = _LIMITS.get(name, (1, 0))
        if not text.isdecimal() or not low <= int(text) <= high:
            known = ", ".join(f"{each} ({first} to {last})" for each, (first, last) in _LIMITS.items())
            raise _refused(f"it takes {known}, not {name}={text}")
        options[name] = int(text)
    return options


def _refused(why: str) -> ConfigError:
    return ConfigError(f"The address of the cluster is refused: {why}.", hint=f"For example: {_EXAMPLE}")
