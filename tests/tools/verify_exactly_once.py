#!/usr/bin/env python3
"""Compare a Kafka topic with the table it was moved into: nothing lost, nothing twice, nothing altered.

  verify_exactly_once.py --brokers 127.0.0.1:9092 --topic t --table SPEC [options]

SPEC     delta:/path/or/uri        Delta table (own log replay; --engine deltalake for other stores)
         parquet:/dir              every *.parquet below dir
         duckdb:/file.db#table     DuckDB file
         postgres:DSN#table        PostgreSQL
         csv:/file                 partition,offset[,payload]
Payload  --payload-col C           column C holds the message value as it was (bytes or text)
         --checksum-col C          column C holds a checksum of it (--checksum crc32|sha256|md5|adler32)
         --json-cols a,b=$.x.y     the value is JSON: these columns (name or column=path) hold its parts
         (none)                    positions only
Other    --partition-col _kafka_partition  --offset-col _kafka_offset  --topic-col C (rows of one topic)
         --key-col C               the key too
         --also SPEC               a second table that may hold the row instead (rejected rows); repeatable
         --isolation read_committed|read_uncommitted     --conf key=value ... (security.*, ...)
         --start p:o,...  --end p:o,...    compare only this range (end excluded)
         --compacted      the topic is compacted: rows of records that it no longer has are not 'extra'
         --json           a JSON report on standard output, and nothing else
Last line: lost=N, duplicated=N, altered=N, extra=N (rows=N, messages=N, gaps=N)
Exit 0 when lost, duplicated, altered and extra are all 0; 1 when not; 2 when it cannot be told.

lost        a message that a consumer with this isolation level sees, and no row
duplicated  rows beyond the first with the same (partition, offset), summed
altered     payload differs from the message's
extra       a row at an offset where such a consumer sees nothing: an aborted message, a control record,
            or an offset past the end ('aborted-or-control' and 'beyond-end' are counted apart). Rows below
            the log's start (retention) cannot be checked: 'expired', not an error.
gaps        offsets the log itself skips (transaction markers, aborted, compacted): not an error

It shares no code with forebay and judges it from outside.
"""
import argparse
import csv
import datetime
import decimal
import glob
import hashlib
import json
import math
import os
import sys
import time
import urllib.parse
import uuid
import zlib
from collections import defaultdict

FAULTS = ("lost", "duplicated", "altered", "extra")
NOTES = ("gaps", "expired", "compacted")
CHECKSUMS = {
    "crc32": lambda value: str(zlib.crc32(value)),
    "adler32": lambda value: str(zlib.adler32(value)),
    "sha256": lambda value: hashlib.sha256(value).hexdigest(),
    "md5": lambda value: hashlib.md5(value).hexdigest(),
}


class Untold(Exception):
    """The comparison could not be made."""


# --- payloads: a message and a row are the same when 64 bits of both are ---------------------------


def digest(value):
    """64 bits of a value; None (a tombstone) is a value of its own."""
    if value is None:
        return 0
    return int.from_bytes(hashlib.blake2b(value, digest_size=8).digest(), "big") | 1


def canonical(value):
    """A JSON or column value as text that is equal when the values are equal."""
    if value is None:
        return "~"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if math.isnan(value):
            return "nan"
        return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)
    if isinstance(value, decimal.Decimal):
        return format(value.normalize(), "f")
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value).decode("utf-8", "surrogateescape")
    if isinstance(value, datetime.datetime):
        value = value.astimezone(datetime.timezone.utc).replace(tzinfo=None) if value.tzinfo else value
        return value.isoformat()
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, uuid.UUID):
        return str(value)
    if isinstance(value, dict):
        return "{" + ",".join("%s:%s" % (key, canonical(value[key])) for key in sorted(value)) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(canonical, value)) + "]"
    return str(value)


def part_of(document, path):
    """What stands at a path of names and indexes, or None."""
    for name in path:
        if isinstance(document, dict):
            document = document.get(name)
        elif isinstance(document, list) and name.isdigit() and int(name) < len(document):
            document = document[int(name)]
        else:
            return None
    return document


def as_bytes(text):
    return text.encode("utf-8", "surrogateescape")


class Payload:
    """How rows tell what their message was; one subclass for each way."""

    columns = []

    def of_message(self, value, key):
        return 1

    def of_row(self, values):
        return 1


