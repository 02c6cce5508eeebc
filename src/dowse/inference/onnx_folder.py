"""An ONNX model in a folder, as sentence-transformers and its exporters lay it out: what its files say of it.

Read are `tokenizer.json`, the graph, `config.json`, and where they are there `1_Pooling/config.json`,
`modules.json`, `sentence_bert_config.json`, `tokenizer_config.json` and `config_sentence_transformers.json`. Options
of the configuration overrule them. Nothing here loads a model; `onnx_runtime` does.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dowse.errors import ModelError
from dowse.inference.cache import Cache
from dowse.inference.prefixes import Prefixes, known_prefixes
from dowse.inference.specs import Spec
from dowse.records import record
from dowse.types import ModelIdentity

GRAPHS = (
    "model.onnx",
    "onnx/model.onnx",
    "model_quantized.onnx",
    "onnx/model_quantized.onnx",
    "onnx/model_int8.onnx",
)
"""Where a graph may be, the most exact first; the option `file` names another."""
SETTINGS = (
    "config.json",
    "1_Pooling/config.json",
    "sentence_bert_config.json",
    "tokenizer_config.json",
    "config_sentence_transformers.json",
)
MODULES = "modules.json"
WEIGHTS_BESIDE = ("_data", ".data")
"""What the names of files with a graph's weights add to the graph's own."""

_POOLINGS = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_lasttoken": "last",
    "pooling_mode_max_tokens": "max",
}
_MOST_TOKENS = 8_192
_USUAL_TOKENS = 512


@record
class OnnxFolder:
    """A model's files, and how it wants to be used."""

    name: str
    graph: Path
    tokenizer: Path
    pooling: str
    max_tokens: int
    prefixes: Prefixes
    dims: int | None
    """None where no file tells: then the graph must be loaded to know."""
    needs_pooled_output: bool
    """There is a layer behind the pooling, so only a graph that contains it will do."""

    def weights(self, cache: Cache) -> str:
        """A fingerprint of graph and tokenizer; each file is read once as long as it does not change."""
        beside = (self.graph.with_name(self.graph.name + ending) for ending in WEIGHTS_BESIDE)
        files = [self.graph, *filter(Path.is_file, beside), self.tokenizer]
        return hashlib.sha256("".join(sha256_of(path, cache) for path in files).encode()).hexdigest()[:12]

    def identity(self, cache: Cache, dims: int) -> ModelIdentity:
        """Which vectors this folder's model makes."""
        return ModelIdentity(
            name=self.name,
            weights=self.weights(cache),
            dims=dims,
            pooling=self.pooling,
            precision=self.graph.stem,
            max_tokens=self.max_tokens,
            query_prefix=self.prefixes.query,
            passage_prefix=self.prefixes.passage,
        )


def open_folder(folder: Path, spec: Spec, name: str = "") -> OnnxFolder:
    """Read what a folder says of its model; ModelError names what is missing."""
    if not folder.is_dir():
        raise ModelError(f"There is no folder {folder}.", hint=f"Correct the path in the configuration: {spec.text}")
    tokenizer = folder / "tokenizer.json"
    if not tokenizer.is_file():
        raise ModelError(
            f"The folder {folder} has no tokenizer.json.",
            hint="Save it with the model: AutoTokenizer.from_pretrained(NAME).save_pretrained(FOLDER)",
        )
    settings = {each: _read(folder / each) for each in SETTINGS}
    has_dense = "Dense" in json.dumps(_read(folder / MODULES, list))
    name = name or folder.name
    return OnnxFolder(
        name=name,
        graph=_graph(folder, spec),
        tokenizer=tokenizer,
        pooling=spec.option("pooling") or _pooling(settings["1_Pooling/config.json"]),
        max_tokens=spec.whole("tokens", _max_tokens(settings)),
        prefixes=_prefixes(settings["config_sentence_transformers.json"], spec, name),
        dims=spec.whole("dims", 0) or (None if has_dense else _dims(settings)),
        needs_pooled_output=has_dense,
    )


def sha256_of(path: Path, cache: Cache) -> str:
    """The digest of a file, remembered by its path, size and time."""
    try:
        stat = path.stat()
        key = f"sha256 {path.resolve()} {stat.st_size} {stat.st_mtime_ns}"
        known = cache.fact(key)
        if isinstance(known, str):
            return known
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ModelError(
            f"The model file {path} cannot be read: {error.strerror or error}.", hint="Make it readable."
        ) from error
    cache.remember(key, digest)
    return digest


def _graph(folder: Path, spec: Spec) -> Path:
    wanted = spec.option("file")
    for name in [wanted] if wanted else GRAPHS:
        path = folder / name
        if path.is_file():
            return path
    raise ModelError(
        f"The folder {folder} has no ONNX model: {wanted or ', '.join(GRAPHS)}.",
        hint="Export one with the optimum tool (optimum-cli export onnx --model NAME FOLDER), or name it: ;file=NAME",
    )


def _read(path: Path, kind: type = dict) -> Any:
    """A file of settings; one that is not there says nothing, one that is not JSON of this kind is an error."""
    try:
        found = json.loads(path.read_bytes())
        reason = f"it holds no {kind.__name__}" if not isinstance(found, kind) else ""
    except FileNotFoundError:
        return kind()
    except (OSError, ValueError) as error:
        reason = str(error)
    if reason:
        raise ModelError(f"The file {path} cannot be used: {reason}.", hint="Copy the model's folder anew.")
    return found


def _pooling(settings: Mapping[str, Any]) -> str:
    """As the folder says; the mean over all tokens where it says nothing, as most models are trained."""
    named = str(settings.get("pooling_mode", "")).removesuffix("token").rstrip("_")
    if named in _POOLINGS.values():
        return named
    return next((pooling for key, pooling in _POOLINGS.items() if settings.get(key) is True), "mean")


def _max_tokens(settings: Mapping[str, Mapping[str, Any]]) -> int:
    """The smallest of all limits that the folder tells; RoBERTa counts two positions that no token gets."""
    config = settings["config.json"]
    positions = config.get("max_position_embeddings")
    if isinstance(positions, int) and "roberta" in str(config.get("model_type", "")):
        positions -= 2
    told = [
        settings["sentence_bert_config.json"].get("max_seq_length"),
        settings["tokenizer_config.json"].get("model_max_length"),
        positions,
    ]
    usable = [int(limit) for limit in told if isinstance(limit, int | float) and 1 < limit < 1 << 20]
    return min([*usable, _MOST_TOKENS]) if usable else _USUAL_TOKENS


def _prefixes(settings: Mapping[str, Any], spec: Spec, name: str) -> Prefixes:
    """From the options, else from the folder's prompts, else from the model's family."""
    prompts = settings.get("prompts") or {}
    told = Prefixes(
        prompts.get("query") or "", prompts.get("passage") or prompts.get("document") or prompts.get("corpus") or ""
    )
    found = told if any(told) else known_prefixes(name)
    return Prefixes(spec.option("query", found.query), spec.option("passage", found.passage))


def _dims(settings: Mapping[str, Mapping[str, Any]]) -> int | None:
    told = (
        settings["1_Pooling/config.json"].get("word_embedding_dimension"),
        settings["config.json"].get("hidden_size"),
    )
    return next((dims for dims in told if isinstance(dims, int) and dims > 0), None)
