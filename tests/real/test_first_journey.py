"""A topic becomes a Delta table: values, places, rejected rows, and a second run that has
nothing to do."""
import base64
import datetime
import decimal
import time
import urllib.parse

import pytest

from landing import Pipeline

UTC = datetime.timezone.utc

# column, type, text of the value in the message, what is in the table
FLAT = [
    ("c_string", "string", '"naïve ☂ 𝄞 \\u0000 \\ud83d\\ude00"', "naïve ☂ 𝄞 \0 😀"),
    ("c_empty", "string", '""', ""),
    ("c_bool", "boolean", "true", True),
    ("c_int8", "int8", "-128", -128),
    ("c_int16", "int16", "32767", 32767),
    ("c_int32", "int32", "-2147483648", -2147483648),
    ("c_int64", "int64", "9223372036854775807", 9223372036854775807),
    ("c_exact", "int64", "1e3", 1000),
    ("c_uint8", "uint8", "255", 255),
    ("c_uint16", "uint16", "65535", 65535),
    ("c_uint32", "uint32", "4294967295", 4294967295),
    ("c_uint64", "uint64", "18446744073709551615", decimal.Decimal("18446744073709551615")),
    ("c_float32", "float32", "1.5", 1.5),
    ("c_float64", "float64", "0.1", 0.1),
    ("c_minus_zero", "float64", "-0.0", -0.0),
    ("c_decimal", "decimal(38,2)", "-123456789012345678901234567890123456.78",
     decimal.Decimal("-123456789012345678901234567890123456.78")),
    ("c_date", "date", '"2026-02-28"', datetime.date(2026, 2, 28)),
    ("c_time", "time", '"13:59:58.123456"', "13:59:58.123456"),
    ("c_timestamp", "timestamp", '"2026-11-29T14:44:09.123456+01:00"',
     datetime.datetime(2026, 11, 29, 13, 44, 9, 123456, tzinfo=UTC)),
    ("c_before_1970", "timestamp", '"1969-12-31T23:59:59.999999Z"',
     datetime.datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)),
    ("c_local", "timestamp_ntz", '"2026-11-29T14:44:09"', datetime.datetime(2026, 11, 29, 14, 44, 9)),
    ("c_binary", "binary", '"%s"' % base64.b64encode(b"\x00\xff bytes").decode(), b"\x00\xff bytes"),
    ("c_uuid", "uuid", '"0188FFEE-0000-7000-8000-00000000AbCd"',
     "0188ffee-0000-7000-8000-00000000abcd"),
    ("c_json", "json", '{"a": [1, 2.50, null]}', '{"a":[1,2.50,null]}'),
]
BAD_VALUES = [
    (b"not json", ["bad_json"]),
    (b"", ["empty_value"]),
    (b"[1]", ["not_object"]),
    (b'{"id":"\xff\xfe"}', ["bad_utf8"]),
    (b'{"id":1,"id":2}', ["duplicate_key"]),
    (b'{"id":1.5}', ["cast_error"]),
    (b'{"id":9223372036854775808}', ["out_of_range"]),
    (b'{"amount":"abc"}', ["cast_error", "not_null"]),
]


@pytest.fixture(scope="module")
def flat_topic(kafka):
    topic = kafka.topic()
    values = "{%s}" % ",".join(f'"{name}":{text}' for name, _, text, _ in FLAT)
    kafka.produce(topic, [values, "{}"])
    return topic


@pytest.fixture
def flat(forebay, kafka, flat_topic):
    return Pipeline(forebay, kafka.address, flat_topic, [(name, kind) for name, kind, _, _ in FLAT])


def test_every_flat_type_arrives_exactly(flat, fsck):
    report = flat.run()
    assert report["rows"] == {"read": 2, "written": 2, "rejected": 0, "dead_letters": 0,
                              "filtered": 0, "warnings": 0}
    full, empty = flat.rows(*(name for name, *_ in FLAT))
    for (name, _, _, value), got in zip(FLAT, full):
        assert got == value and str(got) == str(value), name
    assert set(empty) == {None}
    fsck(flat.table)



