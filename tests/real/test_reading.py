"""What of a topic is read: committed records only, gaps counted, ranges asked for, partitions
that came later."""
import time

import pytest

from landing import Pipeline

ID = [("id", "int64")]


def ids(it):
    return [value for value, in it.rows("id")]


def numbers(first, count):
    return [{"id": number} for number in range(first, first + count)]


def test_aborted_records_never_land_and_are_counted_as_gaps(forebay, kafka, verify):
    topic = kafka.topic()
    for first, how in ((0, "commit"), (10, "abort"), (20, "commit"), (30, None), (40, "abort")):
        kafka.produce(topic, numbers(first, 10), transaction=how)
    it = Pipeline(forebay, kafka.address, topic, ID)
    report = it.run()
    assert ids(it) == [*range(0, 10), *range(20, 40)]
    book, = report["offsets"]
    end = kafka.ends(topic)[0]
    assert (book["from"], book["to"]) == (0, end) and end == 54  # 50 records and 4 markers
    assert report["rows"]["read"] == 30 and book["gap"] == 24
    assert it.commit_info()["books"] == report["offsets"]
    assert it.positions() == {0: end} and report["lag_after"] == 0
    assert it.run()["rows"]["read"] == 0 and it.version() == 0
    verify(topic, f"delta:{it.table}", "--json-cols", "id")


def test_a_topic_that_ends_in_an_aborted_transaction_has_no_lag_left(forebay, kafka):
    topic = kafka.topic()
    kafka.produce(topic, numbers(0, 3))
    it = Pipeline(forebay, kafka.address, topic, ID)
    it.run()
    kafka.produce(topic, numbers(3, 5), transaction="abort")
    report = it.run()
    assert report["rows"]["read"] == 0 and report["lag_after"] == 0
    assert it.positions() == {0: kafka.ends(topic)[0]}
    before = it.version()
    it.run()
    assert it.version() == before and ids(it) == [0, 1, 2]


def test_an_open_transaction_is_the_end_until_it_is_closed(forebay, kafka):
    from confluent_kafka import Producer
    topic = kafka.topic()
    kafka.produce(topic, numbers(0, 3))
    producer = Producer(kafka.client(transactional_id=topic))
    producer.init_transactions(30)
    producer.begin_transaction()
    for number in range(3, 6):
        producer.produce(topic, b'{"id":%d}' % number, partition=0)
    producer.flush(30)
    kafka.produce(topic, numbers(6, 3))
    it = Pipeline(forebay, kafka.address, topic, ID)
    began = time.monotonic()
    assert it.run()["rows"]["read"] == 3 and time.monotonic() - began < 4
    producer.commit_transaction(30)
    assert it.run()["rows"]["read"] == 6 and ids(it) == list(range(9))


def test_the_gaps_of_a_compacted_topic_are_counted_and_nothing_waits_for_them(forebay, kafka, verify):
    topic = kafka.topic(cleanup_policy="compact", segment_ms=100, min_cleanable_dirty_ratio=0.01,
                        max_compaction_lag_ms=100, delete_retention_ms=100)
    kafka.produce(topic, numbers(0, 300), key=lambda n: b"k%d" % (n % 3))
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:  # the cleaner needs a closed segment
        time.sleep(1)
        kafka.produce(topic, [{"id": 1000}], key=b"more")
        left = records(kafka, topic)
        if len(left) < 200:
            break
    else:
        pytest.fail("the broker did not compact the topic")
    it = Pipeline(forebay, kafka.address, topic, ID)
    report = it.run()
    book, = report["offsets"]
    assert book["gap"] == book["to"] - book["from"] - report["rows"]["read"] > 0
    assert report["lag_after"] == 0
    verify(topic, f"delta:{it.table}", "--json-cols", "id", "--compacted")


def records(kafka, topic):
    """The offsets of partition 0 that a reader gets."""
    from confluent_kafka import Consumer, TopicPartition
    reader = Consumer(kafka.client(group_id="records", enable_partition_eof=True))
    reader.assign([TopicPartition(topic, 0, 0)])
    found = []
    while True:
        message = reader.poll(10)
        if message is None or message.error():
            break
        found.append(message.offset())
    reader.close()
    return found


def add_partition(kafka, topic, count):
    from confluent_kafka.admin import NewPartitions
    admin = kafka.admin()
    admin.create_partitions([NewPartitions(topic, count)])[topic].result(30)


