"""A try that died is followed by one with other bounds, other rules, or another reader."""
import pytest

from landing import Pipeline

ID = [("id", "int64")]


@pytest.fixture(params=["delta", "ndjson"])
def it(request, forebay, kafka):
    """Two partitions; every fifth record is bad."""
    topic = kafka.topic(partitions=2)
    for partition in (0, 1):
        kafka.produce(topic, [b"bad" if n % 5 == 0 else {"id": n} for n in range(100)],
                      partition=partition)
    return Pipeline(forebay, kafka.address, topic, ID, rejected={"format": request.param})


def die(it, *arguments, step="run.commit.before"):
    result = it.forebay(*it.arguments(*arguments), status=137,
                        env={"FOREBAY_FAILPOINT": f"{step}:kill"})
    assert result.status == 137


def rejected(it):
    if it.rejected.joinpath("_delta_log").exists():
        return it.rejects("_kafka_partition", "_kafka_offset")
    return sorted((line["_kafka_partition"], line["_kafka_offset"])
                  for lines in it.reject_files().values() for line in lines)


def complete(it):
    it.run()
    assert rejected(it) == [(p, o) for p in (0, 1) for o in range(0, 100, 5)]
    assert it.rows("_kafka_partition", "_kafka_offset") == [
        (p, o) for p in (0, 1) for o in range(100) if o % 5]


def test_a_smaller_try_after_a_larger_one_keeps_no_rejected_row_twice(it):
    die(it, "--to", "0:90,1:20")
    it.run("--to", "0:30,1:60")  # less of one partition, more of the other
    complete(it)


def test_a_larger_try_after_a_smaller_one_keeps_what_the_smaller_one_lacked(it):
    die(it, "--to", "0:30,1:20")
    it.run("--to", "0:70,1:20")
    complete(it)


def test_tries_of_single_partitions_do_not_disturb_each_other(it):
    die(it, "--partitions", 0)
    it.run("--partitions", 1, "--to", "1:55")
    die(it, "--partitions", 1)
    it.run("--partitions", 0, "--to", "0:5")
    complete(it)


def test_a_try_that_keeps_no_positions_changes_nothing_of_what_is_kept(it):
    die(it, "--to", "0:50,1:50")
    it.run("--to", "0:20,1:20")
    it.run("--from", "earliest", "--to", "0:10,1:10", "--no-commit")
    it.run()
    again = sorted([(p, o) for p in (0, 1) for o in range(0, 100, 5)]
                   + [(p, o) for p in (0, 1) for o in range(0, 10, 5)])
    assert rejected(it) == again


def test_a_record_that_only_the_second_try_rejects_is_kept(it, kafka):
    kafka.produce(it.topic, [{"id": None}], partition=0)
    die(it)
    it.pipeline["schema"]["columns"][0]["nullable"] = False
    it.write()
    it.run()
    assert (0, 100) in rejected(it) and len(rejected(it)) == 41
