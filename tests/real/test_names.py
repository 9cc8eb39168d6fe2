"""Columns that are called as something of forebay's own."""
import pytest

from landing import Pipeline


@pytest.mark.parametrize("rejected", ["delta", "ndjson"])
def test_a_table_with_a_unique_column_may_have_columns_called_as_those_of_ours(
        rejected, forebay, kafka):
    names = ["errors", "raw", "column", "place_offset", "place_partition", "value0", "lost",
             "severity", "fb_rows", "fb_losers", "pipeline", "run_id", "rejected_at"]
    topic = kafka.topic()
    kafka.produce(topic, [{"id": number // 2, **{name: number for name in names}}
                          for number in range(10)])
    it = Pipeline(forebay, kafka.address, topic,
                  [{"name": "id", "type": "int64", "unique": True},
                   *((name, "int64") for name in names)], rejected={"format": rejected})
    assert it.run()["rows"]["rejected"] == 5
    assert it.rows("id", *names) == [(n, *[2 * n] * len(names)) for n in range(5)]


def test_pipelines_that_share_a_folder_of_rejected_rows_do_not_replace_each_others_files(
        forebay, kafka):
    end = kafka.topic()
    whole = kafka.topic("b." + end)
    for topic in (end, whole):
        kafka.produce(topic, [topic])
    shared = {"format": "ndjson", "path": str(forebay.folder / "shared")}
    pairs = [("a", whole), ("a.b", end), ("b." + end, whole), ("b", end)]
    for pipeline, topic in pairs:
        it = Pipeline(forebay, kafka.address, topic, [("id", "int64")], pipeline, rejected=shared)
        assert it.run()["rows"]["rejected"] == 1
    it.rejected = forebay.folder / "shared"
    found = [(line["pipeline"], line["_kafka_value"]) for lines in it.reject_files().values()
             for line in lines]
    assert sorted(found) == sorted(pairs)


def test_names_that_rows_carry_beside_a_unique_column_are_refused_before_anything_is_read(
        forebay, kafka):
    columns = [{"name": "id", "type": "int64", "unique": True}, ("__FB_Offset", "int64")]
    it = Pipeline(forebay, kafka.address, "none", columns)
    result = forebay(*it.arguments(), status=2)
    assert "FB-C103" in result.stderr and "__FB_Offset" in result.stderr
    topic = kafka.topic()
    kafka.produce(topic, [{"id": 1, "__FB_Offset": 2}])
    it = Pipeline(forebay, kafka.address, topic, [("id", "int64"), columns[1]])
    assert it.run()["rows"]["written"] == 1
