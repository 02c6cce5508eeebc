"""The small parts: schemas in words, addresses, jobs, and the library's closed doors."""

import subprocess
import sys
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.errors import ModelError
from dowse.interfaces.mcp.dialect import BadArgumentsError, Reply, Tool
from dowse.interfaces.mcp.jobs import Jobs
from dowse.interfaces.mcp.schema import Checker, takes
from dowse.interfaces.mcp.uris import encoded_path, matcher
from dowse.types import EmbedReport, Event

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "pattern": "^[a-z]+$"},
        "count": {"type": "integer", "default": 5, "minimum": 1, "maximum": 50},
        "library": {"type": ["string", "null"], "default": None},
        "metadata": {"anyOf": [{"type": "object"}, {"type": "null"}], "default": None},
        "either": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "maxItems": 2}]},
    },
    "required": ["name"],
    "additionalProperties": False,
}
CHECKER = Checker(Tool("make", "Make", "", SCHEMA, lambda *_: Reply.text(""), longest_text=100))


def complaint(**arguments):
    with pytest.raises(BadArgumentsError) as refusal:
        CHECKER.check(arguments)
    return refusal.value


def test_arguments_come_with_the_defaults_of_their_schema():
    assert CHECKER.check({"name": "a"}) == {"name": "a", "count": 5}
    assert CHECKER.check({"name": "a", "library": None, "count": 2}) == {"name": "a", "library": None, "count": 2}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "Missing argument 'name': a text that matches ^[a-z]+$ is required."),
        ({"name": "A B"}, "Argument 'name' must be a text that matches ^[a-z]+$, not 'A B'."),
        ({"name": "a", "count": 51}, "Argument 'count' must be a whole number from 1 to 50, not 51."),
        ({"name": "a", "count": "5"}, "Argument 'count' must be a whole number from 1 to 50, not '5'."),
        ({"name": "a", "library": 5}, "Argument 'library' must be a text or null, not 5."),
        ({"name": "a", "metadata": []}, "Argument 'metadata' must be an object or null, not a list."),
        (
            {"name": "a", "either": {}},
            "Argument 'either' must be a text or a list of at most 2 entries, not an object.",
        ),
        (
            {"name": "a", "x" * 90: 1},
            f"Unknown argument '{'x' * 60}': make takes name, count, library, metadata, either.",
        ),
        ({"name": "a" * 101}, "Argument 'name' is too long: at most 100 characters."),
        ({"name": "a", "metadata": {"a": ["x" * 101]}}, "Argument 'metadata' is too long: at most 100 characters."),
        ({"name": "a", "metadata": {"a": [0] * 101}}, "Argument 'metadata' is too long: at most 100 characters."),
    ],
)
def test_what_is_wrong_is_said_in_words(arguments, message):
    error = complaint(**arguments)
    assert error.message == message
    assert error.details["argument"] == next(iter(arguments.keys() - {"name"}), "name")[:60]


def test_a_value_nested_beyond_reason_is_refused():
    deep: object = "x"
    for _ in range(40):
        deep = [deep]
    assert complaint(name="a", metadata={"deep": deep}).message == "Argument 'metadata' is nested too deeply."


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "number", "minimum": 0}, "a number of at least 0"),
        ({"type": "string", "maxLength": 5}, "a text of at most 5 characters"),
        ({"enum": ["a", 1]}, "one of a, 1"),
        ({"type": "boolean"}, "true or false"),
    ],
)
def test_schemas_can_be_said_in_words(schema, words):
    assert takes(schema) == words


@pytest.mark.parametrize(
    ("template", "uri", "variables"),
    [
        ("qmd://{+path}", "qmd://a/b%20c.md", {"path": "a/b%20c.md"}),
        ("qmd://{+path}", "qmd://", None),
        ("rag://collections", "rag://collections", {}),
        ("rag://collections", "rag://collectionsx", None),
        ("rag://collections/{name}", "rag://collections/code", {"name": "code"}),
        ("rag://collections/{name}", "rag://collections/code/x", None),
        ("rag://collections/{name}", "xrag://collections/code", None),
    ],
)
def test_templates_tell_which_addresses_fit(template, uri, variables):
    assert matcher(template)(uri) == variables


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_paths_in_addresses_keep_their_slashes_and_come_back(path):
    from urllib.parse import unquote

    encoded = encoded_path(path)
    assert unquote(encoded) == path
    assert encoded.count("/") == path.count("/")
    assert encoded.isascii()


def test_a_job_tells_how_it_goes_and_how_it_ended():
    jobs, go_on = Jobs(), threading.Event()

    def work(tell):
        tell(Event("read", 1, 2))
        assert go_on.wait(60)
        return "made"

    job = jobs.start("Making", work)
    assert not job.wait(0)
    assert jobs.all()[job.id].state == "running"
    go_on.set()
    assert job.wait(60)
    assert (job.state, job.result, job.event.done) == ("done", "made", 1)


def test_a_job_that_fails_says_why():
    def expected(_):
        raise ModelError("No model.", hint="Get one.")

    def unexpected(_):
        raise ZeroDivisionError("by zero")

    jobs = Jobs()
    messages = []
    for work in (expected, unexpected):
        job = jobs.start("Failing", work)
        assert job.wait(60)
        assert job.state == "failed"
        messages.append(job.error.message)
    assert messages == ["No model.", "ZeroDivisionError: by zero"]


def test_closing_ends_what_runs_at_its_next_step():
    jobs, started = Jobs(), threading.Event()

    def work(tell):
        while True:
            tell(Event("read"))
            started.set()

    job = jobs.start("Going on", work)
    assert started.wait(60)
    jobs.close()
    assert job.state == "cancelled"


def test_finished_jobs_are_forgotten_in_the_end():
    jobs = Jobs()
    for _ in range(150):
        jobs.start("Nothing", lambda _: None).wait(60)
    assert len(jobs.all()) <= 102


class Embedding:
    """An engine that can only embed, and says how often it did."""

    def __init__(self) -> None:
        self.runs = 0
        self.go_on = threading.Event()
        self.failing = False

    def embed(self, on_event):
        self.runs += 1
        on_event(Event("embed"))
        if self.failing:
            raise ModelError("No model.", hint="Get one.")
        assert self.go_on.wait(60)
        return EmbedReport()


def test_embedding_goes_on_in_the_background_and_takes_what_comes_meanwhile():
    jobs, engine = Jobs(), Embedding()
    assert jobs.embed(engine, seconds=0) == ()
    (job,) = jobs.all().values()
    assert jobs.embed(engine, seconds=0) == ()
    assert list(jobs.all().values()) == [job]
    engine.go_on.set()
    assert job.wait(60)
    assert engine.runs == 2
    assert jobs.embed(engine, seconds=60) == ()
    assert engine.runs == 3


def test_embedding_that_fails_is_a_warning_each_time():
    jobs, engine = Jobs(), Embedding()
    engine.failing = True
    for _ in range(2):
        assert jobs.embed(engine, seconds=60) == ("No model. Get one.",)
    assert engine.runs == 2


@pytest.mark.parametrize(
    ("statement", "is_closed"),
    [
        ("pass", True),
        ("from mcp import Client", False),
        ("import mcp.client", False),
        ("import mcp; mcp.Client", False),
    ],
)
def test_the_library_is_entered_without_opening_its_doors_until_somebody_knocks(statement, is_closed):
    script = (
        "from dowse.interfaces.mcp import server\n"
        f"{statement}\n"
        "import sys; print('mcp.server.mcpserver' in sys.modules, 'mcp.client.client' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert done.stdout.split() == (["False", "False"] if is_closed else ["True", "True"])