def test_latest_begins_at_the_end_once_and_reads_what_comes_from_then_on(forebay, kafka, fsck):
    topic = kafka.topic(partitions=2)
    kafka.produce(topic, numbers(0, 5))
    it = Pipeline(forebay, kafka.address, topic, ID, source={"auto_offset_reset": "latest"})
    assert it.run()["rows"]["read"] == 0
    assert it.positions() == {0: 5, 1: 0}
    kafka.produce(topic, numbers(5, 10), partition=lambda n: n % 2)
    assert it.run()["rows"]["read"] == 10
    assert sorted(ids(it)) == list(range(5, 15))
    assert it.run()["rows"]["read"] == 0 and it.version() == 1
    fsck(it.table)


def test_a_partition_added_later_is_read_from_its_start(forebay, kafka, verify):
    topic = kafka.topic()
    kafka.produce(topic, numbers(0, 10))
    it = Pipeline(forebay, kafka.address, topic, ID)
    it.run()
    it.change("source", auto_offset_reset="latest")
    add_partition(kafka, topic, 2)
    kafka.produce(topic, numbers(10, 10), partition=1)
    assert it.run()["rows"]["read"] == 10
    assert it.positions() == {0: 10, 1: 10}
    verify(topic, f"delta:{it.table}", "--json-cols", "id")


def test_auto_offset_reset_says_where_a_first_run_begins(forebay, kafka):
    topic = kafka.topic()
    kafka.produce(topic, numbers(0, 5))
    it = Pipeline(forebay, kafka.address, topic, ID, source={"auto_offset_reset": "error"})
    it.fails("FB-O005")
    assert it.version() == -1
    it.change("source", auto_offset_reset="earliest")
    it.run()
    it.change("source", auto_offset_reset="error")
    kafka.produce(topic, numbers(5, 5))
    it.run()
    assert ids(it) == list(range(10))


@pytest.fixture
def timed(forebay, kafka):
    """Two partitions, ten records each, one a second from 2026-01-01."""
    topic = kafka.topic(partitions=2, retention_ms=-1)
    for partition in (0, 1):
        kafka.produce(topic, numbers(10 * partition, 10), partition=partition,
                      timestamp=lambda n: 1767225600000 + 1000 * n)
    return Pipeline(forebay, kafka.address, topic, ID)


def test_a_range_is_read_by_offset_by_time_and_by_partition(timed):
    def read(*options):
        report = timed.run("--no-commit", *options)
        return {book["partition"]: (book["from"], book["to"]) for book in report["offsets"]}

    assert read("--from", "0:2,1:4", "--to", "0:5,1:6") == {0: (2, 5), 1: (4, 6)}
    assert ids(timed) == [2, 3, 4, 14, 15]
    assert read("--from", "2026-01-01T00:00:03Z", "--to", "2026-01-01T00:00:05Z") == {
        0: (3, 5), 1: (3, 5)}
    assert read("--from", "earliest", "--partitions", "1", "--max-messages", 1) == {1: (0, 1)}
    assert read("--from", "latest") == {}
    assert timed.positions() == {}
    assert timed.run("--partitions", 1, "--to", "1:7")["rows"]["read"] == 7
    assert timed.positions() == {1: 7}
    assert timed.run()["rows"]["read"] == 13
    assert timed.positions() == {0: 10, 1: 10}


def test_a_read_from_elsewhere_must_leave_the_positions(timed):
    timed.run("--from", "earliest", status=2)
    assert timed.version() == -1


def test_no_commit_writes_rows_and_keeps_the_positions(timed):
    timed.run()
    kept = timed.positions()
    report = timed.run("--from", "earliest", "--no-commit")
    assert report["rows"]["written"] == 20 and timed.positions() == kept
    assert sorted(ids(timed)) == sorted([*range(20)] * 2)
    assert timed.run()["rows"]["read"] == 0


def test_a_dry_run_reads_and_checks_and_writes_nothing(forebay, kafka, timed):
    kafka.produce(timed.topic, ["bad"])
    report = timed.run("--dry-run")
    assert report["mode"] == "dry-run"
    assert (report["rows"]["read"], report["rows"]["rejected"]) == (21, 1)
    assert not timed.table.exists() and not timed.rejected.exists()
    assert not (forebay.folder / "state").exists() and not (forebay.folder / "reports").exists()
    assert timed.run()["rows"]["read"] == 21


def test_incremental_mode_none_reads_everything_each_time(timed):
    timed.pipeline["incremental_mode"] = "none"
    timed.write()
    for _ in range(2):
        assert timed.run()["rows"]["written"] == 20
    assert sorted(ids(timed)) == sorted([*range(20)] * 2)
