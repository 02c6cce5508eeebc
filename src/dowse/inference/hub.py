"""A model by its name at the hub, fetched by the hub's own client, which is an extra: `dowse[hub]`.

Once the files are in the client's cache (HF_HOME says where), nothing is asked again. HF_ENDPOINT,
HF_HUB_OFFLINE and HF_TOKEN work as for every program that uses this client.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dowse.errors import ModelError
from dowse.inference.onnx_folder import GRAPHS, MODULES, SETTINGS, WEIGHTS_BESIDE
from dowse.inference.specs import Spec

_INSTALL = 'Install it: pip install "dowse[hub]"'


def local_folder(spec: Spec) -> Path | None:
    """Where the client keeps this model; None when it was not fetched yet. Asks nobody."""
    client = _client()
    try:
        folder = Path(client.snapshot_download(spec.place, revision=spec.name or None, local_files_only=True))
    except (client.errors.LocalEntryNotFoundError, FileNotFoundError):
        return None
    except (client.errors.HFValidationError, OSError) as error:
        raise _failed(spec, error) from error
    is_complete = (folder / "tokenizer.json").is_file() and any((folder / name).is_file() for name in _wanted(spec))
    return folder if is_complete else None


def fetch(spec: Spec, say: Callable[[str], None] | None) -> Path:
    """The model's folder, downloaded if need be: its settings, its tokenizer and one graph."""
    found = local_folder(spec)
    if found is not None:
        return found
    client = _client()
    if say is not None:
        say(f"fetching the model {spec.place} from the hub (once)")
    revision = spec.name or None
    try:
        there = set(client.HfApi().list_repo_files(spec.place, revision=revision))
        graph = next((name for name in _wanted(spec) if name in there), None)
        if graph is None or "tokenizer.json" not in there:
            what = "tokenizer.json" if graph else f"ONNX file ({', '.join(_wanted(spec))})"
            raise ModelError(
                f"The model {spec.place} at the hub has no {what}.",
                hint="Choose one that has, name its file with ;file=NAME, or export it to a folder: onnx:FOLDER",
            )
        parts = [graph, *(graph + ending for ending in WEIGHTS_BESIDE), "tokenizer.json", MODULES, *SETTINGS]
        return Path(client.snapshot_download(spec.place, revision=revision, allow_patterns=parts))
    except ModelError:
        raise
    except Exception as error:  # the client, its transport and the disk each have their own trees of errors
        raise _failed(spec, error) from error


def _wanted(spec: Spec) -> tuple[str, ...]:
    return (spec.option("file"),) if spec.option("file") else GRAPHS


def _client() -> Any:
    # Read by the client when it is imported. stdout and stderr are ours, and nothing reports on us.
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    try:
        import huggingface_hub
        import huggingface_hub.errors
    except ImportError as error:
        raise ModelError(f"The hub's client cannot be imported: {error}", hint=_INSTALL) from error
    return huggingface_hub


def _failed(spec: Spec, error: Exception) -> ModelError:
    reason = str(error).strip().splitlines()
    return ModelError(
        f"The model {spec.place} could not be fetched from the hub: {reason[0] if reason else type(error).__name__}",
        hint="Check its name and the connection (HF_HUB_OFFLINE, HF_TOKEN), or copy it to a folder: onnx:FOLDER",
    )
