"""Only what is surely public counts as such, however it is spelled or wrapped."""

from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.errors import SourceError
from dowse.ingest.sources.addresses import AddressPolicy, canonical_host, is_public, is_public_name

PUBLIC = ["8.8.8.8", "93.184.216.34", "1.1.1.1", "172.32.0.1", "2606:4700::1111", "2a00:1450:4001::8a"]
WRAPPED_PUBLIC = ["::ffff:8.8.8.8", "64:ff9b::8.8.8.8"]
PRIVATE = [
    *("127.0.0.1", "127.8.9.10", "0.0.0.0", "0.1.2.3", "10.0.0.1"),  # noqa: S104 - addresses to recognise
    *("172.16.0.1", "172.31.255.255", "192.168.1.1"),
    *("169.254.1.1", "100.64.0.1", "192.0.0.1", "192.0.2.1", "192.88.99.1", "198.18.0.1", "198.51.100.1"),
    *("203.0.113.7", "240.0.0.1", "::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "fd12:3456::1", "fec0::1"),
    *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:a9fe:101", "64:ff9b::7f00:1", "64:ff9b:1::8.8.8.8"),
    *("2002:7f00:1::", "2002:808:808::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "::127.0.0.1", "::8.8.8.8"),
    *("2001:db8::1", "3fff::1", "100::1", "5f00::1", "::ffff:0:127.0.0.1"),
]
METADATA = ["169.254.169.254", "fd00:ec2::254", "100.100.100.200", "168.63.129.16", "169.254.170.2", "192.0.0.192"]
WRAPPED_METADATA = ["::ffff:169.254.169.254", "64:ff9b::169.254.169.254"]
MANY = ["224.0.0.1", "239.255.255.250", "ff02::1", "255.255.255.255"]


def reason_of(address: str, *, allow_private: bool = False, came_from_public: bool = False) -> str:
    with pytest.raises(SourceError) as caught:
        AddressPolicy(allow_private).check(address, "host.example", came_from_public=came_from_public)
    assert caught.value.hint
    assert address in caught.value.message
    return caught.value.reason


@pytest.mark.parametrize("address", PUBLIC + WRAPPED_PUBLIC)
def test_servers_of_the_public_network_may_be_reached(address):
    assert is_public(address)
    AddressPolicy().check(address, "host.example")
    AddressPolicy().check(address, "host.example", came_from_public=True)


@pytest.mark.parametrize("address", PRIVATE + METADATA + WRAPPED_METADATA + MANY)
def test_everything_else_is_refused(address):
    assert not is_public(address)
    assert reason_of(address) == "refused_address"


@pytest.mark.parametrize("address", PRIVATE)
def test_private_addresses_can_be_allowed(address):
    AddressPolicy(allow_private=True).check(address, "host.example")


@pytest.mark.parametrize("address", METADATA + WRAPPED_METADATA + MANY)
def test_metadata_services_and_multicast_never_are(address):
    assert reason_of(address, allow_private=True) == "refused_address"


@pytest.mark.parametrize("address", PRIVATE)
def test_a_public_page_may_not_lead_to_a_private_address_even_if_these_are_allowed(address):
    assert reason_of(address, allow_private=True, came_from_public=True) == "refused_address"


@given(st.integers(0, 2**32 - 1))
def test_an_address_and_its_ipv6_forms_are_judged_alike(value):
    plain = str(IPv4Address(value))
    assert is_public(f"::ffff:{plain}") == is_public(plain)
    assert is_public(str(IPv6Address((0x64FF9B << 96) + value))) == is_public(plain)
    assert not is_public(str(IPv6Address((0x2002 << 112) + (value << 80))))


@pytest.mark.parametrize(
    ("given_host", "host"),
    [
        *[(each, "127.0.0.1") for each in ("2130706433", "0x7f000001", "0X7F.1", "0177.0.0.1", "017700000001")],
        *[
            (each, "127.0.0.1")
            for each in ("127.1", "127.0.1", "127.0.0.1.", "１２７.0.0.1", "127。0。0。1", "%31%32%37.1")
        ],
        ("0", "0.0.0.0"),  # noqa: S104 - an address to recognise
        ("0xa9fea9fe", "169.254.169.254"),
        ("[::1]", "::1"),
        ("[0:0:0:0:0:FFFF:7F00:1]", "::ffff:7f00:1"),
        ("Example.ORG", "example.org"),
        ("example.org.", "example.org"),
        ("exa%6Dple.org", "example.org"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("BÜCHER.example", "xn--bcher-kva.example"),
        ("straße.example", "xn--strae-oqa.example"),
        ("ｅｘａｍｐｌｅ．ｏｒｇ", "example.org"),
        ("my_host-1.example", "my_host-1.example"),
        ("1.2.3.4.example", "1.2.3.4.example"),
    ],
)
def test_a_host_has_one_spelling(given_host, host):
    assert canonical_host(given_host) == host


@pytest.mark.parametrize(
    "host",
    [
        *("", ".", "a..b", "a b", "a/b", "a%00b", "a%2fb", "a\\b", "a@b", "a%40b", "a:b", "-a.example", "a^b"),
        *("[::1", "[::1%25eth0]", "[::1%eth0]", "[127.0.0.1]", "[v1.x]", "256.0.0.1", "1.2.3.4.5", "0x100000000"),
        *("09.1", "127.0.0.300", "a.1", "x" * 64 + ".example", "x." * 150 + "example", "%ff.example"),
    ],
)
def test_what_is_no_host_is_refused(host):
    with pytest.raises(ValueError):
        canonical_host(host)


@given(st.text(max_size=30))
def test_a_canonical_host_is_its_own_spelling(text):
    try:
        host = canonical_host(text)
    except ValueError:
        return
    assert host.isascii()
    assert canonical_host(f"[{host}]" if ":" in host else host) == host


@pytest.mark.parametrize(
    ("host", "is_it"),
    [
        ("example.org", True),
        ("8.8.8.8", True),
        ("localhost", False),
        ("a.localhost", False),
        ("intranet", False),
        ("metadata.google.internal", False),
        ("printer.local", False),
        ("router.home.arpa", False),
        ("local.example.org", True),
    ],
)
def test_a_name_of_a_private_network_is_known_by_its_end(host, is_it):
    assert is_public_name(host) is is_it
    if not is_it:
        with pytest.raises(SourceError, match="private network"):
            AddressPolicy().check_name(host)
        AddressPolicy(allow_private=True).check_name(host)
