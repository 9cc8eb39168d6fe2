#!/usr/bin/env python3
"""Check a local Delta table against the protocol: log, checkpoints, files, statistics, row ids, txn.

  delta_fsck.py TABLE [--txn-prefix P --partition-col C --offset-col C [--txn-next]] [--quiet]

One line per finding: 'error: ...' breaks the protocol or would make a reader wrong, 'warn: ...' is
allowed but bad. With --txn-prefix: the txn action P<partition> must equal the largest offset in the
table for that partition (or that + 1 with --txn-next). Exit 0 without errors, 1 with errors, 2 when
the table cannot be checked.

It shares no code with forebay and judges it from outside: the log is read line by line, every
checkpoint is compared with the replay of the log, every statistic is computed anew from its file.
"""
import argparse
import datetime
import decimal
import glob
import json
import math
import os
import struct
import sys
import urllib.parse
from collections import defaultdict

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

ACTIONS = {"add", "remove", "metaData", "protocol", "txn", "commitInfo", "cdc", "domainMetadata",
           "sidecar", "checkpointMetadata"}
READER_AND_WRITER = {
    "columnMapping", "deletionVectors", "timestampNtz", "v2Checkpoint", "catalogManaged",
    "vacuumProtocolCheck", "typeWidening", "variantType", "variantShredding",
    "typeWidening-preview", "variantType-preview", "variantShredding-preview",
    "catalogOwned-preview"}
INTEGER_BITS = {"long": 63, "integer": 31, "short": 15, "byte": 7}
WITHOUT_BOUNDS = ("binary", "void", "variant", "boolean")


class Findings:
    """Prints what is found and counts it."""

    def __init__(self, quiet):
        self.quiet = quiet
        self.errors = 0
        self.warnings = 0

    def error(self, text):
        self.errors += 1
        if self.errors < 60:
            print("error: " + text)

    def warn(self, text):
        self.warnings += 1
        if not self.quiet and self.warnings < 40:
            print("warn: " + text)


class Unreadable(Exception):
    """The table cannot be checked at all."""


class State:
    """What a table is after some version: its live files and what else the log holds on to."""

    def __init__(self):
        self.files = {}
        self.meta = None
        self.protocol = None
        self.txns = {}
        self.domains = {}
        self.commit_time = None

    def copy(self):
        other = State()
        other.files, other.txns, other.domains = dict(self.files), dict(self.txns), dict(self.domains)
        other.meta, other.protocol, other.commit_time = self.meta, self.protocol, self.commit_time
        return other

    def has_feature(self, name):
        return name in ((self.protocol or {}).get("writerFeatures") or [])

    @property
    def configuration(self):
        return as_map((self.meta or {}).get("configuration"))

    @property
    def partition_columns(self):
        return list((self.meta or {}).get("partitionColumns") or [])


def as_map(value):
    """A map as JSON has it, or as the list of pairs that Parquet gives."""
    return dict(value) if value else {}


def file_key(action):
    """What tells two files of a table apart: the path, and the deletion vector."""
    vector = action.get("deletionVector")
    if not vector:
        return action["path"], None
    name = vector["storageType"] + vector["pathOrInlineDv"]
    return action["path"], name + ("@%s" % vector["offset"] if vector.get("offset") is not None else "")


def schema_fields(struct_type, above=()):
    """Yield (path, field) of every field, those inside structs too."""
    for field in struct_type["fields"]:
        yield above + (field["name"],), field
        if isinstance(field["type"], dict) and field["type"]["type"] == "struct":
            yield from schema_fields(field["type"], above + (field["name"],))


# --- values -------------------------------------------------------------------------------------


def check_partition_value(value, type_name):
    """Raise when a partition value is no text of its type."""
    if value is None or value == "" or type_name in ("string", "binary"):
        return
    if type_name in INTEGER_BITS:
        bound = 1 << INTEGER_BITS[type_name]
        assert -bound <= int(value) < bound, "out of range"
    elif type_name in ("double", "float"):
        float(value.replace("Infinity", "inf"))
    elif type_name == "boolean":
        assert value in ("true", "false")
    elif type_name == "date":
        datetime.date.fromisoformat(value)
    elif type_name.startswith("decimal"):
        scale = int(type_name[8:-1].split(",")[1])
        whole, _, fraction = value.lstrip("+-").partition(".")
        assert whole.isdigit() and (not fraction or fraction.isdigit()), "bad decimal"
        assert -decimal.Decimal(value).as_tuple().exponent <= scale
    elif type_name in ("timestamp", "timestamp_ntz"):
        check_timestamp(value[:-1] if value.endswith("Z") else value)


