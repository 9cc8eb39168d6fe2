#!/usr/bin/env python3
"""What a run costs, as ratios to a bare Kafka client in the same minutes.

  tests/perf/measure.py [--messages 2000000] [--rounds 3] [--sizes 200000,1000000,4000000]
                        [--brokers HOST:PORT] [--without-file-run]

Starts a broker (unless one is named), fills a topic with orders of about 240 bytes (four
partitions, lz4) and then, in every round and always in this order:

  bare     a librdkafka client that reads the topic and does nothing (tests/perf/bare.c)
  forebay  `forebay run` of the same topic into a new Delta table: nine typed columns, the
           three integer metadata columns, zstd; positions, statistics and commit included
  duckdb   the same bytes from an NDJSON file to Parquet by DuckDB alone, when the tests'
           Python environment is there

Whole processes are measured: CPU seconds of user and system, peak resident memory, wall
time.  Nothing here is a test and nothing fails by time; figures of one machine say little
elsewhere, their ratios do.  Prints a table and, as its last line, one JSON object.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build/release"

CONFIG = """version: "1"
report: {{path: {folder}/reports}}
state: {{path: {folder}/state}}
pipelines:
  orders:
    source:
      path: kafka://{brokers}/{topic}
      metadata: [partition, offset, timestamp]
    schema:
      columns:
        - {{name: order_id, type: string}}
        - {{name: customer_id, type: int64}}
        - {{name: amount, type: float64}}
        - {{name: currency, type: string}}
        - {{name: status, type: string}}
        - {{name: created_at, type: timestamp}}
        - {{name: note, type: string}}
        - {{name: priority, type: int32}}
        - {{name: express, type: bool}}
    sink: {{accepted: {{format: delta, path: {folder}/table}}}}
"""

DUCKDB = """import duckdb, sys
duckdb.sql("set threads=2; set preserve_insertion_order=false")
duckdb.sql(f"copy (select * from read_json('{sys.argv[1]}', format='newline_delimited', columns={{"
           "order_id:'varchar', customer_id:'bigint', amount:'double', currency:'varchar',"
           "status:'varchar', created_at:'timestamp', note:'varchar', priority:'int',"
           f"express:'boolean'}})) to '{sys.argv[2]}' (format parquet)")
"""


def measure(command):
    """Run it; returns (wall seconds, CPU seconds, peak MB)."""
    began = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = status
    if status != 0:
        sys.exit(f"{command[0]} failed: {said.decode(errors='replace')}")
    return time.monotonic() - began, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


class Bench:
    def __init__(self, brokers, folder):
        self.brokers, self.folder = brokers, pathlib.Path(folder)

    def fill(self, topic, count, copy=None):
        command = [BUILD / "perf/orders", self.brokers, topic, str(count), "4"]
        subprocess.run(command + ([str(copy)] if copy else []), check=True)

    def bare(self, topic):
        return measure([BUILD / "perf/bare", self.brokers, topic])

    def forebay(self, topic):
        work = self.folder / "work"
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        config = work / "forebay.yml"
        config.write_text(CONFIG.format(folder=work, brokers=self.brokers, topic=topic))
        cost = measure([BUILD / "forebay", "run", "orders", "-c", str(config), "-q"])
        report = json.loads(next((work / "reports").glob("*.json")).read_text())
        return cost, report

    def duckdb(self, python, file):
        return measure([python, "-c", DUCKDB, str(file), str(self.folder / "duckdb.parquet")])


def judge_python():
    """The tests' own Python, when it has DuckDB."""
    for python in (os.environ.get("FOREBAY_PYTHON"), sys.executable,
                   *sorted(map(str, pathlib.Path.home().glob(".cache/forebay/venv-*/bin/python")))):
        if python and subprocess.run([python, "-c", "import duckdb"], capture_output=True,
                                     check=False).returncode == 0:
            return python
    return None


def median(rows, index):
    return statistics.median(row[index] for row in rows)


