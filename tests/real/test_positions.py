"""Positions: where they are kept, what is done when the topic cannot serve them, and who may
move them."""
import json
import shutil
import time

import pytest

from landing import Pipeline

ID = [("id", "int64")]


def ids(it):
    return [value for value, in it.rows("id")]


def numbers(first, count):
    return [{"id": number} for number in range(first, first + count)]


def delete_records(kafka, topic, before):
    from confluent_kafka import TopicPartition
    admin = kafka.admin()
    where = TopicPartition(topic, 0, before)
    admin.delete_records([where])[where].result(30)


def make_again(kafka, topic, **config):
    import time
    admin = kafka.admin()
    admin.delete_topics([topic])[topic].result(30)
    deadline = time.monotonic() + 30
    while topic in admin.list_topics(timeout=10).topics and time.monotonic() < deadline:
        time.sleep(0.1)
    while True:  # the deletion goes on behind the answer
        try:
            return kafka.topic(topic, **config)
        except Exception:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


@pytest.fixture
def landed(forebay, kafka):
    """A pipeline whose topic of 100 records is landed."""
    topic = kafka.topic()
    kafka.produce(topic, numbers(0, 100))
    it = Pipeline(forebay, kafka.address, topic, ID)
    it.run()
    return it


# --- what is lost ---------------------------------------------------------------------------


def test_records_deleted_before_they_were_read_stop_the_run_and_are_counted(kafka, landed):
    kafka.produce(landed.topic, numbers(100, 500))
    delete_records(kafka, landed.topic, 500)
    report = landed.fails("FB-O001")
    assert "400 messages" in report["error"]["what"] and report["error"]["do"]
    assert landed.version() == 0 and landed.positions() == {0: 100}


@pytest.mark.parametrize("policy, first", [("earliest", 500), ("latest", 600)])
def test_a_loss_may_be_passed_over_by_choice_and_is_written_down(policy, first, kafka, landed):
    kafka.produce(landed.topic, numbers(100, 500))
    delete_records(kafka, landed.topic, 500)
    landed.change("source", on_data_loss=policy)
    report = landed.run()
    said = report["stderr"]
    assert report["lost"] == first - 100
    assert f"partition 0: {first - 100} offsets from 100 on are passed over" in said
    kafka.produce(landed.topic, numbers(600, 10))
    landed.run()
    assert ids(landed) == [*range(100), *range(first, 610)]
    lost = [body["forebay"]["lost"] for _, kind, body in landed.log() if kind == "commitInfo"]
    assert lost[1:] == [[{"partition": 0, "from": 100, "to": first}], []]
    assert landed.run()["rows"]["read"] == 0


def shorten(kafka, it, count):
    """The topic has `count` records and the table a position of 100, without any word of the
    topic's id: what a truncation looks like."""
    for path in (it.table / "_delta_log").glob("*.json"):
        kept = [line for line in path.read_text().splitlines() if "forebay-topic-id" not in line]
        path.write_text("\n".join(kept) + "\n")
    make_again(kafka, it.topic)
    kafka.produce(it.topic, numbers(1000, count))


@pytest.mark.parametrize("policy", ["stop", "earliest", "latest"])
def test_a_position_past_the_end_stops_the_run_whatever_the_policy(policy, kafka, landed):
    shorten(kafka, landed, 50)
    landed.change("source", on_data_loss=policy)
    report = landed.fails("FB-O002")
    assert "offsets reset" in report["error"]["do"]
    assert landed.version() == 0


def test_a_topic_made_again_stops_the_run_although_its_offsets_would_fit(kafka, landed):
    make_again(kafka, landed.topic)
    kafka.produce(landed.topic, numbers(1000, 150))
    landed.fails("FB-O003")
    assert landed.version() == 0 and ids(landed) == list(range(100))


def test_a_topic_made_again_while_it_is_read_lands_nothing_under_the_old_positions(
        forebay, kafka, landed):
    kafka.produce(landed.topic, numbers(100, 100))
    process = forebay.start(*landed.arguments("--json"),
                            env={"FOREBAY_FAILPOINT": "run.planned:sleep=6s"})
    time.sleep(2)
    make_again(kafka, landed.topic)
    kafka.produce(landed.topic, numbers(1000, 300))
    report = json.loads(process.communicate(timeout=60)[0])
    assert report["error"]["code"] == "FB-O003" and process.returncode == 1
    assert ids(landed) == list(range(100)) and landed.positions() == {0: 100}
    landed.change("source", on_recreated="restart")
    assert landed.run()["rows"]["written"] == 300


