"""What a file's or folder's name says: hidden, somebody else's work, a tool's, or secret.

Names alone decide, so that a secret is never opened. The lists are short on purpose: each entry is a
convention that hardly anyone uses for anything else. `target` or `build` are not in them, for they are
ordinary words; such folders are mostly ignored by Git, and known by the marks that tools leave in them.
"""

import unicodedata

__all__ = [
    "has_no_text",
    "is_generated",
    "is_hidden",
    "is_secret",
    "is_vendored",
    "normal_name",
    "shown_name",
    "what_marks_say",
]

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

_GENERATED = frozenset(
    {"bun.lock", "bun.lockb", "cargo.lock", "composer.lock", "deno.lock", "flake.lock", "gemfile.lock", "go.sum"}
    | {"gradle.lockfile", "mix.lock", "npm-shrinkwrap.json", "package-lock.json", "package.resolved", "pdm.lock"}
    | {"pipfile.lock", "pnpm-lock.yaml", "podfile.lock", "poetry.lock", "pubspec.lock", "uv.lock", "yarn.lock"}
)
_GENERATED_ENDS = (".min.js", ".min.mjs", ".min.css", ".js.map", ".css.map", ".mjs.map")
"""Lists of versions, and code that was squeezed: long, full of words, and nobody's answer."""

_WITHOUT_TEXT = frozenset(
    {".ai", ".avif", ".bmp", ".eps", ".fig", ".gif", ".heic", ".ico", ".jpeg", ".jpg", ".png", ".psd", ".raw"}
    | {".sketch", ".tif", ".tiff", ".webp", ".xcf"}
    | {".aac", ".aiff", ".avi", ".flac", ".m4a", ".m4v", ".mid", ".mkv", ".mov", ".mp3", ".mp4", ".mpeg", ".mpg"}
    | {".ogg", ".opus", ".wav", ".webm", ".wma", ".wmv"}
    | {".7z", ".bz2", ".deb", ".dmg", ".gz", ".iso", ".jar", ".rar", ".rpm", ".tar", ".tgz", ".war", ".whl", ".xz"}
    | {".zip", ".zst"}
    | {".a", ".class", ".dll", ".dylib", ".exe", ".ko", ".lib", ".o", ".obj", ".pdb", ".pyc", ".pyd", ".so", ".wasm"}
    | {".db", ".eot", ".npy", ".npz", ".onnx", ".otf", ".parquet", ".pkl", ".pt", ".pth", ".safetensors", ".sqlite"}
    | {".sqlite3", ".ttf", ".woff", ".woff2"}
)
"""Pictures, sound, film, archives, programs, fonts: the rest of what no reader of ours can read is opened to see."""

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


def has_no_text(name: str) -> bool:
    """Whether the name says that there is nothing to read."""
    stem, dot, suffix = name.lower().rpartition(".")
    return bool(stem) and dot + suffix in _WITHOUT_TEXT


def is_generated(name: str) -> bool:
    """Whether a tool wrote this for tools."""
    name = name.lower()
    return name in _GENERATED or name.endswith(_GENERATED_ENDS)


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