def check_timestamp(text):
    for form in ("%Y-%m-%d %H:%M:%S.%f", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S.%f",
                 "%Y-%m-%dT%H:%M:%S"):
        try:
            datetime.datetime.strptime(text[:26], form)
            return
        except ValueError:
            continue
    raise ValueError("bad timestamp")


def utc(moment):
    return moment.astimezone(datetime.timezone.utc).replace(tzinfo=None) if moment.tzinfo else moment


def statistic_value(value, type_name):
    """A bound of the statistics as a value of its column's type."""
    if value in ("NaN", "Infinity", "-Infinity") and type_name in ("double", "float"):
        return float(value.replace("Infinity", "inf"))
    if type_name == "date":
        return datetime.date.fromisoformat(value)
    if type_name in ("timestamp", "timestamp_ntz"):
        return utc(datetime.datetime.fromisoformat(value.replace("Z", "+00:00")))
    if type_name.startswith("decimal"):
        return decimal.Decimal(str(value))
    return value


# --- protocol and metadata ------------------------------------------------------------------------


def check_protocol(found, protocol, where):
    reader, writer = protocol.get("minReaderVersion"), protocol.get("minWriterVersion")
    for_readers, for_writers = protocol.get("readerFeatures"), protocol.get("writerFeatures")
    if reader == 3 and for_readers is None:
        found.error("%s: reader version 3 without readerFeatures" % where)
    if writer == 7 and for_writers is None:
        found.error("%s: writer version 7 without writerFeatures" % where)
    if reader == 3 and writer != 7:
        found.error("%s: reader version 3 needs writer version 7" % where)
    if reader is not None and reader < 3 and for_readers is not None:
        found.error("%s: readerFeatures with reader version %s" % (where, reader))
    if writer is not None and writer < 7 and for_writers is not None:
        found.error("%s: writerFeatures with writer version %s" % (where, writer))
    for name in for_readers or []:
        if name not in (for_writers or []):
            found.error("%s: reader feature %s is not among the writer features" % (where, name))
    for name in for_writers or []:
        if name in READER_AND_WRITER and reader == 3 and name not in (for_readers or []):
            found.error("%s: %s must be a reader feature too" % (where, name))


def check_metadata(found, meta, where):
    for key in ("id", "format", "schemaString", "partitionColumns", "configuration"):
        if meta.get(key) is None:
            found.error("%s: metaData without %s" % (where, key))
    try:
        schema = json.loads(meta["schemaString"])
        assert schema["type"] == "struct"
        names = [field["name"] for field in schema["fields"]]
        if len({name.lower() for name in names}) != len(names):
            found.error("%s: column names differ only in case" % where)
        for column in meta.get("partitionColumns") or []:
            if column not in names:
                found.error("%s: partition column %s is not in the schema" % (where, column))
        for path, field in schema_fields(schema):
            if "nullable" not in field or "metadata" not in field:
                found.error("%s: field %s lacks nullable or metadata" % (where, ".".join(path)))
    except Exception as error:
        found.error("%s: schemaString: %s" % (where, error))


# --- the log --------------------------------------------------------------------------------------


