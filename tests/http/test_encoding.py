"""The API's JSON says what Python's own encoder would."""

import json

from hypothesis import example, given
from hypothesis import strategies as st

from dowse.interfaces import wire
from dowse.interfaces.http.encoding import compact

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inside: st.lists(inside, max_size=5) | st.dictionaries(st.text(), inside, max_size=5),
    max_leaves=20,
)


@given(VALUES)
@example("\ud800")
@example({"half \udfff": ["\x7f\x80\u2028", 1e300, -0.0, 10**30]})
@example([float("inf"), -float("inf")])
def test_whatever_is_encoded_can_be_sent_and_read_back(value: object) -> None:
    text = compact(value)
    assert json.loads(text) == json.loads(wire.compact(value)) == value
    assert json.loads(text.encode()) == value
    assert not {": ", ", "} & set(text.split('"')[::2])