def test_a_topic_deleted_while_it_is_read_ends_the_run_in_order(forebay, kafka, landed):
    kafka.produce(landed.topic, numbers(100, 100))
    process = forebay.start(*landed.arguments("--json"),
                            env={"FOREBAY_FAILPOINT": "run.planned:sleep=3s"})
    time.sleep(1.5)
    admin = kafka.admin()
    admin.delete_topics([landed.topic])[landed.topic].result(30)
    report = json.loads(process.communicate(timeout=60)[0])
    assert process.returncode >= 0 and report["rows"]["read"] in (0, 100)
    landed.fails("FB-K004")


def test_a_topic_made_again_lands_from_its_start_by_choice(kafka, landed, fsck):
    landed.change("source", on_recreated="restart")
    for life in (1000, 2000):
        make_again(kafka, landed.topic)
        kafka.produce(landed.topic, ["bad", *numbers(life, 119)])
        report = landed.run()
        assert report["rows"]["written"] == 119 and report["offsets"][0]["from"] == 0
        kafka.produce(landed.topic, [*numbers(life + 119, 1), "bad"])
        assert landed.run()["rows"]["read"] == 2
    assert sorted(ids(landed)) == [*range(100), *range(1000, 1120), *range(2000, 2120)]
    assert landed.rejects("_kafka_offset") == [(0,), (0,), (120 + 1,), (120 + 1,)]
    fsck(landed.table)
    fsck(landed.rejected)


def test_a_partition_without_a_position_is_not_taken_from_the_topic_before(forebay, kafka):
    topic = kafka.topic(partitions=2)
    kafka.produce(topic, ["bad"] * 10, partition=1)
    it = Pipeline(forebay, kafka.address, topic, ID, source={"on_recreated": "restart"})
    it.run("--partitions", 1)
    make_again(kafka, topic, partitions=1)
    kafka.produce(topic, ["bad", *numbers(0, 9)])
    assert it.run()["rows"]["read"] == 10
    from confluent_kafka.admin import NewPartitions
    admin = kafka.admin()
    admin.create_partitions([NewPartitions(topic, 2)])[topic].result(30)
    kafka.produce(topic, ["bad", *numbers(10, 4)], partition=1)
    assert it.run()["rows"]["read"] == 5
    assert ids(it) == [*range(9), *range(10, 14)]
    assert len(it.rejects("_kafka_offset")) == 12


def test_a_table_that_lost_our_position_stops_the_run(kafka, landed):
    path = landed.table / "_delta_log" / f"{0:020}.json"
    path.write_text("\n".join(line for line in path.read_text().splitlines()
                              if '"txn"' not in line) + "\n")
    report = landed.fails("FB-O004")
    assert "--to 0:100" in report["error"]["do"]


def test_what_is_advised_about_lost_positions_works_for_one_partition_at_a_time(forebay, kafka):
    topic = kafka.topic(partitions=2)
    kafka.produce(topic, numbers(0, 20), partition=lambda n: n % 2)
    it = Pipeline(forebay, kafka.address, topic, ID)
    it.run()
    path = it.table / "_delta_log" / f"{0:020}.json"
    path.write_text("\n".join(line for line in path.read_text().splitlines()
                              if '"txn"' not in line) + "\n")
    for partition in (0, 1):
        advice = it.fails("FB-O004")["error"]["do"]
        assert f"--partition {partition} --to {partition}:10" in advice
        reset(forebay, it, f"{partition}:10")
    assert it.run()["rows"]["read"] == 0
    assert sorted(ids(it)) == list(range(20))


@pytest.mark.parametrize("store, name", [("target", "landed.json"), ("file", "offsets.json")])
def test_a_state_file_that_is_broken_is_mended_by_a_reset_as_is_advised(
        store, name, forebay, kafka):
    topic = kafka.topic()
    kafka.produce(topic, numbers(0, 100))
    it = Pipeline(forebay, kafka.address, topic, ID, state={"store": store})
    it.run()
    (forebay.folder / "state" / "p" / name).write_text("{")
    assert "offsets reset" in it.fails("FB-O010", status=3)["error"]["do"]
    reset(forebay, it, "0:100")
    assert it.run()["rows"]["read"] == 0