class Log:
    """The _delta_log folder: which versions and checkpoints there are, and what they say."""

    def __init__(self, found, table):
        self.found = found
        self.folder = os.path.join(table, "_delta_log")
        if not os.path.isdir(self.folder):
            raise Unreadable("no _delta_log")
        names = sorted(os.listdir(self.folder))
        self.versions = [int(name[:20]) for name in names
                         if len(name) == 25 and name.endswith(".json") and name[:20].isdigit()]
        self.checkpoints = defaultdict(list)
        for name in names:
            if name.endswith((".tmp", ".part")):
                found.warn("leftover in the log folder: " + name)
            if ".checkpoint" in name and name[:20].isdigit() and name.endswith((".parquet", ".json")):
                self.checkpoints[int(name[:20])].append(name)
        if self.versions:
            every = range(self.versions[0], self.versions[-1] + 1)
            if self.versions != list(every):
                missing = [version for version in every if version not in self.versions]
                found.error("the log has a gap: %s" % missing[:5])

    def path(self, name):
        return os.path.join(self.folder, name)

    def checkpoint_rows(self, version):
        """The actions of a checkpoint, sidecars too, or None when a part of it is missing."""
        names = sorted(self.checkpoints[version])
        parts = [name for name in names if name.count(".") == 4 and name.endswith("parquet")]
        whole = [name for name in names if name not in parts]
        if whole:
            parts = whole[:1]
        elif not parts or len(parts) != int(parts[0].split(".")[3]):
            return None
        rows = []
        for name in parts:
            if name.endswith(".json"):
                with open(self.path(name)) as lines:
                    part = [json.loads(line) for line in lines]
            else:
                part = pq.read_table(self.path(name)).to_pylist()
            for row in part:
                if row.get("sidecar"):
                    sidecar = os.path.basename(urllib.parse.unquote(row["sidecar"]["path"]))
                    rows += pq.read_table(os.path.join(self.folder, "_sidecars", sidecar)).to_pylist()
            rows += part
        return rows

    def checkpoint(self, version):
        """The state that a checkpoint tells, or None."""
        rows = self.checkpoint_rows(version)
        if rows is None:
            self.found.error("checkpoint %d is incomplete" % version)
            return None
        state = State()
        for row in rows:
            state.meta = row.get("metaData") or state.meta
            state.protocol = row.get("protocol") or state.protocol
            add, txn, domain = row.get("add"), row.get("txn"), row.get("domainMetadata")
            if add:
                if file_key(add) in state.files:
                    self.found.error("checkpoint %d: %s twice" % (version, add["path"]))
                state.files[file_key(add)] = add
            if txn:
                state.txns[txn["appId"]] = txn
            if domain and not domain.get("removed"):
                state.domains[domain["domain"]] = domain
        if not state.meta or not state.protocol:
            self.found.error("checkpoint %d lacks metaData or protocol" % version)
        return state

    def commit(self, version):
        """The actions of a version, as (name, content) in their order."""
        where, actions = "version %d" % version, []
        with open(self.path("%020d.json" % version), "rb") as file:
            lines = file.read().split(b"\n")
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
                assert isinstance(row, dict)
            except Exception as error:
                self.found.error("%s line %d: not JSON (%s)" % (where, number, error))
                continue
            names = [name for name in row if row[name] is not None and name in ACTIONS]
            if len(names) > 1:
                self.found.error("%s line %d: %d actions in one line" % (where, number, len(names)))
            for name in row:
                if name not in ACTIONS:
                    self.found.warn("%s: unknown action %s" % (where, name))
            actions += [(name, row[name]) for name in names]
        return actions

    def beginning(self):
        """The state to replay from, and the versions to replay on it."""
        versions = self.versions
        if versions and versions[0] == 0:
            return State(), versions
        first = versions[0] if versions else max(self.checkpoints, default=-1)
        base = max([version for version in self.checkpoints if version <= first] or [-1])
        if versions and base < first - 1:
            later = [version for version in self.checkpoints if first - 1 <= version <= versions[-1]]
            base = min(later) if later else -1
        if base < 0:
            raise Unreadable("error: no version 0 and no usable checkpoint")
        return self.checkpoint(base) or State(), [version for version in versions if version > base]