class WholeValue(Payload):
    def __init__(self, column):
        self.columns = [column]

    def of_message(self, value, key):
        return digest(value)

    def of_row(self, values):
        value = values[0]
        if value is None:
            return digest(None)
        return digest(as_bytes(value) if isinstance(value, str) else bytes(value))


class Checksum(Payload):
    def __init__(self, column, kind):
        self.columns = [column]
        self.checksum = CHECKSUMS[kind]

    def of_message(self, value, key):
        return digest(self.checksum(value or b"").encode())

    def of_row(self, values):
        value = values[0]
        if isinstance(value, (bytes, memoryview)):
            return digest(value.hex().encode())
        return digest(str(value & 0xFFFFFFFF if isinstance(value, int) else value).lower().encode())


class JsonParts(Payload):
    def __init__(self, text):
        self.columns, self.paths = [], []
        for item in text.split(","):
            column, _, path = item.partition("=")
            self.columns.append(column)
            self.paths.append((path or column).removeprefix("$.").split("."))

    def of_message(self, value, key):
        try:
            document = json.loads(value) if value is not None else None
        except ValueError:
            document = None
        return self.of_row([part_of(document, path) for path in self.paths])

    def of_row(self, values):
        return digest(as_bytes("\x1f".join(map(canonical, values))))


class WithKey(Payload):
    """Another way, and the key as well."""

    def __init__(self, inner, column):
        self.inner = inner
        self.columns = inner.columns + [column]

    def of_message(self, value, key):
        return self.joined(self.inner.of_message(value, key), key)

    def of_row(self, values):
        key = as_bytes(values[-1]) if isinstance(values[-1], str) else values[-1]
        return self.joined(self.inner.of_row(values[:-1]), key)

    @staticmethod
    def joined(payload, key):
        return payload ^ (digest(key) << 1 & 0xFFFFFFFFFFFFFFFF)


def payload_of(options):
    if options.payload_col:
        payload = WholeValue(options.payload_col)
    elif options.checksum_col:
        payload = Checksum(options.checksum_col, options.checksum)
    elif options.json_cols:
        payload = JsonParts(options.json_cols)
    else:
        payload = Payload()
    return WithKey(payload, options.key_col) if options.key_col else payload


# --- the table ----------------------------------------------------------------------------------------


def partition_value(value):
    """A value out of a path or the log: whole numbers are numbers."""
    return int(value) if value is not None and value.lstrip("-").isdigit() else value


def parquet_rows(path, columns, fixed):
    """Rows of one file; a column that it does not have is `fixed` for all of them."""
    import pyarrow.parquet as pq
    file = pq.ParquetFile(path)
    present = set(file.schema_arrow.names)
    for batch in file.iter_batches(columns=[name for name in columns if name in present]):
        yield from zip(*(batch.column(name).to_pylist() if name in present
                         else [partition_value(fixed.get(name))] * batch.num_rows for name in columns))


def read_checkpoint(log, names):
    """The actions of the newest complete checkpoint and its version; ([], -1) without one."""
    import pyarrow.parquet as pq
    checkpoints = defaultdict(list)
    for name in names:
        if ".checkpoint" in name and name[:20].isdigit() and name.endswith((".parquet", ".json")):
            checkpoints[int(name[:20])].append(name)
    for version in sorted(checkpoints, reverse=True):
        every = sorted(checkpoints[version])
        parts = [name for name in every if name.count(".") == 4 and name.endswith(".parquet")]
        whole = [name for name in every if name not in parts]
        if whole:
            parts = whole[:1]
        elif len(parts) != int(parts[0].split(".")[3]):
            continue
        rows = []
        for name in parts:
            path = os.path.join(log, name)
            if name.endswith(".json"):
                with open(path) as lines:
                    part = [json.loads(line) for line in lines]
            else:
                part = pq.read_table(path).to_pylist()
            for row in part:
                if row.get("sidecar"):
                    sidecar = os.path.basename(urllib.parse.unquote(row["sidecar"]["path"]))
                    rows += pq.read_table(os.path.join(log, "_sidecars", sidecar)).to_pylist()
            rows += part
        return rows, version
    return [], -1


