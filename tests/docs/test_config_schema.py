"""The JSON Schema of the configuration says what the program's own reader says."""
import copy

import jsonschema
import pytest
import yaml

GOOD = """
version: 1
connections:
  events:
    type: kafka
    bootstrap_servers: "${KAFKA_BROKERS:-localhost:9092}"
    security_protocol: SASL_SSL
    sasl_mechanism: SCRAM-SHA-256
    sasl_username: loader
    sasl_password: env://KAFKA_PASSWORD
    options: {session.timeout.ms: 30000}
state: {path: ./.forebay}
report: {path: ./reports, keep: 200}
memory: 1GB
pipelines:
  orders:
    source: {connection: events, topic: orders, include_metadata: true, max_messages: 50000}
    schema:
      mismatch: {missing_columns: reject, extra_columns: ignore}
      columns:
        - {name: order_id, type: string, nullable: false, unique: true}
        - {name: amount, type: float64, mode: lenient}
    policy: {severity: reject}
    sink:
      write_mode: append
      accepted: {format: delta, path: ./lake/orders, delta: {compression: snappy}}
      rejected: {format: ndjson, path: ./lake/orders_rejected}
"""

# A path to a key, and a value neither the schema nor the program takes there.
BAD = [
    ("pipelines.orders.source.max_mesages", 1),
    ("pipelines.orders.source.max_messages", -1),
    ("pipelines.orders.source.max_messages", "many"),
    ("pipelines.orders.source.metadata", ["offset", "size"]),
    ("pipelines.orders.policy.severity", "drop"),
    ("pipelines.orders.schema.columns.0.nullable", "yes"),
    ("pipelines.orders.schema.columns.0.nme", "x"),
    ("pipelines.orders.sink.accepted.format", "csv"),
    ("connections.events.sasl_password", "hunter2"),
    ("connections.events.options.group.id", None),
    ("connections.events.type", "mysql"),
    ("memory", 1024),
    ("report", ["./reports"]),
    ("extra", 1),
]


@pytest.fixture
def validator(forebay):
    schema = forebay("schema", "config").json()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def test_a_configuration_of_the_manual_is_taken_by_both(forebay, validator):
    assert [fault.message for fault in validator.iter_errors(yaml.safe_load(GOOD))] == []
    (forebay.folder / "forebay.yml").write_text(GOOD)
    forebay("check", "--offline")


@pytest.mark.parametrize("path, value", BAD, ids=[path for path, _ in BAD])
def test_what_the_schema_refuses_the_program_refuses(forebay, validator, path, value):
    document = copy.deepcopy(yaml.safe_load(GOOD))
    at, keys = document, path.split(".")
    if "options" in keys:
        keys, value = keys[:2] + ["options"], {path.split("options.")[1]: 1}
    for key in keys[:-1]:
        at = at[int(key) if key.isdigit() else key]
    at[keys[-1]] = value
    assert not validator.is_valid(document)
    (forebay.folder / "forebay.yml").write_text(yaml.safe_dump(document))
    forebay("check", "--offline", status=2)