class Replay:
    """Goes through the versions in their order, checks each, and keeps the state."""

    def __init__(self, found, log):
        self.found = found
        self.log = log
        self.snapshots = {}
        self.state, self.versions = log.beginning()
        for version in self.versions:
            self.apply(version)
            if version in log.checkpoints:
                self.snapshots[version] = self.state.copy()

    def apply(self, version):
        where, actions = "version %d" % version, self.log.commit(version)
        self.check_repeats(actions, where)
        for name, action in actions:
            if name == "protocol":
                check_protocol(self.found, action, where)
                self.state.protocol = action
            elif name == "metaData":
                check_metadata(self.found, action, where)
                self.state.meta = action
        if version == 0 and (not self.state.meta or not self.state.protocol):
            self.found.error("version 0 lacks metaData or protocol")
        self.check_commit_time(actions, where)
        for name, action in actions:  # removes count first: a file may be removed and added
            if name == "remove":
                self.remove(action, where)
        rewrites = any(name == "remove" for name, _ in actions)
        for name, action in actions:
            if name == "add":
                self.add(action, where, rewrites)
            elif name == "txn":
                self.txn(action, where)
            elif name == "domainMetadata":
                self.domain(action, where)

    def check_repeats(self, actions, where):
        for name in ("add", "remove"):
            seen = set()
            for path in [action["path"] for kind, action in actions if kind == name]:
                if path in seen:
                    self.found.error("%s: %s %s twice" % (where, name, path))
                seen.add(path)
        for name in ("protocol", "metaData"):
            count = sum(kind == name for kind, _ in actions)
            if count > 1:
                self.found.error("%s: %d %s actions" % (where, count, name))
        writers = [action["appId"] for kind, action in actions if kind == "txn"]
        if len(set(writers)) != len(writers):
            self.found.error("%s: the same appId twice" % where)

    def check_commit_time(self, actions, where):
        before, self.state.commit_time = self.state.commit_time, None
        enabled = self.state.configuration.get("delta.enableInCommitTimestamps") == "true"
        if not (enabled and self.state.has_feature("inCommitTimestamp")):
            return
        info = actions[0][1] if actions and actions[0][0] == "commitInfo" else None
        if info is None:
            self.found.error("%s: in-commit timestamps need commitInfo as the first action" % where)
        elif info.get("inCommitTimestamp") is None:
            self.found.error("%s: commitInfo without inCommitTimestamp" % where)
        else:
            if before is not None and info["inCommitTimestamp"] <= before:
                self.found.error("%s: inCommitTimestamp %d is not above %d"
                                 % (where, info["inCommitTimestamp"], before))
            self.state.commit_time = info["inCommitTimestamp"]
            return
        self.state.commit_time = before

    def remove(self, action, where):
        changes_data = action.get("dataChange", True)
        if file_key(action) not in self.state.files and changes_data:
            self.found.warn("%s: removes a file that is not live: %s" % (where, action["path"]))
        if self.state.configuration.get("delta.appendOnly") == "true" and changes_data:
            self.found.error("%s: removes data from an append-only table" % where)
        self.state.files.pop(file_key(action), None)

    def add(self, action, where, rewrites):
        for key in ("path", "partitionValues", "size", "modificationTime", "dataChange"):
            if action.get(key) is None:
                self.found.error("%s: add without %s" % (where, key))
        is_new = file_key(action) not in self.state.files
        if is_new and action.get("dataChange") is False and not rewrites:
            self.found.warn("%s: new file with dataChange=false: %s" % (where, action["path"]))
        self.state.files[file_key(action)] = action
        suspended = self.state.configuration.get("delta.rowTrackingSuspended") == "true"
        if self.state.has_feature("rowTracking") and not suspended:
            if action.get("baseRowId") is None or action.get("defaultRowCommitVersion") is None:
                self.found.error("%s: row tracking needs baseRowId and defaultRowCommitVersion" % where)

    def txn(self, action, where):
        before = self.state.txns.get(action["appId"])
        if before and action["version"] < before["version"]:
            self.found.warn("%s: txn %s goes back from %d to %d"
                            % (where, action["appId"], before["version"], action["version"]))
        self.state.txns[action["appId"]] = action

    def domain(self, action, where):
        if not self.state.has_feature("domainMetadata"):
            self.found.error("%s: domainMetadata without the feature" % where)
        if action.get("removed"):
            self.state.domains.pop(action["domain"], None)
        else:
            self.state.domains[action["domain"]] = action