def test_deltalake_duckdb_and_pyarrow_read_the_same_rows(flat):
    import duckdb
    import pyarrow.parquet
    flat.run()
    by_deltalake = flat.arrow().to_pylist()
    files = [urllib.parse.unquote(urllib.parse.urlparse(uri).path) for uri in flat.delta().file_uris()]
    by_pyarrow = [row for file in files for row in pyarrow.parquet.read_table(file).to_pylist()]
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    by_duckdb = connection.execute("FROM read_parquet(?)", [files]).to_arrow_table().to_pylist()
    assert len(by_deltalake) == 2
    assert repr(by_pyarrow) == repr(by_deltalake)
    assert repr(by_duckdb) == repr(by_deltalake)


def test_metadata_columns_hold_the_place_the_time_the_key_and_the_headers(forebay, kafka):
    topic = kafka.topic(partitions=2)
    headers = [("t", b"1"), ("t", b"2"), ("n", None), ("e", b""), ("bin", b"\xff\x00")]
    kafka.produce(topic, [{"id": 1}, None, {"id": 2}], partition=1, timestamp=1700000000123,
                  key=lambda n: [b"\x00\xff", b"", None][n], headers=lambda n: headers if n == 0 else [])
    kafka.produce(topic, [{"id": 3}], partition=0, timestamp=1700000000999, key=b"null")
    it = Pipeline(forebay, kafka.address, topic, [("id", "int64")], source={
        "metadata": ["topic", "partition", "offset", "timestamp", "timestamp_type", "key", "headers"]})
    it.run()
    rows = it.rows("id", "_kafka_topic", "_kafka_partition", "_kafka_offset", "_kafka_timestamp",
                   "_kafka_timestamp_type", "_kafka_key")
    assert rows == [(3, topic, 0, 0, 1700000000999, "create", b"null"),
                    (1, topic, 1, 0, 1700000000123, "create", b"\x00\xff"),
                    (None, topic, 1, 1, 1700000000123, "create", b""),
                    (2, topic, 1, 2, 1700000000123, "create", None)]
    assert [row[0] for row in it.rows("_kafka_headers")] == [
        [], [{"key": key, "value": value} for key, value in headers], [], []]


def test_the_broker_may_be_the_one_that_sets_the_time(forebay, kafka):
    topic = kafka.topic(message_timestamp_type="LogAppendTime")
    kafka.produce(topic, [{"id": 1}])
    it = Pipeline(forebay, kafka.address, topic, [("id", "int64")],
                  source={"metadata": ["timestamp", "timestamp_type"]})
    it.run()
    (when, kind), = it.rows("_kafka_timestamp", "_kafka_timestamp_type")
    assert kind == "append" and abs(when / 1000 - time.time()) < 60


def mixed(forebay, kafka, **more):
    """A topic of good rows, one after each bad one, and the pipeline for it."""
    topic = kafka.topic()
    values = [value for number, (bad, _) in enumerate(BAD_VALUES) for value in (bad, {"id": number})]
    kafka.produce(topic, values, key=b"k\xff", headers=[("h", b"\xff"), ("h", None)])
    return Pipeline(forebay, kafka.address, topic,
                    [{"name": "id", "type": "int64", "nullable": False}, ("amount", "float64")],
                    **more)


