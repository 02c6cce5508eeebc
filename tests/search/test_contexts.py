"""Which descriptions apply to a document."""

import pytest

from contract.builders import make_draft, put_texts
from dowse.ports import Store
from dowse.search.contexts import contexts_of
from dowse.search.lookup import get, get_many
from dowse.types import Context


def applying(path: str, *contexts: Context, collection: str = "notes") -> tuple[str, ...]:
    return contexts_of(make_draft(path, "text", collection=collection).info, contexts)


@pytest.mark.parametrize(
    ("prefix", "path", "applies"),
    [
        ("", "a.md", True),
        ("work", "work/a.md", True),
        ("work", "work/deep/a.md", True),
        ("work", "workshop/a.md", False),
        ("work", "workshop.md", False),
        ("work", "my/work/a.md", False),
        ("work", "Work/a.md", False),
        ("work/deep", "work/deep/a.md", True),
        ("work/deep", "work/deeper/a.md", False),
        ("work/a.md", "work/a.md", True),
        ("work/a.md", "work/a.md.bak", False),
        ("é/ü", "é/ü/a.md", True),
        ("50%_*", "50%_*/a.md", True),
        ("50%_*", "50xyz/a.md", False),
    ],
)
def test_a_prefix_is_made_of_whole_path_segments(prefix: str, path: str, applies: bool) -> None:
    assert applying(path, Context("notes", prefix, "yes")) == (("yes",) if applies else ())


def test_a_context_belongs_to_its_collection_and_a_general_one_to_all() -> None:
    contexts = (Context(None, "", "all"), Context("notes", "", "notes"), Context("work", "", "work"))
    assert applying("a.md", *contexts) == ("all", "notes")
    assert applying("a.md", *contexts, collection="work") == ("all", "work")
    assert applying("a.md", *contexts, collection="workshop") == ("all",)


def test_without_contexts_there_are_none() -> None:
    assert applying("a.md") == ()


def test_all_that_apply_come_from_the_general_to_the_near(store: Store) -> None:
    put_texts(store, {"a/b/c.md": "text", "a-b/c.md": "other"})
    for prefix in ("a/b/c.md", "a/b", "a", "a-b", ""):
        store.put_context(Context("notes", prefix, prefix or "notes"))
    store.put_context(Context(None, "", "all"))
    with store.snapshot() as view:
        assert get(view, "a/b/c.md").contexts == ("all", "notes", "a", "a/b", "a/b/c.md")
        assert get(view, "a-b/c.md").contexts == ("all", "notes", "a-b")
        many = get_many(view, "notes/**").documents
    assert [each.contexts for each in many] == [("all", "notes", "a-b"), ("all", "notes", "a", "a/b", "a/b/c.md")]