def check_checkpoints(found, log, snapshots):
    """Every checkpoint tells what the replay of the log up to its version tells."""
    for version, replayed in snapshots.items():
        told = log.checkpoint(version)
        if told is None:
            continue
        where = "checkpoint %d" % version
        if set(told.files) != set(replayed.files):
            found.error("%s: files differ from the log (%d missing, %d extra)"
                        % (where, len(set(replayed.files) - set(told.files)),
                           len(set(told.files) - set(replayed.files))))
        if ({name: txn["version"] for name, txn in told.txns.items()}
                != {name: txn["version"] for name, txn in replayed.txns.items()}):
            found.error("%s: txn differ from the log" % where)
        check_same_metadata(found, told, replayed, where)
        if set(told.domains) != set(replayed.domains):
            found.error("%s: domainMetadata differ from the log" % where)
        for key, action in replayed.files.items():
            other = told.files.get(key)
            if other and (other.get("size") != action.get("size")
                          or as_map(other.get("partitionValues")) != as_map(action.get("partitionValues"))):
                found.error("%s: %s differs from the log" % (where, key[0]))
                break


def check_same_metadata(found, told, replayed, where):
    ours, theirs = told.meta or {}, replayed.meta
    if (ours.get("schemaString") is None or ours.get("id") != theirs.get("id")
            or json.loads(ours["schemaString"]) != json.loads(theirs["schemaString"])):
        found.error("%s: metaData differ from the log" % where)
    elif (told.configuration != replayed.configuration
          or told.partition_columns != replayed.partition_columns):
        found.error("%s: configuration or partition columns differ from the log" % where)


def check_last_checkpoint(found, log):
    path = log.path("_last_checkpoint")
    if not os.path.exists(path):
        return
    try:
        with open(path) as file:
            version = json.load(file)["version"]
        if version not in log.checkpoints:
            found.error("_last_checkpoint names version %s, which has no checkpoint" % version)
    except Exception as error:
        found.warn("_last_checkpoint is not readable: %s" % error)


# --- statistics -----------------------------------------------------------------------------------


def column_at(table, path):
    """The column at a path of struct fields; NULL where a struct above it is."""
    column = table.column(path[0])
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    for name in path[1:]:
        inner = pc.struct_field(column, name)
        column = pc.if_else(column.is_null(), pa.scalar(None, inner.type), inner)
    return column


def column_values(column):
    """The values that are not NULL, times as UTC without a zone."""
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("us"), safe=False)
    values = [value for value in column.to_pylist() if value is not None]
    return [utc(value) if isinstance(value, datetime.datetime) else value for value in values]


def is_beyond(bound, value, type_name, sign):
    """Whether the bound lies on the wrong side of the value: sign 1 for min, -1 for max."""
    if type_name.startswith(("decimal", "float")):
        bound, value = float(type(value)(bound)), float(value)
        slack = abs(value) * 1e-6 + 1e-12
        return sign * (bound - value) > slack
    if type_name == "string":
        bound, value = bound.encode(), value.encode()
    return bound > value if sign > 0 else bound < value


def check_bounds(found, bounds, values, type_name, where, name):
    low, high = bounds
    has_nan = type_name in ("double", "float") and any(math.isnan(value) for value in values)
    if type_name == "float":
        values = [struct.unpack("f", struct.pack("f", value))[0] for value in values]
    finite = [value for value in values if not (has_nan and math.isnan(value))]
    key = (lambda value: value.encode()) if type_name == "string" else None
    if low is not None and finite:
        least = min(finite, key=key)
        if is_beyond(statistic_value(low, type_name), least, type_name, 1):
            found.error("%s: min of %s is %r, the file has %r" % (where, name, low, least))
    if high is not None and finite:
        bound, most = statistic_value(high, type_name), max(finite, key=key)
        if type_name in ("timestamp", "timestamp_ntz"):
            bound += datetime.timedelta(microseconds=999)  # it may be cut to milliseconds
        if is_beyond(bound, most, type_name, -1):
            found.error("%s: max of %s is %r, the file has %r" % (where, name, high, most))
    if has_nan and high is not None and not math.isnan(float(statistic_value(high, type_name))):
        found.warn("%s: %s holds NaN but max is %r: an engine with NaN largest skips this file wrongly"
                   % (where, name, high))