def test_bad_records_are_set_aside_with_bytes_reasons_and_headers_and_good_ones_land(
        forebay, kafka, fsck):
    it = mixed(forebay, kafka)
    report = it.run()
    count = len(BAD_VALUES)
    assert report["status"] == "rejected" and report["exit_code"] == 0
    assert report["rows"]["written"] == report["rows"]["rejected"] == count
    assert it.rows("id", "_kafka_offset") == [(n, 2 * n + 1) for n in range(count)]
    rejects = it.rejects("_kafka_offset", "_kafka_value", "_kafka_key", "_kafka_headers", "errors",
                         "_kafka_topic", "pipeline", "run_id", "severity")
    for number, (bad, reasons) in enumerate(BAD_VALUES):
        offset, value, key, headers, errors, topic, pipeline, run_id, severity = rejects[number]
        assert (offset, value, key) == (2 * number, bad, b"k\xff")
        assert headers == [{"key": "h", "value": b"\xff"}, {"key": "h", "value": None}]
        assert [error["reason"] for error in errors] == reasons, bad
        assert all(error["code"] and error["message"] for error in errors)
        assert (topic, pipeline, run_id, severity) == (it.topic, "p", report["run_id"], "reject")
    fsck(it.table)
    fsck(it.rejected)


def test_bad_records_may_be_kept_as_json_lines(forebay, kafka):
    it = mixed(forebay, kafka, rejected={"format": "ndjson"})
    it.run()
    (name, lines), = it.reject_files().items()
    assert name == f"p.{it.topic}-0-{0:020}.ndjson"
    for number, (bad, reasons) in enumerate(BAD_VALUES):
        line = lines[number]
        value = line["_kafka_value"]
        value = base64.b64decode(line["_kafka_value_base64"]) if value is None else value.encode()
        assert (line["_kafka_offset"], value) == (2 * number, bad)
        assert base64.b64decode(line["_kafka_key_base64"]) == b"k\xff"
        assert line["_kafka_headers"] == [{"key": "h", "value_base64": "/w=="},
                                          {"key": "h", "value_base64": None}]
        assert [error["reason"] for error in line["errors"]] == reasons


def test_all_headers_of_a_rejected_record_are_kept(forebay, kafka):
    headers = [(f"h{number}", b"%d" % number) for number in range(2000)]
    topic = kafka.topic()
    kafka.produce(topic, ["bad"], headers=headers)
    it = Pipeline(forebay, kafka.address, topic, [("id", "int64")])
    it.run()
    (kept,), = it.rejects("_kafka_headers")
    assert [(one["key"], one["value"]) for one in kept] == headers


def test_a_topic_of_the_longest_name_lands_and_its_rejects_too(forebay, kafka):
    topic = kafka.topic("t" * 249)
    kafka.produce(topic, ["x", {"id": 1}])
    it = Pipeline(forebay, kafka.address, topic, [("id", "int64")], rejected={"format": "ndjson"})
    it.run()
    assert it.rows("id") == [(1,)]
    assert [len(lines) for lines in it.reject_files().values()] == [1]


@pytest.mark.parametrize("form", ["raw", "text"])
def test_raw_and_text_keep_the_whole_value_in_one_column(form, forebay, kafka, verify):
    values = [b"plain", None, b"", '{"a":1}', "☂ \0".encode(), b"\xff\xfe\x00"]
    topic = kafka.topic()
    kafka.produce(topic, values)
    it = Pipeline(forebay, kafka.address, topic, source={"message_format": form})
    report = it.run()
    rows = [value for value, in it.rows("value")]
    if form == "raw":
        assert rows == [value.encode() if isinstance(value, str) else value for value in values]
        verify(topic, f"delta:{it.table}", "--payload-col", "value")
    else:
        assert rows == ["plain", None, "", '{"a":1}', "☂ \0"]
        assert report["rows"]["rejected"] == 1
        assert it.rejects("_kafka_value") == [(b"\xff\xfe\x00",)]


@pytest.mark.parametrize("policy, ids, filtered, rejected", [
    ("land", [1, None, 2], 0, 0), ("skip", [1, 2], 1, 0), ("reject", [1, 2], 0, 1)])