class DeltaFiles:
    """The live files of a local Delta table: log replay, no library."""

    def __init__(self, root):
        self.live, self.meta = {}, None
        log = os.path.join(root, "_delta_log")
        if not os.path.isdir(log):
            raise Untold("no _delta_log in " + root)
        names = os.listdir(log)
        rows, first = read_checkpoint(log, names)
        for row in rows:
            self.apply(row)
        versions = sorted(int(name[:20]) for name in names
                          if len(name) == 25 and name.endswith(".json") and name[:20].isdigit())
        versions = [version for version in versions if version > first]
        if versions != list(range(first + 1, first + 1 + len(versions))):
            raise Untold("the log has a gap after version %d" % first)
        for version in versions:
            with open(os.path.join(log, "%020d.json" % version)) as lines:
                actions = [json.loads(line) for line in lines if line.strip()]
            for row in sorted(actions, key=lambda row: not row.get("remove")):  # removes first
                self.apply(row)

    def apply(self, row):
        self.meta = row.get("metaData") or self.meta
        for kind in ("remove", "add"):
            action = row.get(kind)
            if not action:
                continue
            vector = action.get("deletionVector") or {}
            key = action["path"], vector.get("pathOrInlineDv"), vector.get("offset")
            if kind == "remove":
                self.live.pop(key, None)
            elif vector:
                raise Untold("a file has a deletion vector; use --engine deltalake")
            else:
                self.live[key] = action

    def physical(self, columns):
        """The names of the columns inside the files."""
        configuration = dict((self.meta or {}).get("configuration") or {})
        if configuration.get("delta.columnMapping.mode", "none") == "none":
            return columns
        names = {field["name"]: field["metadata"]["delta.columnMapping.physicalName"]
                 for field in json.loads(self.meta["schemaString"])["fields"]}
        return [names.get(column, column) for column in columns]


def delta_rows(root, columns):
    files = DeltaFiles(root)
    physical = files.physical(columns)
    for action in files.live.values():
        path = os.path.join(root, urllib.parse.unquote(action["path"]))
        yield from parquet_rows(path, physical, dict(action.get("partitionValues") or {}))


def deltalake_rows(uri, columns):
    import pyarrow as pa
    from deltalake import DeltaTable, QueryBuilder
    query = "select %s from t" % ",".join(map(quoted, columns))
    for batch in pa.table(QueryBuilder().register("t", DeltaTable(uri)).execute(query)).to_batches():
        yield from zip(*(batch.column(number).to_pylist() for number in range(len(columns))))


def folder_rows(folder, columns):
    paths = [folder]
    if os.path.isdir(folder):
        paths = sorted(glob.glob(os.path.join(glob.escape(folder), "**", "*.parquet"), recursive=True))
    if not paths:
        raise Untold("no parquet file in " + folder)
    for path in paths:
        if "_delta_log" not in path:
            names = (part.split("=", 1) for part in path.split("/") if "=" in part)
            yield from parquet_rows(path, columns, {key: urllib.parse.unquote(value) for key, value in names})


def duckdb_rows(spec, columns):
    import duckdb
    path, _, table = spec.rpartition("#")
    cursor = duckdb.connect(path, read_only=True).execute(selection(columns, table))
    while True:
        rows = cursor.fetchmany(50000)
        if not rows:
            return
        yield from rows


def postgres_rows(spec, columns):
    import psycopg
    address, _, table = spec.rpartition("#")
    with psycopg.connect(address) as connection, connection.cursor(name="verify") as cursor:
        cursor.itersize = 50000
        yield from cursor.execute(selection(columns, table))


def csv_rows(path, columns):
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            yield tuple(int(row[name]) if name in columns[:2] else row[name] for name in columns)


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def selection(columns, table):
    return "select %s from %s" % (",".join(map(quoted, columns)), ".".join(map(quoted, table.split("."))))


def table_rows(spec, columns, engine):
    kind, _, rest = spec.partition(":")
    readers = {"delta": delta_rows if engine == "raw" else deltalake_rows, "parquet": folder_rows,
               "duckdb": duckdb_rows, "postgres": postgres_rows, "csv": csv_rows}
    if kind not in readers:
        raise Untold("unknown kind of table: " + kind)
    return readers[kind](rest, columns)


# --- the topic ----------------------------------------------------------------------------------------


