"""What a file's or folder's name says: hidden, somebody else's work, or secret.

Names alone decide, so that a secret is never opened. The lists are short on purpose: each entry is a
convention that hardly anyone uses for anything else. `target` or `build` are not in them, for they are
ordinary words; such folders are mostly ignored by Git, and known by the marks that tools leave in them.
"""

import unicodedata

__all__ = ["is_hidden", "is_secret", "is_vendored", "normal_name", "shown_name", "what_marks_say"]

_VENDORED = frozenset(
    {"__macosx", "__pycache__", "bower_components", "jspm_packages", "node_modules", "site-packages", "venv"}
    | {"$recycle.bin", "lost+found", "system volume information"}
)
"""Folders of dependencies and of the system."""

_MARKS = {
    "CACHEDIR.TAG": "vendored",
    "pyvenv.cfg": "vendored",
    "dowse.db": "vendored",
    ".gpg-id": "secret",
    "Login Data": "secret",
    "cookies.sqlite": "secret",
    "key4.db": "secret",
}
"""Files that tell what the folder around them is: a cache, a virtual environment, an index of ours, a password
store, a browser profile."""

_SECRET_KEYS = frozenset({"id_dsa", "id_ecdsa", "id_ecdsa_sk", "id_ed25519", "id_ed25519_sk", "id_rsa"})
_SECRET_NAMES = frozenset(
    {".git-credentials", ".htpasswd", ".netrc", ".npmrc", ".pgpass", ".pypirc", "_netrc", "htpasswd"}
    | {"credentials", "credentials.json", "key3.db", "key4.db", "login data", "logins.json"}
    | {"passwords.csv", "passwords.txt", "secring.gpg", "secrets.json", "secrets.yaml", "secrets.yml"}
)
_SECRET_SUFFIXES = frozenset(
    {".agilekeychain", ".env", ".gpg", ".jks", ".kdb", ".kdbx", ".key", ".keychain", ".keychain-db"}
    | {".keystore", ".opvault", ".ovpn", ".p12", ".pem", ".pfx", ".pgp", ".pkcs12", ".ppk"}
)


def is_hidden(name: str) -> bool:
    """Whether the system hides it by its name."""
    return name.startswith(".")


def is_vendored(name: str) -> bool:
    """Whether a folder of this name holds what its user did not write."""
    return name.lower() in _VENDORED


def is_secret(name: str) -> bool:
    """Whether the name says that this holds keys or passwords."""
    name = name.lower()
    stem, dot, suffix = name.rpartition(".")
    return (
        (dot + suffix) in _SECRET_SUFFIXES
        or name in _SECRET_NAMES
        or name.startswith(".env")
        or name in _SECRET_KEYS
        or (stem in _SECRET_KEYS and suffix != "pub")
    )


def what_marks_say(names: set[str]) -> str | None:
    """What the files in a folder say of it: `vendored`, `secret`, or nothing."""
    marks = {_MARKS[name] for name in _MARKS.keys() & names}
    return "secret" if "secret" in marks else next(iter(marks), None)


def normal_name(name: str) -> str | None:
    """The name as it is stored, in Unicode's composed form; None when it is not valid Unicode.

    macOS decomposes accents where Linux does not: without this, one folder has two sets of paths.
    """
    if name.isascii():
        return name
    try:
        name.encode()
    except UnicodeEncodeError:
        return None
    return unicodedata.normalize("NFC", name)


def shown_name(name: str) -> str:
    """A name that is not valid Unicode, made printable: what is wrong with it shows as an escape."""
    return name.encode("utf-8", "backslashreplace").decode()
