"""Many writers on one table: every append is there in the end."""
import subprocess
import sys
import threading

from landing import Pipeline

APPENDS = 25
FOREIGN = """
import sys, time, pyarrow as pa
from deltalake import DeltaTable, write_deltalake
from deltalake.exceptions import DeltaError, TableNotFoundError
path, first, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
for number in range(first, first + count):
    rows = pa.table({"id": pa.array([number], pa.int64()), "s": ["deltalake"]})
    for attempt in range(200):
        try:
            write_deltalake(DeltaTable(path), rows, mode="append")
            break
        except (DeltaError, TableNotFoundError):  # it gives up after some tries of its own
            time.sleep(0.05)
    else:
        sys.exit("no append in 200 tries")
"""


def test_eight_writers_append_25_times_each_and_nothing_is_lost(forebay, kafka, fsck):
    """Two of them are deltalake; the six of ours also race to create the table."""
    table = forebay.folder / "lake" / "shared"
    pipelines = []
    for writer in range(6):
        topic = kafka.topic()
        kafka.produce(topic, [{"id": 1000 * writer + n, "s": "forebay"} for n in range(APPENDS)])
        it = Pipeline(forebay, kafka.address, topic, [("id", "int64"), ("s", "string")],
                      name=f"w{writer}", source={"metadata": []})
        it.change("sink", accepted={"format": "delta", "path": str(table)})
        pipelines.append(it)
    failures = []

    def append(it):
        for _ in range(APPENDS):
            result = forebay(*it.arguments("--max-messages", 1), status=None, timeout=120)
            if result.status != 0:
                failures.append(result)

    threads = [threading.Thread(target=append, args=[it]) for it in pipelines]
    for thread in threads:
        thread.start()
    foreign = [subprocess.Popen([sys.executable, "-c", FOREIGN, table, str(first), str(APPENDS)],
                                stderr=subprocess.PIPE, text=True) for first in (6000, 7000)]
    for thread in threads:
        thread.join()
    for process in foreign:
        _, said = process.communicate(timeout=300)
        assert process.returncode == 0, said
    assert not failures, failures[:2]
    it.table = table
    assert sorted(value for value, in it.rows("id")) == [
        1000 * writer + n for writer in range(8) for n in range(APPENDS)]
    assert it.version() == 8 * APPENDS - 1
    fsck(table)
