"""The wheel is what users of pip, pipx and uvx get: it has what it needs, and runs where nothing else is."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import dowse

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = "Scripts" if os.name == "nt" else "bin"
NO_INDEX = (
    "dns error",
    "error sending request",
    "failed to fetch",
    "connection error",
    "from versions: none",
    "timed out",
)
"""What uv and pip say, in lower case, when they cannot reach a package index."""


def run(*command: object, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run a program; what it says is kept."""
    return subprocess.run(
        [str(word) for word in command], env=env, check=False, capture_output=True, text=True, encoding="utf-8"
    )


def build(folder: Path) -> Path:
    """The wheel of this checkout, built as `make dist` builds it."""
    done = run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = folder.glob("*.whl")
    return wheel


def uv() -> list[str]:
    """The command that runs uv, empty where there is none."""
    beside = shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv")
    return [beside] if beside else []


def install(wheel: Path, environment: Path) -> Path:
    """A clean environment with the wheel and the versions that the tests are known to pass with."""
    python = environment / SCRIPTS / "python"
    pinned = ["--constraint", str(ROOT / "constraints.txt"), str(wheel)]
    if uv():
        steps = [
            [*uv(), "venv", "--quiet", "--python", sys.executable, str(environment)],
            [*uv(), "pip", "install", "--quiet", "--python", str(python), *pinned],
        ]
    else:
        steps = [
            [sys.executable, "-m", "venv", str(environment)],
            [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *pinned],
        ]
    for step in steps:
        done = run(*step)
        if done.returncode and any(word in done.stderr.lower() for word in NO_INDEX):
            pytest.skip("the package index cannot be reached, so the wheel is not installed")
        assert done.returncode == 0, done.stdout + done.stderr
    return environment / SCRIPTS


def test_the_wheel_holds_the_package_with_its_data_and_nothing_else(tmp_path: Path) -> None:
    with zipfile.ZipFile(build(tmp_path)) as wheel:
        names = set(wheel.namelist())
        entry_points = wheel.read(f"dowse-{dowse.__version__}.dist-info/entry_points.txt").decode()
    assert {"dowse/py.typed", "dowse/inference/granite_scales.json", "dowse/__main__.py"} <= names
    page = ROOT / "src" / "dowse" / "interfaces" / "web" / "static"
    assert {f"dowse/{each.relative_to(ROOT / 'src' / 'dowse').as_posix()}" for each in page.rglob("*.*")} <= names
    assert {name.split("/")[0] for name in names} == {"dowse", f"dowse-{dowse.__version__}.dist-info"}
    assert not [name for name in names if "test" in name or name.endswith(".pyc")]
    assert any(name.endswith("licenses/LICENSE") for name in names)
    for program in ("dowse", "qmd"):
        assert f"{program} = dowse.__main__:main" in entry_points


@pytest.mark.timeout(600)  # on a first run every dependency is downloaded
def test_the_installed_program_indexes_a_folder_and_answers(tmp_path: Path) -> None:
    programs = install(build(tmp_path / "dist"), tmp_path / "environment")
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "tea.md").write_text("# Tea\n\nGreen tea wants water below eighty degrees.\n", encoding="utf-8")
    ours = ("DOWSE_", "PYTHON", "COV")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    environment |= {"DOWSE_DATA_DIR": str(tmp_path / "data"), "DOWSE_CONFIG": os.devnull}

    for program in ("dowse", "qmd"):
        version = run(programs / program, "--version", env=environment)
        assert version.stdout == f"{program} {dowse.__version__}\n", version.stderr
    added = run(programs / "dowse", "collection", "add", notes, "--no-embed", env=environment)
    assert added.returncode == 0, added.stderr
    assert "1 added" in added.stdout
    found = run(programs / "qmd", "search", "green tea", "--json", env=environment)
    assert found.returncode == 0, found.stderr
    assert [hit["file"] for hit in json.loads(found.stdout)] == ["notes/tea.md"]
    module = run(programs / "python", "-c", "import dowse; print(dowse.__file__)", env=environment)
    assert Path(module.stdout.strip()).is_relative_to(tmp_path / "environment")