def check_statistics(found, action, table, types, where):
    try:
        statistics = json.loads(action["stats"])
    except Exception as error:
        found.error("%s: stats are not JSON: %s" % (where, error))
        return
    if statistics.get("numRecords") not in (None, table.num_rows):
        found.error("%s: numRecords %s, the file has %d"
                    % (where, statistics["numRecords"], table.num_rows))

    def statistic(kind, path):
        value = statistics.get(kind)
        for name in path:
            value = value.get(name) if isinstance(value, dict) else None
        return value

    for path, type_name in types.items():
        name = ".".join(path)
        nulls, low, high = (statistic(kind, path) for kind in ("nullCount", "minValues", "maxValues"))
        if nulls is None and low is None and high is None:
            continue
        try:
            column = column_at(table, path)
        except Exception:
            continue  # it is not in this file
        if isinstance(nulls, int) and not action.get("deletionVector") and nulls != column.null_count:
            tell = found.warn if len(path) > 1 else found.error
            tell("%s: nullCount of %s is %d, the file has %d" % (where, name, nulls, column.null_count))
        if isinstance(low, dict) or isinstance(high, dict) or type_name in WITHOUT_BOUNDS:
            continue
        if type_name == "double" and pa.types.is_float32(column.type):
            type_name = "float"  # widened since
        try:
            values = column_values(column)
        except Exception:
            continue  # a value that Python cannot hold
        is_time = type_name in ("timestamp", "timestamp_ntz")
        if not values or is_time and not isinstance(values[0], datetime.datetime):
            continue
        try:
            check_bounds(found, (low, high), values, type_name, where, name)
        except Exception as error:
            found.error("%s: statistics of %s: %s: %s" % (where, name, type(error).__name__, error))


# --- the files ------------------------------------------------------------------------------------


