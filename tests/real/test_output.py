"""What a run says: its report, its log, its exit status, and who may run beside it."""
import json
import math
import os
import signal
import stat
import time

import pytest

from landing import Pipeline

ID = [("id", "int64")]
REPORT = {"schema", "run_id", "pipeline", "topic", "mode", "status", "exit_code", "started_at",
          "finished_at", "config", "version", "rows", "bytes", "files", "offsets", "target",
          "rejected_to", "checks", "stages_ms", "closed_by", "lag_after", "lost", "error"}


@pytest.fixture
def it(forebay, kafka):
    topic = kafka.topic(partitions=2)
    kafka.produce(topic, ["bad", *({"id": number} for number in range(9))],
                  partition=lambda n: n % 2)
    return Pipeline(forebay, kafka.address, topic, ID)


def test_a_column_that_left_the_configuration_is_spoken_of(forebay, kafka):
    topic = kafka.topic()
    kafka.produce(topic, [{"id": 1, "note": "a"}])
    landed = Pipeline(forebay, kafka.address, topic, [("id", "int64"), ("note", "string")])
    landed.run()
    landed.change("schema", columns=[{"name": "id", "type": "int64"}])
    kafka.produce(topic, [{"id": 2, "note": "b"}])
    assert 'column "note" of the table is not in the configuration' in landed.run()["stderr"]
    assert landed.rows("id", "note") == [(1, "a"), (2, None)]


def test_either_zero_keeps_its_sign(forebay, kafka):
    topic = kafka.topic()
    kafka.produce(topic, ['{"x": 0.0, "y": -0.0}', '{"x": -0.0, "y": 0.0}', '{"x": 0, "y": -0}'] * 50)
    landed = Pipeline(forebay, kafka.address, topic, [("x", "float64"), ("y", "float32")])
    assert "FB-P022" in landed.run("-vv")["stderr"]
    signs = [(math.copysign(1, x), math.copysign(1, y)) for x, y in landed.rows("x", "y")]
    assert signs == [(1, -1), (-1, 1), (1, -1)] * 50


def test_the_report_has_its_keys_and_its_books_balance(forebay, it):
    result = it.run("--run-id", "first", "--report", forebay.folder / "r.json")
    report = {key: value for key, value in result.items() if key not in ("stderr", "result")}
    assert set(report) == REPORT and report["schema"] == "forebay.report.v1"
    assert report["run_id"] == "first" and report["pipeline"] == "p" and report["topic"] == it.topic
    assert report["rows"]["read"] == 10 == report["rows"]["written"] + report["rows"]["rejected"]
    for book in report["offsets"]:
        assert book["to"] - book["from"] == book["delivered"] + book["gap"]
        assert book["delivered"] == book["written"] + book["rejected"] + book["filtered"]
    assert report["checks"] == [{"rule": "bad_json", "code": "FB-D002", "column": None,
                                 "severity": "reject", "violations": 1}]
    assert report["files"] == {"written": 1} and report["bytes"]["written"] > 0
    assert report["target"] == {"format": "delta", "uri": str(it.table), "version": 0}
    assert report["closed_by"] == "end" and report["lag_after"] == 0 and report["error"] is None
    for path in (forebay.folder / "r.json", forebay.folder / "reports" / "first.json"):
        assert json.loads(path.read_text()) == report
    assert '"bad"' not in json.dumps(report)


def test_no_more_reports_are_kept_than_asked_for(forebay, it):
    document = json.loads(it.file.read_text())
    document["report"]["keep"] = 3
    it.file.write_text(json.dumps(document))
    ids = [it.run()["run_id"] for _ in range(5)]
    assert sorted(path.stem for path in (forebay.folder / "reports").iterdir()) == ids[2:]