class Topic:
    """What a consumer sees of a topic: spans[partition] = (first, end), messages[partition][offset]."""

    def __init__(self, options, payload):
        from confluent_kafka import Consumer, TopicPartition
        self.name, self.timeout, self.payload = options.topic, options.timeout, payload
        settings = {"bootstrap.servers": options.brokers, "group.id": "verify-%d" % os.getpid(),
                    "enable.auto.commit": False, "isolation.level": options.isolation,
                    "auto.offset.reset": "error", "enable.partition.eof": True, "check.crcs": True,
                    "fetch.max.bytes": 16 << 20}
        settings.update(pair.split("=", 1) for pair in options.conf)
        consumer = Consumer(settings)
        self.spans, self.messages = {}, {}
        for partition in self.partitions(consumer):
            where = TopicPartition(self.name, partition)
            # with read_committed the end is that of the last finished transaction
            self.spans[partition] = consumer.get_watermark_offsets(where, timeout=15)
            self.messages[partition] = {}
        unread = {partition for partition, (first, end) in self.spans.items() if end > first}
        consumer.assign([TopicPartition(self.name, partition, self.spans[partition][0])
                         for partition in unread])
        self.read(consumer, unread)
        consumer.close()

    def partitions(self, consumer):
        deadline = time.time() + self.timeout
        while True:
            told = consumer.list_topics(self.name, timeout=15).topics[self.name]
            if told.error is None and told.partitions:
                return sorted(told.partitions)
            if time.time() > deadline:
                raise Untold("topic %s: %s" % (self.name, told.error))
            time.sleep(0.5)

    def read(self, consumer, unread):
        from confluent_kafka import KafkaError
        last = time.time()
        while unread:
            for message in consumer.consume(2000, timeout=1.0):
                last = time.time()
                partition, offset, error = message.partition(), message.offset(), message.error()
                if error and error.code() != KafkaError._PARTITION_EOF:
                    raise Untold("reading %s [%s]: %s" % (self.name, partition, error))
                end = self.spans[partition][1]
                if error or offset >= end - 1:
                    unread.discard(partition)
                if not error and offset < end:
                    seen = self.payload.of_message(message.value(), message.key())
                    self.messages[partition][offset] = seen
            if time.time() - last > self.timeout:
                raise Untold("no message for %d s, partitions not finished: %s"
                             % (self.timeout, sorted(unread)))

    def narrow(self, start, end):
        """Forget what lies outside the range that is compared."""
        for partition, messages in self.messages.items():
            low, high = self.spans[partition]
            low, high = max(low, start.get(partition, 0)), min(high, end.get(partition, 1 << 62))
            self.messages[partition] = {offset: value for offset, value in messages.items()
                                        if low <= offset < high}


# --- the comparison ---------------------------------------------------------------------------------


class Comparison:
    """Counts what differs, in all and by partition."""

    def __init__(self, topic, options, payload):
        self.topic, self.options, self.payload = topic, options, payload
        self.start, self.end = positions(options.start), positions(options.end)
        topic.narrow(self.start, self.end)
        self.seen = defaultdict(lambda: defaultdict(int))
        self.counts = defaultdict(int)
        self.by_partition = defaultdict(lambda: defaultdict(int))
        self.examples = defaultdict(list)
        self.rows = 0

    def hit(self, what, partition, offset):
        self.counts[what] += 1
        self.by_partition[partition][what] += 1
        if len(self.examples[what]) < self.options.show:
            self.examples[what].append("%s:%s" % (partition, offset))

    def add_table(self, spec, is_main):
        options = self.options
        columns = [options.partition_col, options.offset_col]
        columns += [options.topic_col] if options.topic_col else []
        columns += self.payload.columns if is_main else []
        for partition, offset, *rest in table_rows(spec, columns, options.engine):
            if options.topic_col and rest.pop(0) != self.topic.name:
                continue
            self.rows += 1
            if partition is None or offset is None:
                self.hit("extra", "null", "null")
            else:
                self.add_row(int(partition), int(offset), rest if is_main else None)

    def add_row(self, partition, offset, values):
        if not self.start.get(partition, offset) <= offset < self.end.get(partition, offset + 1):
            return
        self.seen[partition][offset] += 1
        if self.seen[partition][offset] > 1:
            self.hit("duplicated", partition, offset)
            return
        messages = self.topic.messages.get(partition)
        first, end = self.topic.spans.get(partition, (0, 0))
        if messages is None:
            self.hit("extra", partition, offset)
            self.counts["unknown-partition"] += 1
        elif offset in messages:
            if values is not None and self.payload.of_row(values) != messages[offset]:
                self.hit("altered", partition, offset)
        elif offset < first:
            self.hit("expired", partition, offset)
        elif self.options.compacted and offset < end:
            self.hit("compacted", partition, offset)
        else:
            self.hit("extra", partition, offset)
            self.counts["beyond-end" if offset >= end else "aborted-or-control"] += 1

    def finish(self):
        for partition, messages in self.topic.messages.items():
            for offset in messages:
                if offset not in self.seen[partition]:
                    self.hit("lost", partition, offset)
            first, end = self.topic.spans[partition]
            gaps = 0 if self.start or self.end else end - first - len(messages)
            self.by_partition[partition]["gaps"] = gaps
            self.counts["gaps"] += gaps

    def is_clean(self):
        return not any(self.counts[fault] for fault in FAULTS)

    def report(self):
        kinds = FAULTS + NOTES + ("aborted-or-control", "beyond-end")
        partitions = {}
        for partition, messages in self.topic.messages.items():
            first, end = self.topic.spans[partition]
            partitions[partition] = {"start": first, "end": end, "messages": len(messages),
                                     "rows": sum(self.seen[partition].values()),
                                     **self.by_partition[partition]}
        return {"topic": self.topic.name, "table": self.options.table,
                "messages": sum(map(len, self.topic.messages.values())), "rows": self.rows,
                **{kind: self.counts[kind] for kind in kinds},
                "examples": dict(self.examples), "partitions": partitions}


