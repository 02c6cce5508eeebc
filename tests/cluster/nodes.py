"""A real cluster for tests and benchmarks: one Java process for each node, on 127.0.0.1, in folders of its own.

The server comes from a Maven repository by name (pom.xml beside this file) and is kept in `.dowse/opensearch`. As a
program, this runs a command with DOWSE_TEST_CLUSTER set to the address of three fresh nodes:

    python tests/cluster/nodes.py pytest tests/contract -m cluster
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
HOME = HERE.parents[1] / ".dowse" / "opensearch"
PLUGINS = (
    "org.opensearch.transport.Netty4Plugin",
    "org.opensearch.analysis.common.CommonAnalysisPlugin",
    "org.opensearch.painless.PainlessPlugin",
    "org.opensearch.index.reindex.ReindexPlugin",
    "org.opensearch.index.mapper.MapperExtrasPlugin",
    "org.opensearch.knn.plugin.KNNPlugin",
)
LOGGING = """status = error
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = [%d{ISO8601}][%-5p][%c{1.}] %m%n
rootLogger.level = warn
rootLogger.appenderRef.console.ref = console
"""
HEAP_MB = 768
START_SECONDS = 240
NODES = "DOWSE_TEST_CLUSTER_NODES"
"""Set where the tests may kill the nodes."""

_started: list[subprocess.Popen[bytes]] = []


class UnavailableError(Exception):
    """There is no Java, no Maven or no package: the tests that need a cluster are skipped."""


def assemble() -> str:
    """The class path of a node; everything is fetched and compiled on the first call.

    Raises:
        UnavailableError: with the reason in one line.
    """
    for program in ("java", "javac", "mvn"):
        if shutil.which(program) is None:
            raise UnavailableError(f"{program} is not installed (a JDK from 17 on and Maven are needed)")
    source = (HERE / "pom.xml").read_text() + (HERE / "ClusterNode.java").read_text()
    stamp = HOME / "assembled"
    if not stamp.exists() or stamp.read_text() != source:
        shutil.rmtree(HOME, ignore_errors=True)
        HOME.mkdir(parents=True)
        _fetch()
        stamp.write_text(source)
    return os.pathsep.join([str(HOME / "classes"), f"{HOME / 'lib'}/*"])


def _fetch() -> None:
    copy = ["mvn", "-q", "-B", "-f", str(HERE / "pom.xml"), "dependency:copy-dependencies"]
    fetched = subprocess.run([*copy, f"-DoutputDirectory={HOME / 'lib'}"], capture_output=True, text=True, check=False)
    if fetched.returncode:
        reason = next((line for line in fetched.stdout.splitlines() if "ERROR" in line), "no reason given")
        raise UnavailableError(f"Maven could not fetch the server: {reason[:300]}")
    for plugin in (HOME / "lib").glob("*.zip"):
        with zipfile.ZipFile(plugin) as archive:
            archive.extractall(HOME / "lib", [name for name in archive.namelist() if name.endswith(".jar")])
    compile_ = ["javac", "-nowarn", "-d", str(HOME / "classes"), "-cp", f"{HOME / 'lib'}/*"]
    subprocess.run([*compile_, str(HERE / "ClusterNode.java")], check=True, capture_output=True)


@dataclass
class Node:
    """One process; it keeps its folder and its ports when it is started again."""

    name: str
    folder: Path
    http: int
    transport: int

    def kill(self) -> None:
        """End it without a chance to say goodbye."""
        self._signal(signal.SIGKILL)
        while self.listens():
            time.sleep(0.02)

    def pause(self) -> None:
        """Let it hang: its sockets stay open and nothing answers."""
        self._signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """The reverse."""
        self._signal(signal.SIGCONT)

    def listens(self) -> bool:
        """Whether its process is there."""
        with socket.socket() as probe:
            probe.settimeout(1)
            return probe.connect_ex(("127.0.0.1", self.http)) == 0

    def _signal(self, number: int) -> None:
        pid = self.folder / "pid"
        if pid.exists():
            with suppress(ProcessLookupError):
                os.kill(int(pid.read_text()), number)


@dataclass
class Cluster:
    """Some nodes that know each other."""

    nodes: list[Node]
    class_path: str
    settings: dict[str, str] = field(default_factory=dict)

    @property
    def url(self) -> str:
        """The address, as the configuration takes it."""
        hosts = ",".join(f"127.0.0.1:{node.http}" for node in self.nodes)
        return f"opensearch://{hosts}/dowse?shards=3&replicas=1"

    def start(self, node: Node) -> None:
        """Start the process of a node; it joins the others by itself."""
        seeds = ",".join(f"127.0.0.1:{each.transport}" for each in self.nodes)
        settings = {
            "node.name": node.name,
            "cluster.name": "dowse-test",
            "network.host": "127.0.0.1",
            "http.port": str(node.http),
            "transport.port": str(node.transport),
            "discovery.seed_hosts": seeds,
            "cluster.initial_cluster_manager_nodes": ",".join(each.name for each in self.nodes),
            "cluster.routing.allocation.disk.threshold_enabled": "false",
            "indices.query.bool.max_clause_count": "4096",
            "cluster.routing.allocation.balance.prefer_primary": "true",  # they answer, see store/opensearch/layout.py
            **self.settings,
        }
        logging = node.folder / "config" / "log4j2.properties"
        logging.parent.mkdir(parents=True, exist_ok=True)
        logging.write_text(LOGGING)
        java = ["java", f"-Xms{HEAP_MB}m", f"-Xmx{HEAP_MB}m", "-XX:+UseSerialGC", "-XX:MaxDirectMemorySize=128m"]
        java += ["-Dio.netty.noUnsafe=true", f"-Dlog4j2.configurationFile={logging}", "-cp", self.class_path]
        arguments = [str(node.folder), ",".join(PLUGINS), *(f"{name}={value}" for name, value in settings.items())]
        with (node.folder / "log").open("ab") as log:
            process = subprocess.Popen(
                [*java, "ClusterNode", *arguments], stdout=log, stderr=subprocess.STDOUT, start_new_session=True
            )
        (node.folder / "pid").write_text(str(process.pid))
        _started.append(process)  # kept, so that nobody warns of a process that still runs

    def wait(self, *, nodes: int | None = None, status: str = "green") -> None:
        """Until so many nodes (all of them) are there and every shard is where it should be."""
        deadline = time.monotonic() + START_SECONDS
        query = f"wait_for_nodes={nodes or len(self.nodes)}&wait_for_status={status}&timeout=5s"
        while time.monotonic() < deadline:
            for node in self.nodes:
                if _healthy(f"http://127.0.0.1:{node.http}/_cluster/health?{query}"):
                    return
            time.sleep(0.5)
        tail = b"\n".join((node.folder / "log").read_bytes()[-2_000:] for node in self.nodes)
        raise TimeoutError(f"The cluster did not become {status}: {tail.decode(errors='replace')}")

    def stop(self) -> None:
        """End every process."""
        for node in self.nodes:
            node.go_on()
            node.kill()

    def described(self) -> str:
        """All that another process needs to kill and start the same nodes."""
        return json.dumps([[node.name, str(node.folder), node.http, node.transport] for node in self.nodes])

    @classmethod
    def from_description(cls, text: str) -> "Cluster":
        """The reverse."""
        return cls([Node(name, Path(folder), *ports) for name, folder, *ports in json.loads(text)], assemble())


def _healthy(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:  # noqa: S310 - 127.0.0.1
            return not json.load(answer)["timed_out"]
    except (OSError, ValueError):
        return False


@contextmanager
def running(count: int = 3, **settings: str) -> Iterator[Cluster]:
    """A cluster of fresh nodes, gone afterwards with all that it held."""
    class_path = assemble()
    with tempfile.TemporaryDirectory(prefix="dowse-cluster-") as folder:
        ports = _free_ports(2 * count)
        nodes = [
            Node(f"n{number}", Path(folder) / f"n{number}", *ports[2 * number : 2 * number + 2])
            for number in range(count)
        ]
        cluster = Cluster(nodes, class_path, {name.replace("__", "."): value for name, value in settings.items()})
        try:
            for node in nodes:
                node.folder.mkdir()
                cluster.start(node)
            cluster.wait()
            yield cluster
        finally:
            cluster.stop()


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [int(each.getsockname()[1]) for each in sockets]
    for each in sockets:
        each.close()
    return ports


def main() -> int:
    """Run the command that is given, beside a cluster; one line and success where none can be had."""
    try:
        with running() as cluster:
            environment = {**os.environ, "DOWSE_TEST_CLUSTER": cluster.url, NODES: cluster.described()}
            return subprocess.run(sys.argv[1:], env=environment, check=False).returncode
    except UnavailableError as reason:
        sys.stderr.write(f"skipped: no cluster can be started here: {reason}\n")
        return 0


if __name__ == "__main__":
    sys.exit(main())