class Files:
    """Checks the live files of a table against the log and among each other."""

    def __init__(self, found, root, state, options):
        self.found, self.root, self.state, self.options = found, root, state, options
        self.schema = json.loads(state.meta["schemaString"])
        self.mapped = state.configuration.get("delta.columnMapping.mode", "none") != "none"
        self.physical = {field["name"]: self.physical_name(field) for field in self.schema["fields"]}
        self.types = dict(self.physical_types(self.schema, ()))
        self.partition_types = {self.physical[field["name"]]: field["type"]
                                for field in self.schema["fields"]
                                if field["name"] in state.partition_columns}
        self.referenced = set()
        self.row_ids = []
        self.last_offsets = {}

    def physical_name(self, field):
        return field["metadata"]["delta.columnMapping.physicalName"] if self.mapped else field["name"]

    def physical_types(self, struct_type, above):
        for field in struct_type["fields"]:
            path, kind = above + (self.physical_name(field),), field["type"]
            yield path, kind if isinstance(kind, str) else kind["type"]
            if isinstance(kind, dict) and kind["type"] == "struct":
                yield from self.physical_types(kind, path)

    def full_path(self, path):
        if "://" in path:
            return urllib.parse.unquote(urllib.parse.urlparse(path).path)
        return os.path.join(self.root, urllib.parse.unquote(path))  # an absolute path stays

    def check_all(self):
        for action in self.state.files.values():
            self.check(action)
        self.check_row_ids()
        if self.options.txn_prefix is not None:
            self.check_txns()

    def check(self, action):
        where, full = "file " + action["path"], self.full_path(action["path"])
        self.referenced.add(os.path.abspath(full))
        self.check_partition(action, where)
        if not os.path.exists(full):
            self.found.error("%s: no such file" % where)
            return
        if os.path.getsize(full) != action["size"]:
            self.found.error("%s: size %d in the log, %d on disk"
                             % (where, action["size"], os.path.getsize(full)))
        try:
            table = (pq.read_table(full, partitioning=None) if full.endswith("parquet")
                     else pq.ParquetFile(full).read())
        except Exception as error:
            self.found.error("%s: not readable: %s" % (where, str(error)[:120]))
            return
        self.check_columns(table, where)
        if action.get("stats"):
            types = {path: kind for path, kind in self.types.items()
                     if path[0] not in self.partition_types}
            check_statistics(self.found, action, table, types, where)
        if action.get("baseRowId") is not None:
            first = action["baseRowId"]
            self.row_ids.append((first, first + table.num_rows, action["path"]))
        if self.options.txn_prefix is not None:
            self.note_offsets(action, table)

    def check_partition(self, action, where):
        values = as_map(action.get("partitionValues"))
        if set(values) != set(self.partition_types):
            self.found.error("%s: partitionValues %s, partition columns %s"
                             % (where, sorted(values), sorted(self.partition_types)))
        for name, value in values.items():
            kind = self.partition_types.get(name, "string")
            try:
                check_partition_value(value, kind)
            except Exception as error:
                self.found.error("%s: partition value %r is not a %s (%s)" % (where, value, kind, error))

    def check_columns(self, table, where):
        known = self.state.configuration.values()
        for name in table.column_names:
            if (name,) not in self.types and name != "_change_type" and name not in known:
                self.found.warn("%s: column %s is not in the schema" % (where, name))
        for field in self.schema["fields"]:
            name = self.physical[field["name"]]
            if field["nullable"] or name in self.partition_types:
                continue
            if name not in table.column_names or table.column(name).null_count:
                self.found.error("%s: NOT NULL column %s has nulls" % (where, field["name"]))

    def note_offsets(self, action, table):
        partition = self.physical.get(self.options.partition_col)
        offset = self.physical.get(self.options.offset_col)
        if partition in table.column_names:
            partitions = table.column(partition).to_pylist()
        else:
            partitions = [int(as_map(action["partitionValues"])[partition])] * table.num_rows
        for number, at in zip(partitions, table.column(offset).to_pylist()):
            self.last_offsets[number] = max(at, self.last_offsets.get(number, -1))

    def check_row_ids(self):
        ids = sorted(self.row_ids)
        for (_, end, name), (begin, _, other) in zip(ids, ids[1:]):
            if begin < end:
                self.found.error("row ids overlap: %s and %s" % (name, other))
        if not ids:
            return
        if "delta.rowTracking" in self.state.domains:
            domain = json.loads(self.state.domains["delta.rowTracking"]["configuration"])
            if domain["rowIdHighWaterMark"] < ids[-1][1] - 1:
                self.found.error("row id high water mark %d is below the last id %d"
                                 % (domain["rowIdHighWaterMark"], ids[-1][1] - 1))
        elif self.state.has_feature("rowTracking"):
            self.found.error("row tracking without the delta.rowTracking domain")

    def check_txns(self):
        for partition, last in sorted(self.last_offsets.items()):
            name = self.options.txn_prefix + str(partition)
            txn, want = self.state.txns.get(name), last + (1 if self.options.txn_next else 0)
            if txn is None:
                self.found.error("no txn %s" % name)
            elif txn["version"] < want:
                self.found.error("txn %s is %d, the table's last offset is %d" % (name, txn["version"], last))
            elif txn["version"] > want:
                self.found.warn("txn %s is %d, the table's last offset is %d (gap or rejected rows at the "
                                "end?)" % (name, txn["version"], last))

    def orphans(self):
        """Data files that no version names."""
        every = glob.glob(os.path.join(glob.escape(self.root), "**", "*.parquet"), recursive=True)
        return [path for path in every if "_delta_log" not in path and "_change_data" not in path
                and os.path.abspath(path) not in self.referenced]


def check_table(found, options):
    log = Log(found, options.table)
    replay = Replay(found, log)
    check_checkpoints(found, log, replay.snapshots)
    check_last_checkpoint(found, log)
    state = replay.state
    if not state.meta or not state.meta.get("schemaString") or not state.protocol:
        raise Unreadable("fsck: %d errors; no protocol or metaData: the table can't be read"
                         % (found.errors + 1))
    files = Files(found, options.table, state, options)
    files.check_all()
    print("fsck: %d errors, %d warnings, %d versions, %d live files, %d orphans, %d checkpoints" % (
        found.errors, found.warnings, len(replay.versions), len(state.files), len(files.orphans()),
        len(log.checkpoints)))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table")
    parser.add_argument("--txn-prefix")
    parser.add_argument("--txn-next", action="store_true")
    parser.add_argument("--partition-col", default="_kafka_partition")
    parser.add_argument("--offset-col", default="_kafka_offset")
    parser.add_argument("--quiet", action="store_true", help="errors only")
    options = parser.parse_args()
    found = Findings(options.quiet)
    try:
        check_table(found, options)
    except Unreadable as why:
        print(why)
        return 2
    return 1 if found.errors else 0


if __name__ == "__main__":
    sys.exit(main())
