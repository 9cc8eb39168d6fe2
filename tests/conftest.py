"""What the tests in tests/{real,crash,docs,fault} share: the program, Kafka, and the judges.

Fixtures:
  forebay        runs the program under test: forebay("run", "orders") -> Result
  kafka          one Kafka node for the whole run; kafka_auth and kafka3 are its variants
                 with SASL, TLS and ACLs, and with three nodes
  verify, fsck   the outside judges in tests/tools: they fail the test when they find a fault
  cases_folder   the folder of shared cases; tests that need it are skipped without it

The program under test is the environment's FOREBAY, or build/release/forebay.
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import uuid

import pytest

import services

TESTS = pathlib.Path(__file__).resolve().parent
PROGRAM = pathlib.Path(os.environ.get("FOREBAY") or TESTS.parent / "build/release/forebay")


def pytest_configure(config):
    config.addinivalue_line("markers", "long: takes minutes; runs with ./test long only")


# --- the program ------------------------------------------------------------------------------


class Result:
    """How one run of the program ended; status is 128 + n after signal n."""

    def __init__(self, command, returncode, stdout, stderr):
        self.command = command
        self.status = returncode if returncode >= 0 else 128 - returncode
        self.stdout = stdout
        self.stderr = stderr

    def __repr__(self):
        return (f"{' '.join(map(str, self.command))}\nexit status {self.status}\n"
                f"--- standard output\n{self.stdout}--- standard error\n{self.stderr}")

    def json(self):
        """Standard output, read as one JSON document."""
        return json.loads(self.stdout)


class Forebay:
    """Runs the program in one folder, with an environment of its own.

    Variables named FOREBAY_... of the caller are not passed on; `env` adds others.
    """

    def __init__(self, folder):
        self.path = PROGRAM
        self.folder = folder
        self._running = []

    def _environment(self, env):
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith(("FOREBAY_", "LC_"))}
        home = {"HOME": str(self.folder), "LC_ALL": "C.UTF-8", "TZ": "UTC"}
        return {**kept, **home, **{name: str(value) for name, value in (env or {}).items()}}

    def __call__(self, *arguments, status=0, timeout=60, input="", env=None, cwd=None):
        """Run it to its end. Fails the test unless it exits with `status`; None takes any."""
        command = [self.path, *map(str, arguments)]
        done = subprocess.run(command, input=input, text=True, errors="replace",
                              capture_output=True, timeout=timeout, check=False,
                              env=self._environment(env), cwd=cwd or self.folder)
        result = Result(command, done.returncode, done.stdout, done.stderr)
        assert status is None or result.status == status, repr(result)
        return result

    def start(self, *arguments, env=None, cwd=None, **options):
        """Start it and go on; it is killed at the end of the test. @return the Popen"""
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        process = subprocess.Popen([self.path, *map(str, arguments)], text=True,
                                   stdin=subprocess.DEVNULL, env=self._environment(env),
                                   cwd=cwd or self.folder, **options)
        self._running.append(process)
        return process

    def stop(self, process, timeout=30):
        """Ask it to end (SIGTERM) and wait. @return Result"""
        process.send_signal(signal.SIGTERM)
        stdout, stderr = process.communicate(timeout=timeout)
        return Result(process.args, process.returncode, stdout or "", stderr or "")

    def kill_all(self):
        for process in self._running:
            if process.poll() is None:
                process.kill()
            process.communicate()


@pytest.fixture
def forebay(tmp_path):
    if not PROGRAM.exists():
        pytest.fail(f"{PROGRAM} is not built: run tools/setup.sh")
    program = Forebay(tmp_path)
    yield program
    program.kill_all()


# --- Kafka ----------------------------------------------------------------------------------------


class Cluster(services.Kafka):
    """A running Kafka, with what tests do to topics."""

    def client(self, **conf):
        """A configuration for confluent_kafka; a name's dots are written as underscores."""
        return {"bootstrap.servers": self.address,
                **{name.replace("_", "."): value for name, value in conf.items()}}

    def admin(self):
        from confluent_kafka.admin import AdminClient
        return AdminClient(self.client())

    def topic(self, name=None, partitions=1, **config):
        """Create a topic, under a name nobody has when none is given. @return the name"""
        from confluent_kafka.admin import NewTopic
        name = name or "t-" + uuid.uuid4().hex[:12]
        config = {key.replace("_", "."): str(value) for key, value in config.items()}
        admin = self.admin()  # kept until the answer is there
        admin.create_topics([NewTopic(name, partitions, config=config)])[name].result(30)
        return name

    def produce(self, topic, values, partition=0, key=None, headers=None, timestamp=0,
                transaction=None, **conf):
        """Write values: texts, bytes, None, or what json.dumps takes; one partition, in order.

        partition, key, headers and timestamp may be functions of the value's number.
        transaction is "commit" or "abort"; None writes without one.
        """
        from confluent_kafka import Producer
        if transaction:
            conf = {"transactional_id": uuid.uuid4().hex, **conf}
        producer = Producer(self.client(enable_idempotence=True, linger_ms=5, **conf))
        failures = []
        if transaction:
            producer.init_transactions(30)
            producer.begin_transaction()
        for number, value in enumerate(values):
            if value is not None and not isinstance(value, (str, bytes)):
                value = json.dumps(value)
            given = {name: what(number) if callable(what) else what for name, what in
                     {"partition": partition, "key": key, "headers": headers,
                      "timestamp": timestamp}.items()}
            while True:
                try:
                    producer.produce(topic, value, **given,
                                     on_delivery=lambda error, _: error and failures.append(error))
                    break
                except BufferError:
                    producer.poll(0.1)
        assert producer.flush(60) == 0 and not failures, failures[:3]
        if transaction:
            getattr(producer, f"{transaction}_transaction")(30)

    def ends(self, topic):
        """The offset after the last record, by partition."""
        from confluent_kafka import Consumer, TopicPartition
        reader = Consumer(self.client(group_id="ends"))
        try:
            partitions = reader.list_topics(topic, timeout=30).topics[topic].partitions
            return {number: reader.get_watermark_offsets(TopicPartition(topic, number), 30)[1]
                    for number in sorted(partitions)}
        finally:
            reader.close()


