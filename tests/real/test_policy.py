"""What is done about bad rows: warn, reject, abort, limits, and values that may stand once."""
import pytest

from landing import Pipeline

COLUMNS = [{"name": "id", "type": "int64", "nullable": False}, ("amount", "float64")]


@pytest.fixture
def topic(kafka):
    topic = kafka.topic()
    kafka.produce(topic, [{"id": 0}, {"id": None, "amount": 1}, {"id": 2, "amount": "x"}, "bad",
                          {"id": 4, "amount": 4}])
    return topic


def test_warn_lands_faulty_rows_with_nulls_and_keeps_them_beside_as_well(
        forebay, kafka, topic, fsck):
    it = Pipeline(forebay, kafka.address, topic, COLUMNS, policy={"severity": "warn"})
    report = it.run()
    assert it.rows("id", "amount", "_kafka_offset") == [
        (0, None, 0), (None, 1.0, 1), (2, None, 2), (4, 4.0, 4)]
    assert report["status"] == "rejected"  # one had no columns at all
    assert (report["rows"]["warnings"], report["rows"]["rejected"]) == (2, 1)
    assert it.rejects("_kafka_offset", "severity") == [(1, "warn"), (2, "warn"), (3, "warn")]
    fsck(it.table)


def test_abort_stops_at_bad_rows_with_nothing_written(forebay, kafka, topic):
    it = Pipeline(forebay, kafka.address, topic, COLUMNS, policy={"severity": "abort"})
    report = it.fails("FB-V010", status=3)
    assert "3 rows" in report["error"]["what"] and f"{topic}[0]@1" in report["error"]["where"]
    assert it.version() == -1 and not it.rejected.exists() and not list(it.table.glob("*.parquet"))
    kafka.produce(topic, [{"id": 9}])
    report = it.run("--severity", "reject")
    assert (report["rows"]["written"], report["rows"]["rejected"]) == (3, 3)


def test_max_rejects_stops_a_run_that_rejects_more(forebay, kafka, topic):
    it = Pipeline(forebay, kafka.address, topic, COLUMNS, policy={"max_rejects": 2})
    it.fails("FB-V012", status=3)
    assert it.version() == -1 and not it.rejected.exists()
    it.change("policy", max_rejects=3)
    assert it.run()["rows"]["rejected"] == 3


def test_fail_on_reject_commits_and_exits_with_3(forebay, kafka, topic):
    it = Pipeline(forebay, kafka.address, topic, COLUMNS)
    it.run("--fail-on-reject=3", "--dry-run")
    report = it.fails("FB-V011", "--fail-on-reject", status=3)
    assert report["rows"]["written"] == 2 and report["status"] == "rejected"
    assert it.positions() == {0: 5} and len(it.rejects("_kafka_offset")) == 3
    it.run("--fail-on-reject")


@pytest.mark.parametrize("rejected", ["delta", "ndjson"])
def test_of_equal_values_the_lowest_place_wins_whatever_the_workers_did(
        rejected, forebay, kafka, fsck):
    """200,000 rows over 4 partitions; each value stands in two to five of them."""
    count, partitions, values = 200000, 4, 60000
    topic = kafka.topic(partitions=partitions)
    value_of = [(number * 7919) % values for number in range(count)]
    kafka.produce(topic, (b'{"id":%d,"s":"v%d"}' % (number, value)
                          for number, value in enumerate(value_of)),
                  partition=lambda n: n % partitions, key=b"k", headers=[("h", b"1")])
    it = Pipeline(forebay, kafka.address, topic,
                  [("id", "int64"), {"name": "s", "type": "string", "unique": True}],
                  rejected={"format": rejected})
    it.run()
    first = {}
    for partition in range(partitions):
        for offset, number in enumerate(range(partition, count, partitions)):
            first.setdefault(value_of[number], (partition, offset, number))
    assert it.rows("_kafka_partition", "_kafka_offset", "id") == sorted(first.values())
    if rejected == "delta":
        rows = it.arrow(it.rejected)
        fsck(it.rejected)
        row, = rows.slice(0, 1).to_pylist()
        error, = row["errors"]
        assert (error["reason"], error["column"], error["path"]) == ("unique", "s", "$.s")
        assert error["raw"].encode() in row["_kafka_value"] and row["_kafka_key"] == b"k"
        assert row["_kafka_headers"] == [{"key": "h", "value": b"1"}]
        found = rows.num_rows
    else:
        lines = [line for lines in it.reject_files().values() for line in lines]
        assert lines[0]["errors"][0]["reason"] == "unique"
        found = len(lines)
    assert found == count - values
    fsck(it.table)


def test_nulls_are_not_compared_and_only_accepted_rows_count_as_seen(forebay, kafka):
    topic = kafka.topic()
    kafka.produce(topic, [{"a": 1, "b": 1}, {"a": None, "b": None}, {"a": None},
                          {"a": 1, "b": 2},   # loses by a, so its b does not count
                          {"a": 2, "b": 2}, {"a": 3, "b": "x"}, {"a": 3, "b": 3}])
    it = Pipeline(forebay, kafka.address, topic, [{"name": name, "type": "int64", "unique": True}
                                                  for name in "ab"])
    it.run()
    assert it.rows("a", "b") == [(1, 1), (None, None), (None, None), (2, 2), (3, 3)]
    assert it.rejects("_kafka_offset") == [(3,), (5,)]


def test_warn_lands_repeated_values_and_notes_them(forebay, kafka):
    topic = kafka.topic()
    kafka.produce(topic, [{"a": 1}, {"a": 1}, {"a": 2}])
    it = Pipeline(forebay, kafka.address, topic, [{"name": "a", "type": "int64", "unique": True}],
                  policy={"severity": "warn"})
    report = it.run()
    assert it.rows("a") == [(1,), (1,), (2,)] and report["rows"]["warnings"] == 1
    assert report["status"] == "success_with_warnings"
    assert it.rejects("_kafka_offset", "severity") == [(1, "warn")]


@pytest.mark.parametrize("mismatch, landed", [
    ({}, [0, 1, 2]), ({"missing_columns": "reject"}, [0, 2]), ({"extra_columns": "reject"}, [0, 1])])
def test_missing_and_extra_columns_are_taken_or_rejected_by_choice(
        mismatch, landed, forebay, kafka):
    topic = kafka.topic()
    kafka.produce(topic, [{"id": 0, "b": 1}, {"id": 1}, {"id": 2, "b": 2, "c": 3}])
    it = Pipeline(forebay, kafka.address, topic, [("id", "int64"), ("b", "int64")],
                  schema={"mismatch": mismatch})
    it.run()
    assert [value for value, in it.rows("id")] == landed
