"""Every call on a file of the table, the state and the reports fails once.

failio.so makes the nth call of a kind fail. A run that meets it succeeds all the same, or
fails and says why; the next one goes on, and nothing is lost, twice or altered.
"""
import os
import pathlib

import pytest

from landing import Pipeline
from ledger import COLUMNS, EXACT, Ledger

KINDS = ["target", "file"]
CALLS = [("open", "EMFILE"), ("write", "ENOSPC"), ("fsync", "EIO"), ("link", "EIO"), ("rename", "EIO"),
         ("mkdir", "EACCES"), ("unlink", "EIO"), ("close", "EIO"), ("read", "EIO")]
FOLDERS = ["/lake/", "/state/", "/reports/"]
FEW = 5  # places of a call that are tried without --long; the first and the last among them


@pytest.fixture
def failio():
    path = pathlib.Path(os.environ.get("FOREBAY_BUILD", "build/release")) / "failio.so"
    if not path.exists():
        pytest.skip(f"{path} is not built: cmake --build build/release --target failio")
    return path.resolve()


class World:
    def __init__(self, kind, forebay, kafka, failio):
        topic = kafka.topic(partitions=2)
        self.forebay, self.failio = forebay, failio
        self.it = Pipeline(forebay, kafka.address, topic, COLUMNS, state={"store": kind},
                           rejected={"format": "delta" if kind == "target" else "ndjson"})
        self.ledger = Ledger(kafka, topic, 2, seed=3)
        self.counts = forebay.folder / "counts"

    def run(self, rule, **env):
        """One run that meets `rule`. @return its result, and how often the call was made"""
        self.ledger.write(40)
        self.counts.unlink(missing_ok=True)
        result = self.forebay(*self.it.arguments(), status=None, env={
            "LD_PRELOAD": self.failio, "FAILIO": rule, "FAILIO_COUNT": self.counts, **env})
        text = self.counts.read_text() if self.counts.exists() else ""
        return result, int(text.split()[1]) if text else 0

    def fail(self, call, folder, n, error, **env):
        result, _ = self.run(f"{call}:{folder}:{n}:{error}", **env)
        rule = f"{call} {folder} {n} {error} {env}"
        assert result.status in (0, 1, 3), f"{rule}\n{result!r}"
        if result.status:
            assert "[FB-" in result.stderr and "  state: " in result.stderr, f"{rule}\n{result!r}"
        report = self.it.run()
        assert report["lag_after"] == 0, rule
        assert self.ledger.compare(self.it) == EXACT, f"{rule}\n{result!r}"
        return result.status


def places(count, few):
    """1..count, or `few` of them, the first and the last among them."""
    if count <= few:
        return range(1, count + 1)
    return sorted({1 + round(n * (count - 1) / (few - 1)) for n in range(few)})


def judge(world, fsck):
    fsck(world.it.table)
    if world.it.rejected.joinpath("_delta_log").exists():
        fsck(world.it.rejected)


@pytest.mark.parametrize("call, error", CALLS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_call_that_fails_once_costs_nothing(kind, call, error, forebay, kafka, failio, fsck):
    world = World(kind, forebay, kafka, failio)
    tried, failed = 0, 0
    for folder in FOLDERS:
        _, count = world.run(f"{call}:{folder}:1000000:{error}")
        for n in places(count, FEW):
            failed += world.fail(call, folder, n, error) != 0
            tried += 1
    assert tried > 0
    assert failed > 0 or call in ("unlink", "close", "mkdir", "rename")
    judge(world, fsck)


@pytest.mark.long
@pytest.mark.parametrize("call, error", [*CALLS, ("write", "EIO"), ("open", "EACCES"),
                                         ("fsync", "ENOSPC"), ("link", "ENOSPC")])
@pytest.mark.parametrize("more", ["", "+"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_call_fails_once_and_from_then_on(
        kind, more, call, error, forebay, kafka, failio, fsck):
    world = World(kind, forebay, kafka, failio)
    for folder in FOLDERS:
        n = 1
        while n < 200:
            _, count = world.run(f"{call}:{folder}:1000000:{error}")
            if n > count:
                break
            world.fail(call, folder, n, error + (":" + more if more else ""), FAILIO_SHORT="1")
            n += 1
    judge(world, fsck)


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_run_of_all_may_fail_at_any_folder_it_makes(kind, forebay, kafka, failio, fsck):
    """Nothing is there yet: each mkdir and each first file fails once."""
    world = World(kind, forebay, kafka, failio)
    for n in range(1, 8):
        world.run(f"mkdir:/{'lake' if n % 2 else 'state'}:{n}:ENOSPC")
    world.it.run()
    assert world.ledger.compare(world.it) == EXACT
    judge(world, fsck)