def print_report(report):
    for partition, told in report["partitions"].items():
        more = ["%s=%d" % (kind, told[kind]) for kind in FAULTS + NOTES if told.get(kind)]
        print(" ".join(["partition %d: offsets %d..%d messages %d rows %d" % (
            partition, told["start"], told["end"], told["messages"], told["rows"])] + more))
    for kind, places in report["examples"].items():
        print("%s at (partition:offset) %s%s" % (
            kind, " ".join(places), " ..." if report[kind] > len(places) else ""))
    for kind in ("aborted-or-control", "beyond-end", "expired", "compacted"):
        if report[kind]:
            print("%s=%d" % (kind, report[kind]))
    print("lost=%d, duplicated=%d, altered=%d, extra=%d (rows=%d, messages=%d, gaps=%d)" % tuple(
        report[kind] for kind in FAULTS + ("rows", "messages", "gaps")))


def positions(text):
    """0:5,1:7 as a map; {} for nothing."""
    pairs = (item.split(":") for item in (text or "").split(",") if item)
    return {int(partition): int(offset) for partition, offset in pairs}


def read_options():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--brokers", required=True)
    parser.add_argument("--topic", required=True)
    parser.add_argument("--table", required=True)
    parser.add_argument("--also", action="append", default=[])
    parser.add_argument("--engine", choices=["raw", "deltalake"], default="raw")
    for name in ("--payload-col", "--checksum-col", "--json-cols", "--key-col", "--topic-col",
                 "--start", "--end"):
        parser.add_argument(name)
    parser.add_argument("--checksum", choices=sorted(CHECKSUMS), default="crc32")
    parser.add_argument("--partition-col", default="_kafka_partition")
    parser.add_argument("--offset-col", default="_kafka_offset")
    parser.add_argument("--isolation", choices=["read_committed", "read_uncommitted"],
                        default="read_committed")
    parser.add_argument("--conf", action="append", default=[])
    parser.add_argument("--timeout", type=int, default=60, help="seconds")
    parser.add_argument("--compacted", action="store_true")
    parser.add_argument("--show", type=int, default=5, help="examples of each kind")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def main():
    options = read_options()
    payload = payload_of(options)
    try:
        comparison = Comparison(Topic(options, payload), options, payload)
        comparison.add_table(options.table, True)
        for spec in options.also:
            comparison.add_table(spec, False)
        comparison.finish()
    except Exception as error:
        print("verify: %s%s" % ("" if isinstance(error, Untold) else type(error).__name__ + ": ", error),
              file=sys.stderr)
        return 2
    report = comparison.report()
    if options.json:
        print(json.dumps(report))
    else:
        print_report(report)
    return 0 if comparison.is_clean() else 1


if __name__ == "__main__":
    sys.exit(main())