def _cluster(**options):
    cluster = Cluster(**options)
    try:
        cluster.start()
    except services.Unavailable as why:
        pytest.skip(str(why))
    return cluster


@pytest.fixture(scope="session")
def kafka():
    cluster = _cluster()
    yield cluster
    cluster.stop()


@pytest.fixture(scope="session")
def kafka_auth():
    cluster = _cluster(auth=True)
    yield cluster
    cluster.stop()


@pytest.fixture(scope="session")
def kafka3():
    cluster = _cluster(nodes=3)
    yield cluster
    cluster.stop()


# --- the judges -----------------------------------------------------------------------------------


def _judge(name, *arguments, status=0):
    command = [sys.executable, str(TESTS / "tools" / name), *map(str, arguments)]
    done = subprocess.run(command, text=True, capture_output=True, timeout=600, check=False)
    result = Result(command, done.returncode, done.stdout, done.stderr)
    assert result.status == status, repr(result)
    return result


@pytest.fixture
def verify(kafka):
    """verify(topic, "delta:/path", ...): nothing of the topic is lost, twice or altered."""
    def judge(topic, table, *more, brokers=None, status=0):
        return _judge("verify_exactly_once.py", "--brokers", brokers or kafka.address,
                      "--topic", topic, "--table", table, *more, status=status)
    return judge


@pytest.fixture
def fsck():
    """fsck("/path", ...): the Delta table keeps the protocol, and its log tells the truth."""
    def judge(table, *more, status=0):
        return _judge("delta_fsck.py", table, "--quiet", *more, status=status)
    return judge


@pytest.fixture(scope="session")
def cases_folder():
    folder = os.environ.get("FOREBAY_CASES") or TESTS.parent.parent / "shared/cases"
    if not pathlib.Path(folder).is_dir():
        pytest.skip(f"the shared cases are not here ({folder})")
    return pathlib.Path(folder)