def test_a_first_start_that_may_not_choose_is_not_sent_to_a_table_that_is_not_there(
        forebay, kafka):
    topic = kafka.topic()
    it = Pipeline(forebay, kafka.address, topic, ID, source={"auto_offset_reset": "error"})
    assert "offsets reset" not in it.fails("FB-O005")["error"]["do"]


# --- store: file ----------------------------------------------------------------------------


@pytest.fixture
def filed(forebay, kafka):
    topic = kafka.topic()
    kafka.produce(topic, numbers(0, 100))
    it = Pipeline(forebay, kafka.address, topic, ID, state={"store": "file"})
    it.document = forebay.folder / "state" / "p" / "offsets.json"
    it.run("--max-messages", 60)
    return it


def test_the_state_file_is_the_document_that_floe_knows(filed):
    document = json.loads(filed.document.read_text())
    assert document["schema"] == "floe.state.kafka-offset.v1" and document["entity"] == "p"
    assert document["offsets"] == {"0": 60} and document["updated_at"].endswith("Z")
    filed.run()
    assert json.loads(filed.document.read_text())["offsets"] == {"0": 100}
    assert ids(filed) == list(range(100))


def test_a_person_may_move_the_offsets_in_the_state_file(filed):
    document = json.loads(filed.document.read_text())
    document["offsets"]["0"] = 90
    filed.document.write_text(json.dumps(document))
    assert filed.run()["rows"]["read"] == 10
    document = json.loads(filed.document.read_text())
    document["offsets"]["0"] = 95
    filed.document.write_text(json.dumps(document))
    assert filed.run()["rows"]["read"] == 5
    assert filed.run()["rows"]["read"] == 0


def test_a_document_of_floe_is_where_the_first_run_begins(forebay, kafka):
    topic = kafka.topic()
    kafka.produce(topic, numbers(0, 100))
    it = Pipeline(forebay, kafka.address, topic, ID, state={
        "store": "file", "path": str(forebay.folder / "floe.json")})
    (forebay.folder / "floe.json").write_text(json.dumps({
        "schema": "floe.state.kafka-offset.v1", "entity": "p", "updated_at": None,
        "offsets": {"0": 70}}))
    assert it.run()["rows"]["read"] == 30
    assert it.run()["rows"]["read"] == 0


def test_a_state_file_of_another_pipeline_or_schema_is_refused(filed):
    good = filed.document.read_text()
    for bad in (good.replace('"entity":"p"', '"entity":"q"'), good.replace("floe.state", "x"), "{"):
        filed.document.write_text(bad)
        filed.fails("FB-O010", status=None)
    assert filed.version() == 0


@pytest.mark.parametrize("offsets", [
    {"0": "90"}, {"0": -1}, {"0": 90.0}, {"0": None}, {"0": 2 ** 63}, {"00": 90}, {"p": 90}, [90],
    None])
def test_what_is_no_offset_in_the_state_file_is_not_taken_for_none(offsets, filed):
    document = json.loads(filed.document.read_text())
    document["offsets"] = offsets
    filed.document.write_text(json.dumps(document))
    filed.fails("FB-O010", status=3)
    assert ids(filed) == list(range(60))


def test_a_state_file_of_another_topic_is_refused(kafka, filed):
    other = kafka.topic()
    kafka.produce(other, numbers(0, 100))
    filed.change("source", topic=other)
    filed.fails("FB-O010", status=3)


def test_a_state_file_that_is_gone_does_not_land_rows_twice(filed):
    filed.document.unlink()
    assert filed.run()["rows"]["read"] == 40
    assert ids(filed) == list(range(100))


def test_a_state_file_of_an_older_moment_does_not_land_rows_twice(filed):
    """What a process leaves that wakes up after another one has gone on."""
    old = filed.document.read_text()
    filed.run()
    filed.document.write_text(old)
    assert filed.run()["rows"]["read"] == 0
    assert ids(filed) == list(range(100))


def test_a_state_file_from_before_the_topic_was_made_again_is_noticed(kafka, filed):
    make_again(kafka, filed.topic)
    kafka.produce(filed.topic, numbers(500, 80))
    filed.fails("FB-O003")
    shutil.rmtree(filed.table)
    filed.fails("FB-O003")
    filed.change("source", on_recreated="restart")
    assert filed.run()["rows"]["read"] == 80


