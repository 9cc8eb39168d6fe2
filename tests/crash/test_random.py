"""Deaths at any moment, brokers that die, processes that sleep, rivals, and full disks.

Every loop draws from a seed; a failure names it. What must hold in the end is always the
same: the tables hold just what was written to the topic.
"""
import os
import random
import shutil
import signal
import subprocess
import time

import pytest

from conftest import Forebay
from landing import Pipeline
from ledger import COLUMNS, EXACT, Ledger

PARTITIONS = 3
KINDS = ["target", "file"]


def make(kind, forebay, kafka, seed, **more):
    """A pipeline with its ledger. `file` keeps positions in a file and rejects as JSON lines."""
    topic = kafka.topic(partitions=PARTITIONS)
    it = Pipeline(forebay, kafka.address, topic, COLUMNS, state={"store": kind},
                  rejected={"format": "delta" if kind == "target" else "ndjson"}, **more)
    it.ledger = Ledger(kafka, topic, PARTITIONS, seed)
    return it


def settle(it, fsck):
    """Run until nothing waits, and compare."""
    for _ in range(5):
        if it.run("--wait-lock", 60)["lag_after"] == 0:
            break
    assert it.ledger.compare(it) == EXACT
    fsck(it.table)
    if it.rejected.joinpath("_delta_log").exists():
        fsck(it.rejected)


def start(it, *arguments, **env):
    return it.forebay.start(*it.arguments(*arguments), env=env, stdout=subprocess.DEVNULL)


def end(process, timeout=120):
    """@return exit status and standard error"""
    said = process.communicate(timeout=timeout)[1]
    return process.returncode, said


# --- deaths ---------------------------------------------------------------------------------


def die_at_random(it, deaths, seed):
    """Every run but a few dies after a random time; some have a rival. @return how many died"""
    draw, died = random.Random(seed), 0
    while died < deaths:
        if draw.random() < 0.7:
            it.ledger.write(draw.randrange(4, 200))
        limit = ["--max-messages", draw.randrange(1, 300)] if draw.random() < 0.5 else []
        running = [start(it, "--no-lock", *limit) for _ in range(draw.choice([1, 1, 1, 2]))]
        time.sleep(draw.uniform(0.02, 0.8))
        for process in running:
            process.kill()
            died += end(process)[0] == -signal.SIGKILL
    return died


@pytest.mark.parametrize("kind", KINDS)
def test_twenty_random_deaths(kind, forebay, kafka, fsck):
    it = make(kind, forebay, kafka, seed=11)
    die_at_random(it, 20, seed=11)
    settle(it, fsck)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(21, 25))
@pytest.mark.parametrize("kind", KINDS)
def test_two_hundred_random_deaths(kind, seed, forebay, kafka, verify, fsck):
    it = make(kind, forebay, kafka, seed)
    print(die_at_random(it, 200, seed), "deaths")
    settle(it, fsck)
    if kind == "target":
        verify(it.topic, f"delta:{it.table}", "--json-cols", "id,s", "--also", f"delta:{it.rejected}")


# --- brokers that die -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def mortal():
    """A broker of this module's own."""
    from conftest import _cluster
    cluster = _cluster()
    yield cluster
    cluster.stop()


SLOWLY = ["-X", "message.max.bytes=4000", "-X", "fetch.max.bytes=4000",
          "-X", "queued.min.messages=50", "-X", "fetch.queue.backoff.ms=20"]


def broker_dies(it, mortal, rounds, seed):
    draw, in_the_midst = random.Random(seed), 0
    for _ in range(rounds):
        it.ledger.write(6000)
        process = start(it, "--timeout-ms", 20000, *SLOWLY)
        time.sleep(draw.uniform(0.1, 1.0))
        in_the_midst += process.poll() is None
        mortal.control("kill", "1")
        time.sleep(draw.uniform(0, 2))
        done = mortal.control("start")
        assert done.returncode == 0, done.stderr
        status, said = end(process)
        assert status in (0, 5), said
        assert status == 0 or "FB-K00" in said
    assert in_the_midst > 0


def test_a_broker_that_dies_and_comes_back_costs_nothing(forebay, mortal, fsck):
    it = make("target", forebay, mortal, seed=31)
    broker_dies(it, mortal, 2, seed=31)
    settle(it, fsck)


def test_a_broker_that_stays_away_ends_the_run_in_time_and_what_came_is_kept(forebay, mortal, fsck):
    it = make("target", forebay, mortal, seed=33)
    it.ledger.write(20000)
    process = start(it, "--timeout-ms", 3000, *SLOWLY)
    time.sleep(0.5)
    assert process.poll() is None
    mortal.control("kill", "1")
    began = time.monotonic()
    status, said = end(process)
    took = time.monotonic() - began
    assert mortal.control("start").returncode == 0
    assert status == 5 and "[FB-K006]" in said and took < 10, f"{took} s\n{said}"
    books = it.ledger.compare(it)
    assert books.duplicated == books.altered == books.extra == 0 and books.lost > 0
    settle(it, fsck)


@pytest.mark.long
def test_a_broker_that_dies_twenty_times_costs_nothing(forebay, mortal, fsck):
    it = make("target", forebay, mortal, seed=32)
    broker_dies(it, mortal, 20, seed=32)
    settle(it, fsck)


# --- sleepers and rivals --------------------------------------------------------------------

