"""The process that reads files comes when it is needed, serves one file after the other, and leaves nothing behind."""

import os
import select
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from dowse.ingest.extract.limits import Limits, helper
from dowse.ingest.extract.limits.helper import Helper
from dowse.ingest.extract.limits.terms import LostError

LIMITS = Limits(seconds=60)
WATCH = "dowse extraction watch"
tells_of_processes = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="only Linux tells when a process ends")


@pytest.fixture
def helping():
    made = []

    def make(function, **options):
        made.append(Helper(f"ingest.extract.misbehaving:{function}", **options))
        return made[-1]

    yield make
    for each in made:
        each.close()


def ask(helper, text="", name="name"):
    return helper.ask("text/html", name, text.encode(), LIMITS)[2].decode()


def ends(pid_or_descriptor: int) -> bool:
    """Whether a process ends by itself within a minute; its limits would end it after two."""
    return bool(select.select([pid_or_descriptor], [], [], 60)[0])


def is_there(pid: int) -> bool:
    """Whether there is such a process, be it a zombie."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def script(lines: str, *arguments: object, **options: object) -> subprocess.Popen[bytes]:
    """A process of its own that has a helper by that name."""
    start = (
        "import os, sys; sys.path[:0] = sys.argv[1].split(os.pathsep)\n"
        "from dowse.ingest.extract.limits import Limits\n"
        "from dowse.ingest.extract.limits.helper import Helper\n"
        "helping = lambda name: Helper(f'ingest.extract.misbehaving:{name}')\n"
        "ask = lambda helper, name='': helper.ask('text/html', name, b'', Limits(seconds=120))[2].decode()\n"
    )
    folder = str(Path(__file__).parents[2])
    return subprocess.Popen([sys.executable, "-c", start + lines, folder, *map(str, arguments)], **options)


def test_nothing_is_started_before_something_is_asked(helping):
    assert helping("echo")._process is None


def test_texts_come_back_as_they_are(helping):
    echo = helping("echo")
    for text in ("", "text \u2028 \U0001f600", "x" * 3_000_000):
        assert ask(echo, text) == text


def test_one_process_serves_many_files(helping):
    process = helping("process")
    assert len({ask(process) for _ in range(5)}) == 1


def test_threads_take_turns(helping):
    echo = helping("echo")
    answers: dict[str, str] = {}
    threads = [
        threading.Thread(target=lambda text=str(number): answers.update({text: ask(echo, text)})) for number in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {str(number): str(number) for number in range(8)}


def test_a_process_that_was_killed_between_two_files_is_replaced(helping):
    process = helping("process")
    first = ask(process)
    process._process._popen.kill()
    process._process._popen.wait()
    assert ask(process) != first


def test_after_close_there_is_no_process_and_the_next_file_starts_one(helping):
    process = helping("process")
    first = ask(process)
    process.close()
    assert not is_there(int(first))
    assert ask(process) != first
    process.close()
    process.close()


def test_a_process_that_nobody_asks_anything_ends_and_is_no_zombie(helping):
    process = helping("process", idle_seconds=0.01)
    first = ask(process)
    for thread in threading.enumerate():
        if thread.name == WATCH:
            thread.join()
    assert not is_there(int(first))
    assert ask(process) != first


def test_a_process_that_is_given_up_is_no_zombie(helping):
    spin = helping("spin")
    with pytest.raises(LostError):
        spin.ask("text/html", "name", b"", Limits(seconds=0.05))
    assert not is_there(spin._process._popen.pid)


def test_a_question_that_is_interrupted_leaves_no_answer_for_the_next_one(helping, monkeypatch):
    echo = helping("echo")
    assert ask(echo, "one") == "one"

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(helper, "receive", interrupted)
        with pytest.raises(KeyboardInterrupt):
            ask(echo, "two")
    assert ask(echo, "three") == "three"


def test_no_module_of_the_current_folder_is_taken_for_one_of_python(helping, monkeypatch, tmp_path):
    for name in ("json", "sys", "os", "site", "sitecustomize"):
        (tmp_path / f"{name}.py").write_text("open('taken', 'w')", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert ask(helping("echo"), "words") == "words"
    assert not (tmp_path / "taken").exists()


@tells_of_processes
def test_a_process_that_waits_ends_when_the_one_that_asked_is_killed():
    with script(
        "helper = helping('process'); print(ask(helper), flush=True); sys.stdin.read()",
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as parent:
        assert parent.stdout
        child = os.pidfd_open(int(parent.stdout.readline()))
        parent.kill()
        assert ends(child)
        os.close(child)


@tells_of_processes
def test_a_process_that_works_ends_when_the_one_that_asked_is_killed(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with script("ask(helping('say_when'), sys.argv[2])", pipe) as parent:
        child = os.pidfd_open(int(pipe.read_text(encoding="utf-8")))
        parent.kill()
        assert ends(child)
        os.close(child)


@tells_of_processes
def test_a_process_ends_with_the_one_that_asked():
    lines = "helper = helping('process'); pid = int(ask(helper)); print(pid, flush=True); sys.stdin.readline()"
    with script(lines, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as parent:
        assert parent.stdout
        child = os.pidfd_open(int(parent.stdout.readline()))
        _, complaints = parent.communicate(b"\n")
        assert ends(child)
        assert (parent.returncode, complaints) == (0, b"")
        os.close(child)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system does not copy processes")
def test_a_copy_of_the_process_that_asked_has_a_helper_of_its_own():
    lines = (
        "helper = helping('process'); first = ask(helper)\n"
        "copy = os.fork()\n"
        "if copy == 0:\n"
        "    other = ask(helper); again = ask(helper); helper.close()\n"
        "    os._exit(0 if other == again != first else 1)\n"
        "code = os.waitpid(copy, 0)[1]\n"
        "sys.exit(code or ask(helper) != first)"
    )
    with script(lines) as parent:
        assert parent.wait() == 0


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
def test_an_interrupt_from_the_keyboard_is_for_the_one_that_asked_alone():
    lines = (
        "import signal; signal.signal(signal.SIGINT, lambda *_: None)\n"
        "helper = helping('process'); first = ask(helper)\n"
        "os.killpg(0, signal.SIGINT)\n"
        "sys.exit(ask(helper) != first)"
    )
    with script(lines, start_new_session=True) as parent:
        assert parent.wait() == 0


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
def test_a_crash_leaves_no_memory_in_a_file(helping, monkeypatch, tmp_path):
    import resource

    monkeypatch.chdir(tmp_path)
    before = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (before[1], before[1]))
    try:
        with pytest.raises(LostError) as caught:
            ask(helping("die"), name=signal.SIGABRT.name)
    finally:
        resource.setrlimit(resource.RLIMIT_CORE, before)
    assert caught.value.cause == "crash"
    assert not list(tmp_path.iterdir())