def test_tombstones_land_are_skipped_or_are_rejected_by_choice(
        policy, ids, filtered, rejected, forebay, kafka):
    topic = kafka.topic()
    kafka.produce(topic, [{"id": 1}, None, {"id": 2}], key=b"k")
    it = Pipeline(forebay, kafka.address, topic, [("id", "int64")], schema={"tombstones": policy})
    report = it.run()
    assert [value for value, in it.rows("id")] == ids
    assert (report["rows"]["filtered"], report["rows"]["rejected"]) == (filtered, rejected)
    if rejected:
        assert it.rejects("_kafka_value", "_kafka_key") == [(None, b"k")]


def test_a_second_run_reads_nothing_and_writes_no_version(forebay, kafka):
    it = mixed(forebay, kafka)
    it.run()
    before = it.log(), it.log(it.rejected)
    report = it.run()
    assert report["rows"]["read"] == 0 and report["target"]["version"] == 0
    assert (it.log(), it.log(it.rejected)) == before
    it.run("--empty-exit-code", 99, status=99)


def test_an_empty_topic_ends_at_once_with_nothing_written(forebay, kafka):
    it = Pipeline(forebay, kafka.address, kafka.topic(partitions=6), [("id", "int64")])
    began = time.monotonic()
    report = it.run()
    assert time.monotonic() - began < 3
    assert report["status"] == "success" and report["rows"]["read"] == 0
    assert report["target"]["version"] is None and not it.table.exists() and not it.rejected.exists()


def test_max_messages_is_exact_and_chained_runs_read_on(forebay, kafka, verify):
    topic = kafka.topic(partitions=3)
    kafka.produce(topic, [{"id": number} for number in range(3000)], partition=lambda n: n % 3)
    it = Pipeline(forebay, kafka.address, topic, [("id", "int64")])
    for many in (1, 999, 1000, 500):
        report = it.run("--max-messages", many)
        assert report["rows"]["read"] == many and report["closed_by"] == "max_messages"
    report = it.run()
    assert report["rows"]["read"] == 500 and report["lag_after"] == 0
    assert sorted(value for value, in it.rows("id")) == list(range(3000))
    verify(topic, f"delta:{it.table}", "--json-cols", "id")


def test_max_messages_is_exact_for_many_workers_and_a_long_backlog(forebay, kafka):
    topic = kafka.topic(partitions=4)
    kafka.produce(topic, (b'{"id":%d}' % number for number in range(200000)), partition=lambda n: n % 4)
    it = Pipeline(forebay, kafka.address, topic, [("id", "int64")])
    assert it.run("--max-messages", 123457)["rows"]["read"] == 123457
    assert it.run()["rows"]["read"] == 200000 - 123457
    assert sorted(value for value, in it.rows("id")) == list(range(200000))


def test_messages_larger_than_a_fetch_land_between_small_ones(forebay, kafka, verify):
    topic = kafka.topic(max_message_bytes=5 << 20)
    large = {"id": 1, "s": "x" * (3 << 20)}
    kafka.produce(topic, [{"id": 0}, large, {"id": 2}, large, {"id": 4}],
                  message_max_bytes=5 << 20)
    it = Pipeline(forebay, kafka.address, topic, [("id", "int64"), ("s", "string")])
    it.run("-X", "fetch.max.bytes=1048576")
    assert [(number, len(text or "")) for number, text in it.rows("id", "s")] == [
        (0, 0), (1, 3 << 20), (2, 0), (1, 3 << 20), (4, 0)]
    verify(topic, f"delta:{it.table}", "--json-cols", "id,s")


def test_a_message_above_the_limit_is_rejected_and_those_behind_it_land(forebay, kafka):
    topic = kafka.topic(max_message_bytes=5 << 20)
    kafka.produce(topic, [{"id": 0}, {"id": 1, "s": "x" * (2 << 20)}, {"id": 2}],
                  message_max_bytes=5 << 20)
    it = Pipeline(forebay, kafka.address, topic, [("id", "int64")],
                  source={"max_message_bytes": 1 << 20})
    it.run()
    assert it.rows("id") == [(0,), (2,)]
    (errors, value), = it.rejects("errors", "_kafka_value")
    assert errors[0]["reason"] == "too_large" and len(value) > 2 << 20