# Where one sleeps while the other goes on; whether it must find itself overtaken.
SLEEPS = [("target", "run.planned", True), ("target", "run.read", True),
          ("target", "sink.rejects.commit", True), ("target", "run.rejects.kept", True),
          ("target", "run.commit.before", True), ("target", "delta.commit.before:2", True),
          ("target", "store.put_new.synced:2", True), ("target", "run.commit.after", False),
          ("file", "run.read", True), ("file", "sink.rejects.rename", False),
          ("file", "offsets.file.intent", False), ("file", "offsets.file.kept", False)]


def sleep_and_be_overtaken(kind, step, seconds, forebay, kafka, seed):
    it = make(kind, forebay, kafka, seed)
    it.ledger.write(200)
    it.run()
    it.ledger.write(200)
    name, _, nth = step.partition(":")
    began = time.monotonic()
    sleeper = start(it, "--no-lock", "-v",
                    FOREBAY_FAILPOINT=f"{name}:sleep={seconds}s:{nth or 1}")
    time.sleep(1)
    it.ledger.write(100)
    it.run("--no-lock", "--max-messages", 250, timeout=180)
    assert sleeper.poll() is None or time.monotonic() - began > seconds
    it.run("--no-lock", timeout=180)
    status, said = end(sleeper, timeout=180)
    assert status == 0, said
    return it, said


@pytest.mark.parametrize("kind, step, loses", SLEEPS)
def test_a_sleeper_that_was_overtaken_loses_and_plans_again(
        kind, step, loses, forebay, kafka, fsck):
    it, said = sleep_and_be_overtaken(kind, step, 4, forebay, kafka, seed=41)
    assert it.ledger.compare(it) == EXACT
    settle(it, fsck)
    assert ("by another writer" in said) == loses, said


@pytest.mark.long
@pytest.mark.parametrize("kind, step, loses", SLEEPS)
def test_a_sleeper_of_a_minute_loses_too(kind, step, loses, forebay, kafka, fsck):
    it, _ = sleep_and_be_overtaken(kind, step, 60, forebay, kafka, seed=42)
    settle(it, fsck)


def test_a_process_that_was_stopped_is_overtaken_and_loses(forebay, kafka, fsck):
    it = make("target", forebay, kafka, seed=43)
    it.ledger.write(4000)
    stopped = start(it, "--no-lock", FOREBAY_FAILPOINT="run.read:sleep=1s")
    time.sleep(0.8)
    stopped.send_signal(signal.SIGSTOP)
    it.run("--no-lock")
    it.ledger.write(100)
    it.run("--no-lock")
    stopped.send_signal(signal.SIGCONT)
    status, said = end(stopped)
    assert status == 0, said
    settle(it, fsck)


def rivals(it, rounds, count, seed):
    draw = random.Random(seed)
    for _ in range(rounds):
        it.ledger.write(draw.randrange(20, 300))
        running = []
        for _ in range(count):
            limit = ["--max-messages", draw.randrange(10, 200)] if draw.random() < 0.5 else []
            running.append(start(it, "--no-lock", *limit))
            time.sleep(draw.choice([0, 0, 0.05, 0.1]))
        it.ledger.write(20)
        for process in running:
            status, said = end(process)
            assert status == 0, said


@pytest.mark.parametrize("kind", KINDS)
def test_processes_of_one_pipeline_at_once_write_each_row_once(kind, forebay, kafka, fsck):
    it = make(kind, forebay, kafka, seed=51)
    rivals(it, 6, 3, seed=51)
    settle(it, fsck)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_fifty_rounds_of_four_processes_write_each_row_once(kind, forebay, kafka, fsck):
    it = make(kind, forebay, kafka, seed=52)
    rivals(it, 50, 4, seed=52)
    settle(it, fsck)


# --- full disks -----------------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 3 MiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = os.geteuid() == 0 and shutil.which("mount") and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", folder], capture_output=True,
        check=False).returncode == 0
    if not mounted:
        pytest.skip("a small tmpfs cannot be mounted here")
    yield folder
    subprocess.run(["umount", "-l", folder], check=False)


def fill(folder, leave):
    """Leave `leave` bytes free, more or less."""
    path = folder / "fill"
    try:
        with open(path, "wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))
    except OSError:
        pass
    os.truncate(path, max(0, path.stat().st_size - leave))


@pytest.mark.parametrize("kind", KINDS)
def test_a_full_disk_stops_the_run_clearly_and_it_goes_on_when_there_is_room(
        kind, small_disk, kafka, fsck):
    it = make(kind, Forebay(small_disk), kafka, seed=61)
    outcomes = set()
    for leave in (0, 0, 4096, 8192, 12288, 16384, 20480, 28672, 40960, 65536):
        it.ledger.write(400)
        fill(small_disk, leave)
        result = it.forebay(*it.arguments(), status=None)
        assert result.status in (0, 1), repr(result)
        if result.status:
            assert "No space left" in result.stderr and "[FB-" in result.stderr, repr(result)
            assert "  state: " in result.stderr and "  do: " in result.stderr, repr(result)
        outcomes.add(result.status)
        (small_disk / "fill").unlink()
        assert it.run()["lag_after"] == 0
        assert it.ledger.compare(it) == EXACT, repr(result)
    assert outcomes == {0, 1}
    settle(it, fsck)