def one_size(bench, topic, count, rounds, file=None, python=None):
    bare, ours, alone, report = [], [], [], None
    for _ in range(rounds):
        bare.append(bench.bare(topic))
        cost, report = bench.forebay(topic)
        ours.append(cost)
        if python and file:
            alone.append(bench.duckdb(python, file))
        if report["rows"]["written"] != count:
            sys.exit(f"{report['rows']['written']} of {count} rows were written")
    result = {"messages": count, "rounds": rounds}
    for name, rows in (("bare", bare), ("forebay", ours), ("duckdb", alone)):
        if rows:
            result[name] = {"wall_s": round(median(rows, 0), 3),
                            "cpu_us": round(median(rows, 1) * 1e6 / count, 3),
                            "peak_mb": round(max(row[2] for row in rows), 1),
                            "messages_s": round(count / median(rows, 0))}
    result["cpu_ratio"] = round(statistics.median(o[1] / b[1] for o, b in zip(ours, bare)), 2)
    result["wall_ratio"] = round(statistics.median(o[0] / b[0] for o, b in zip(ours, bare)), 2)
    if alone:
        together = [b[1] + a[1] for b, a in zip(bare, alone)]
        result["of_bare_and_duckdb"] = round(
            statistics.median(o[1] / t for o, t in zip(ours, together)), 2)
    result["bytes_written"] = report["bytes"]["written"]
    return result


def show(result):
    print(f"\n{result['messages']:,} messages, {result['rounds']} rounds, "
          f"{result['bytes_written'] / 1e6:.1f} MB of Parquet")
    for name in ("bare", "forebay", "duckdb"):
        if name in result:
            row = result[name]
            print(f"  {name:8} {row['messages_s']:>10,} msg/s  {row['cpu_us']:6.3f} µs CPU a message"
                  f"  {row['peak_mb']:6.1f} MB  {row['wall_s']:6.2f} s")
    print(f"  CPU {result['cpu_ratio']} times the bare client's, wall {result['wall_ratio']} times"
          + (f"; {result['of_bare_and_duckdb']} of bare and DuckDB together"
             if "of_bare_and_duckdb" in result else ""))


def start_up(bench):
    """Seconds from the start of the process to its end, for a topic of one message."""
    bench.fill("one", 1)
    return statistics.median(bench.forebay("one")[0][0] for _ in range(5))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, default=2_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sizes", default="")
    parser.add_argument("--brokers")
    parser.add_argument("--without-file-run", action="store_true")
    asked = parser.parse_args()
    subprocess.run(["ninja", "-C", BUILD, "perf", "forebay"], check=True, stdout=subprocess.DEVNULL)
    folder = tempfile.mkdtemp(prefix="forebay-perf-")
    service = ROOT / "tests/services/kafka"
    brokers = asked.brokers
    try:
        if not brokers:
            port = {"KAFKA_PORT": "39092", "KAFKA_HEAP": "1g"}
            said = subprocess.run([service, "start", f"{folder}/kafka"], check=True, text=True,
                                  stdout=subprocess.PIPE, env={**os.environ, **port}).stdout
            brokers = said.split("KAFKA_BOOTSTRAP=")[1].split()[0]
        bench = Bench(brokers, folder)
        python = None if asked.without_file_run else judge_python()
        results = []
        sizes = [asked.messages] + [int(size) for size in asked.sizes.split(",") if size]
        for size in sizes:
            topic, file = f"orders-{size}-{os.getpid()}", pathlib.Path(folder) / "orders.ndjson"
            bench.fill(topic, size, file if python and size == asked.messages else None)
            results.append(one_size(bench, topic, size, asked.rounds,
                                    file if size == asked.messages else None, python))
            show(results[-1])
        first = start_up(bench)
        print(f"\n  a topic of one message, from start to end: {first:.2f} s")
        print(json.dumps({"sizes": results, "one_message_s": round(first, 3)}))
    finally:
        if not asked.brokers:
            subprocess.run([service, "clean", f"{folder}/kafka"], check=False)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
