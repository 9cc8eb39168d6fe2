"""Death and failure at every named step: nothing is lost, nothing twice, nothing altered.

The names are those that stand in the source. Two pipelines between them come by every step:
`target` keeps positions in the table and rejected rows in a Delta table, `file` keeps them in
a file and in JSON lines. Each goes on with one topic and one table from step to step, so a
fault is found at the step that made it; the outside judges come last.
"""
import pathlib
import re

import pytest

from landing import Pipeline
from ledger import COLUMNS, EXACT, Ledger

SOURCE = pathlib.Path(__file__).resolve().parents[2] / "src"
PARTITIONS = 3


def step_names():
    """The names at FB_STEP(), fb_step_try(), and at the functions that take one."""
    found = set()
    for path in SOURCE.rglob("*.c"):
        if path.name == "step.c":
            continue
        for call in re.findall(r"\b(?:FB_STEP|fb_step_try|fb_file_write_new|rename_synced)\(([^;]*);",
                               path.read_text()):
            found.update(re.findall(r'"([a-z_]+(?:\.[a-z_]+)+)"', call))
    return sorted(found)


NAMES = step_names()
KINDS = ["target", "file"]
FALLBACK = "store.put_new.rename"
AGAIN = ["delta.", "store."]  # come by twice in a run: once for rejected rows, once for rows
hits = {}  # (kind, name) -> whether the process died there


class World:
    """One pipeline, its topic, and the ledger of what was written to it."""

    def __init__(self, kind, forebay, kafka):
        topic = kafka.topic(partitions=PARTITIONS)
        self.forebay, self.kafka = forebay, kafka
        more = {"group_id": "g-" + topic} if kind == "target" else {}
        self.it = Pipeline(forebay, kafka.address, topic, COLUMNS, source=more,
                           rejected={"format": "delta" if kind == "target" else "ndjson"},
                           state={"store": kind})
        self.ledger = Ledger(kafka, topic, PARTITIONS, seed=7)
        self.ledger.write(40)
        self.it.run()
        for path in (self.it.table, self.it.rejected):
            if (path / "_delta_log").exists():  # a checkpoint at every commit from here on
                self.it.delta(path).alter.set_table_properties({"delta.checkpointInterval": "1"})

    def suffer(self, failpoint, size=40):
        """Write, run into the failpoint, run cleanly. @return how the first run ended"""
        self.ledger.write(size)
        # Windows smaller than what waits: the next try has other bounds.
        limits = [["--max-messages", self.ledger.random.randrange(5, size)]
                  if self.ledger.random.random() < 0.5 else [] for _ in range(2)]
        if failpoint.startswith(FALLBACK):  # there where links are not to be had
            failpoint += ",store.put_new.link:error=EIO:*"
        result = self.forebay(*self.it.arguments(*limits[0]), status=None,
                              env={"FOREBAY_FAILPOINT": failpoint})
        if limits[1]:
            self.it.run(*limits[1])
        report = self.it.run()
        assert report["lag_after"] == 0
        assert self.ledger.compare(self.it) == EXACT, f"after {failpoint}\n{result!r}"
        return result.status


@pytest.fixture(scope="module")
def worlds(kafka, tmp_path_factory):
    from conftest import Forebay
    made = {}

    def world(kind):
        if kind not in made:
            made[kind] = World(kind, Forebay(tmp_path_factory.mktemp(kind)), kafka)
        return made[kind]
    return world


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", KINDS)
def test_death_at_a_step_loses_nothing_and_doubles_nothing(kind, name, worlds):
    status = worlds(kind).suffer(f"{name}:kill")
    assert status in (0, 137)
    hits[kind, name] = status == 137


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith(tuple(AGAIN))])
def test_death_at_the_second_time_too(name, worlds):
    assert worlds("target").suffer(f"{name}:kill:2") in (0, 137)


def failures():
    """Each step fails; of those that write, also half a write and an answer that is lost."""
    for name in NAMES:
        yield "error=EIO", name
        if name.startswith(tuple(AGAIN)):
            yield "unknown", name
        if name.endswith(".temp"):
            yield "torn", name


@pytest.mark.parametrize("action, name", list(failures()))
def test_a_step_that_fails_loses_nothing_and_doubles_nothing(action, name, worlds):
    nth = 2 if name.startswith(tuple(AGAIN)) else 1
    kind = "file" if name.startswith("offsets.file") or name == "sink.rejects.rename" else "target"
    assert worlds(kind).suffer(f"{name}:{action}:{nth}") in (0, 1, 137)


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("action", ["kill", "exit", "error=EIO", "error=ENOSPC", "unknown", "torn"])
def test_every_step_every_action_three_times(action, kind, name, worlds):
    for nth in (1, 2, 3):
        assert worlds(kind).suffer(f"{name}:{action}:{nth}") in (0, 1, 70, 137)


def test_every_named_step_is_come_by(worlds):
    if len(hits) < len(KINDS) * len(NAMES):
        pytest.skip("not every step was tried in this run")
    missed = [name for name in NAMES if not any(hits[kind, name] for kind in KINDS)]
    assert not missed and len(NAMES) > 25


@pytest.mark.parametrize("kind", KINDS)
def test_the_outside_judges_find_nothing(kind, worlds, verify, fsck):
    it = worlds(kind).it
    if kind == "target":
        rejects = f"delta:{it.rejected}"
        fsck(it.rejected)
    else:
        path = it.folder / "rejects.csv"
        path.write_text("_kafka_partition,_kafka_offset\n" + "".join(
            f"{p},{o}\n" for (p, o), _ in worlds(kind).ledger.rejected_by(it)))
        rejects = f"csv:{path}"
    said = verify(it.topic, f"delta:{it.table}", "--json-cols", "id,s", "--also", rejects).stdout
    assert "lost=0, duplicated=0, altered=0, extra=0" in said
    fsck(it.table)
    assert it.positions() == worlds(kind).kafka.ends(it.topic)