def test_the_log_is_json_line_by_line_when_asked(it):
    report = it.run("--log-format", "json", "-v")
    lines = [json.loads(line) for line in report["stderr"].splitlines()]
    events = [line["event"] for line in lines]
    assert events[0] == "run_started" or "run_started" in events
    end = [line for line in lines if line["event"] == "run_finished"][0]
    assert (end["rows"], end["rejected"], end["version"], end["exit_code"]) == (9, 1, 0, 0)
    assert all(line["ts"].endswith("Z") and line["level"] for line in lines)
    assert {line["run_id"] for line in lines if "run_id" in line} == {report["run_id"]}
    assert {line["pipeline"] for line in lines if "pipeline" in line} == {"p"}


def test_a_failure_says_what_state_the_data_is_in_and_what_to_do(forebay, kafka, it):
    it.pipeline["source"]["topic"] = it.topic + "x"
    it.write()
    report = it.fails("FB-K004")
    assert it.topic in report["error"]["do"]  # did you mean ...
    assert report["rows"]["read"] == 0 and it.version() == -1


def test_a_broker_that_is_not_there_is_said_in_time(it):
    it.connection["bootstrap_servers"] = "127.0.0.1:1"
    it.write()
    began = time.monotonic()
    it.fails("FB-K001", "--timeout-ms", 2000, status=5)
    assert time.monotonic() - began < 5


def test_a_second_run_is_kept_out_by_the_lock_or_waits_for_it(forebay, it):
    first = forebay.start(*it.arguments(), env={"FOREBAY_FAILPOINT": "run.read:sleep=3s"})
    time.sleep(1)
    report = it.fails("FB-L001", status=1)
    assert str(first.pid) in report["error"]["what"]
    assert it.run("--wait-lock", 30)["rows"]["read"] == 0
    assert first.wait(10) == 0 and len(it.rows("id")) == 9


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_commits_what_was_read_and_the_next_run_goes_on(how, forebay, kafka):
    topic = kafka.topic(partitions=4)
    kafka.produce(topic, (b'{"id":%d,"s":"%s"}' % (number, b"x" * 500) for number in range(300000)),
                  partition=lambda n: n % 4)
    it = Pipeline(forebay, kafka.address, topic, ID)
    process = forebay.start(*it.arguments("--json"))
    deadline = time.monotonic() + 20
    while not list(it.table.glob("*.parquet")) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(how)
    began = time.monotonic()
    report = json.loads(process.communicate(timeout=30)[0])
    assert time.monotonic() - began < 10
    assert report["rows"]["written"] == (len(it.rows("id")) if it.version() >= 0 else 0)
    it.run()
    assert sorted(value for value, in it.rows("id")) == list(range(300000))


def test_a_report_into_what_is_no_file_leaves_it_what_it_is(forebay, it):
    pipe = forebay.folder / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    it.run("--report", pipe)
    assert stat.S_ISFIFO(os.lstat(pipe).st_mode)
    assert json.loads(os.read(reader, 1 << 20))["rows"]["read"] == 10
    os.close(reader)


def test_a_reader_that_went_away_is_no_failure_and_a_full_disk_is_one(forebay, it):
    reader, writer = os.pipe()
    os.close(reader)
    process = forebay.start(*it.arguments("--json"), stdout=writer)
    os.close(writer)
    assert process.wait(30) == 0, process.stderr.read()
    with open("/dev/full", "w") as full:
        process = forebay.start(*it.arguments("--json"), stdout=full)
    assert process.wait(30) == 1
    said = process.stderr.read()
    assert "cannot write to standard output [FB-F002]" in said and "is done" in said


def test_nothing_of_the_users_environment_or_folder_is_left_behind(forebay, it):
    it.run()
    left = sorted(str(path.relative_to(forebay.folder)) for path in forebay.folder.rglob("*")
                  if path.is_file() and "lake" not in path.parts and "reports" not in path.parts)
    assert left == ["p.yml", "state/p/landed.json", "state/p/lock"]
    assert not [name for name in os.listdir(it.table) if name.endswith(".tmp")]
    assert sorted(os.listdir(it.table / "_delta_log")) == [f"{0:020}.json"]
