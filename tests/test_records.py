"""Records behave as frozen data classes do, whatever way they are made."""

import copy
import pickle
from dataclasses import FrozenInstanceError, asdict, dataclass, field, fields, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.records import record


@record
class Place:
    """As the program declares them."""

    path: str
    line: int = 1
    tags: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)
    seen: float = field(default=0.0, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Model:
    """The same, by the standard library."""

    path: str
    line: int = 1
    tags: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)
    seen: float = field(default=0.0, compare=False, repr=False)


@record
class Corner(Place):
    """A record may have another one's fields."""

    column: int = 0

    def __post_init__(self) -> None:
        """Check, as a data class would."""
        if self.column < 0:
            raise ValueError("no such column")


VALUES = st.fixed_dictionaries(
    {"path": st.text()},
    optional={
        "line": st.integers(),
        "tags": st.tuples(st.text()),
        "notes": st.lists(st.text()),
        "seen": st.floats(allow_nan=False),
    },
)


@given(VALUES, VALUES)
def test_a_record_says_and_equals_what_a_data_class_does(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert repr(Place(**one)).replace("Place", "Model") == repr(Model(**one))
    assert asdict(Place(**one)) == asdict(Model(**one))
    assert (Place(**one) == Place(**other)) == (Model(**one) == Model(**other))
    assert [each.name for each in fields(Place)] == [each.name for each in fields(Model)]
    assert asdict(replace(Place(**one), **other)) == asdict(replace(Model(**one), **other))


@given(VALUES)
def test_a_record_survives_being_copied_and_pickled(values: dict[str, Any]) -> None:
    made = Place(**values)
    for again in (copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made))):  # noqa: S301  # our own
        assert again == made
        assert again.seen == made.seen


def test_equal_records_hash_alike_and_differ_from_other_classes():
    one, other = Corner("a", 2, notes=()), Corner("a", 2, notes=(), seen=1.0)  # type: ignore[arg-type]
    assert hash(one) == hash(other)
    assert one == other
    assert one != Place("a", 2, notes=())  # type: ignore[arg-type]
    assert one != ("a", 2, (), ())
    with pytest.raises(TypeError, match="unhashable"):
        hash(Place("a"))


def test_nothing_of_a_record_can_be_changed():
    made = Place("a")
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'path'"):
        made.path = "b"  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'path'"):
        del made.path
    with pytest.raises(FrozenInstanceError):
        made.other = 1  # type: ignore[attr-defined]
    assert not hasattr(made, "__dict__")


def test_each_record_gets_defaults_of_its_own():
    one, other = Place("a"), Place("b")
    one.notes.append("mine")
    assert other.notes == []


def test_wrong_arguments_are_refused_with_the_name_of_the_class():
    with pytest.raises(TypeError, match=r"Place\.__init__\(\) missing 1 required positional argument: 'path'"):
        Place()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"Corner\.__init__\(\) got an unexpected keyword argument 'row'"):
        Corner("a", row=1)  # type: ignore[call-arg]


def test_a_record_checks_itself_when_it_is_made():
    assert Corner("a", column=3).column == 3
    with pytest.raises(ValueError, match="no such column"):
        Corner("a", column=-1)


def test_a_record_may_have_no_fields():
    @record
    class Nothing:
        """Just a kind."""

    assert Nothing() == Nothing()
    assert repr(Nothing()).endswith("Nothing()")


def test_a_record_can_be_taken_apart_by_its_fields():
    match Place("a", 2):
        case Place(path, line):
            assert (path, line) == ("a", 2)
