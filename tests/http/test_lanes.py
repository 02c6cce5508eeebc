"""The threads behind requests: look-ups one after the other, nothing stuck behind what takes long."""

import asyncio
import threading
from collections.abc import Iterator

import pytest

from dowse.interfaces.http.errors import RequestTimeoutError
from dowse.interfaces.http.lanes import Lanes

PATIENT = 30.0


@pytest.fixture
def lanes() -> Iterator[Lanes]:
    made = Lanes()
    yield made
    asyncio.run(made.close())


def test_short_look_ups_go_one_after_the_other_in_one_thread(lanes: Lanes) -> None:
    async def ask() -> list[str]:
        calls = (lanes.run("quick", PATIENT, lambda: threading.current_thread().name) for _ in range(20))
        return await asyncio.gather(*calls)

    assert len(set(asyncio.run(ask()))) == 1


def test_what_stands_behind_a_long_look_up_goes_on_beside_it(lanes: Lanes) -> None:
    over = threading.Event()

    async def ask() -> list[int]:
        held_up = asyncio.create_task(lanes.run("quick", PATIENT, over.wait, PATIENT))
        behind = await asyncio.gather(*(lanes.run("quick", PATIENT, int, str(number)) for number in range(8)))
        later = await lanes.run("quick", PATIENT, int, "8")
        assert not held_up.done()
        over.set()
        await held_up
        return [*behind, later]

    assert asyncio.run(ask()) == list(range(9))


def test_a_look_up_never_waits_for_a_model(lanes: Lanes) -> None:
    over = threading.Event()

    async def ask() -> int:
        asked = [asyncio.create_task(lanes.run("model", PATIENT, over.wait, PATIENT)) for _ in range(4)]
        found: int = await lanes.run("quick", PATIENT, int, "1")
        over.set()
        await asyncio.gather(*asked)
        return found

    assert asyncio.run(ask()) == 1


def test_what_a_call_raises_reaches_whoever_asked(lanes: Lanes) -> None:
    with pytest.raises(ValueError, match="nonsense"):
        asyncio.run(lanes.run("quick", PATIENT, int, "nonsense"))


def test_a_call_that_takes_too_long_is_given_up_and_its_lane_goes_on(lanes: Lanes) -> None:
    over = threading.Event()

    async def ask() -> int:
        with pytest.raises(RequestTimeoutError, match="longer than"):
            await lanes.run("quick", 0.01, over.wait, PATIENT)
        found: int = await lanes.run("quick", PATIENT, int, "2")
        over.set()
        return found

    assert asyncio.run(ask()) == 2


def test_a_call_that_outlives_the_server_ends_without_a_word(lanes: Lanes, caplog: pytest.LogCaptureFixture) -> None:
    over = threading.Event()
    with pytest.raises(RequestTimeoutError):
        asyncio.run(lanes.run("quick", 0.01, over.wait, PATIENT))
    over.set()
    asyncio.run(lanes.close())
    for thread in threading.enumerate():
        if thread.name.startswith("dowse-quick"):
            thread.join(PATIENT)
    assert caplog.records == []