# --- the group's mirror ---------------------------------------------------------------------


def group_offset(kafka, group, topic):
    from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition
    asked = ConsumerGroupTopicPartitions(group, [TopicPartition(topic, 0)])
    admin = kafka.admin()
    told = admin.list_consumer_group_offsets([asked])[group].result(30)
    return told.topic_partitions[0].offset


def set_group_offset(kafka, group, topic, offset):
    from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition
    asked = ConsumerGroupTopicPartitions(group, [TopicPartition(topic, 0, offset)])
    admin = kafka.admin()
    admin.alter_consumer_group_offsets([asked])[group].result(30)


def test_the_group_shows_the_tables_positions_and_is_never_read_back(forebay, kafka):
    topic = kafka.topic()
    group = "g-" + topic
    it = Pipeline(forebay, kafka.address, topic, ID, source={"group_id": group})
    kafka.produce(topic, numbers(0, 10))
    it.run()
    assert group_offset(kafka, group, topic) == it.positions()[0] == 10
    for moved in (0, 3, 10000):
        set_group_offset(kafka, group, topic, moved)
        assert it.run()["rows"]["read"] == 0
        kafka.produce(topic, numbers(it.positions()[0], 5))
        assert it.run()["rows"]["read"] == 5
        assert group_offset(kafka, group, topic) == it.positions()[0]
    admin = kafka.admin()
    admin.delete_consumer_groups([group])[group].result(30)
    kafka.produce(topic, numbers(25, 5))
    assert it.run()["rows"]["read"] == 5
    assert group_offset(kafka, group, topic) == 30
    assert ids(it) == list(range(30))


def test_without_a_group_id_no_group_is_touched(forebay, kafka, landed):
    admin = kafka.admin()
    groups = {one.group_id for one in admin.list_consumer_groups().result(30).valid}
    assert "forebay-p" not in groups


# --- moving them by hand --------------------------------------------------------------------


def reset(forebay, it, to):
    forebay("offsets", "reset", "p", "-c", it.file, "--to", to, "--reason", "again", "--yes", "p")


def test_offsets_reset_moves_the_next_run_and_says_so_in_the_tables_history(forebay, landed):
    reset(forebay, landed, "0:90")
    assert landed.positions() == {0: 90} and landed.commit_info() == {"reset": "again"}
    assert landed.run()["rows"]["read"] == 10
    assert sorted(ids(landed)) == sorted([*range(100), *range(90, 100)])


def test_files_of_rejected_rows_are_not_replaced_by_what_is_read_after_a_reset(forebay, kafka):
    topic = kafka.topic()
    kafka.produce(topic, ["bad" if n in (2, 8) else {"id": n} for n in range(10)])
    it = Pipeline(forebay, kafka.address, topic, ID, rejected={"format": "ndjson"})
    it.run()
    reset(forebay, it, "0:0")
    it.run("--max-messages", 5)
    reset(forebay, it, "end")
    found = [line["_kafka_offset"] for lines in it.reject_files().values() for line in lines]
    assert sorted(found) == [2, 2, 8]


def test_a_row_rejected_only_the_second_time_is_not_lost_after_a_reset(forebay, kafka):
    topic = kafka.topic()
    kafka.produce(topic, [{"id": 0}, "bad", {"id": None}, {"id": 3}])
    it = Pipeline(forebay, kafka.address, topic, ID)
    it.run()
    assert it.rejects("_kafka_offset") == [(1,)]
    it.pipeline["schema"]["columns"][0]["nullable"] = False
    it.write()
    shutil.rmtree(it.table)
    it.run()
    assert it.rejects("_kafka_offset") == [(1,), (2,)]
    reset(forebay, it, "earliest")
    assert it.run()["rows"]["rejected"] == 2
    assert it.rejects("_kafka_offset") == [(1,), (2,)]


def test_a_reset_of_a_topic_made_again_begins_its_other_partitions_anew(forebay, kafka):
    topic = kafka.topic(partitions=2)
    kafka.produce(topic, numbers(0, 20), partition=lambda n: n % 2)
    it = Pipeline(forebay, kafka.address, topic, ID)
    it.run()
    make_again(kafka, topic, partitions=2)
    kafka.produce(topic, numbers(100, 40), partition=lambda n: n % 2)
    it.fails("FB-O003")
    reset(forebay, it, "0:15")
    assert it.run()["rows"]["read"] == 5 + 20
