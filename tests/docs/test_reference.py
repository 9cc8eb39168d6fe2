"""docs/reference says what the program says: generated pages, types, reports, reasons, statuses."""
import json
import re
import subprocess

import pages
from brokers import demo_broker  # noqa: F401

REFERENCE = pages.ROOT / "docs/reference"


def rows_of(page, head):
    """The rows of the table of a page whose head begins with `head`: lists of cells."""
    lines = iter(page.read_text(encoding="utf-8").splitlines())
    for line in lines:
        if line.startswith(f"| {head} |"):
            break
    next(lines)
    found = []
    for line in lines:
        if not line.startswith("|"):
            break
        found.append([cell.strip() for cell in line.strip("|").split(" | ")])
    assert found, f"{page} has no table | {head} |"
    return found


def test_generated_pages_are_up_to_date(forebay):
    done = subprocess.run([pages.ROOT / "tools/make_docs.sh", "--check"], text=True,
                          capture_output=True, check=False,
                          env={"PATH": "/usr/bin:/bin", "FOREBAY": str(forebay.path)})
    assert done.returncode == 0, done.stdout + done.stderr


# --- types ----------------------------------------------------------------------------------------


def test_every_value_of_types_md_lands_as_it_says(forebay, demo_broker):
    from confluent_kafka import Producer
    rows = [[cell.strip("`") for cell in row] for row in
            rows_of(REFERENCE / "types.md", "type | in the message")]
    columns, expected = [], {}
    producer = Producer({"bootstrap.servers": demo_broker.address})
    for number, (kind, value, strict, lenient) in enumerate(rows):
        for mode, lands in (("strict", strict), ("lenient", lenient)):
            name = f"{mode}_{number}"
            columns.append({"name": name, "type": kind, "mode": mode})
            expected[name] = (kind, value, mode, lands)
            producer.produce("types", f'{{"{name}": {value}}}', partition=0)
    assert producer.flush(30) == 0
    (forebay.folder / "forebay.yml").write_text(json.dumps({
        "version": "1", "pipelines": {"types": {
            "source": {"path": f"kafka://{demo_broker.address}/types"},
            "schema": {"columns": columns},
            "sink": {"accepted": {"path": "./lake/types"}}}}}))
    report = forebay("run", "--json").json()
    assert report["rows"]["read"] == len(expected)

    landed = {}
    for line in forebay("query", "FROM types", "-f", "jsonl").stdout.splitlines():
        row = json.loads(line, parse_float=str, parse_int=str)
        [(name, value)] = [(name, value) for name, value in row.items() if value is not None]
        landed[name] = str(value).lower() if isinstance(value, bool) else value
    query = "SELECT errors[1].column AS c, errors[1].reason AS r FROM types_rejected"
    for line in forebay("query", query, "-f", "jsonl").stdout.splitlines():
        row = json.loads(line)
        landed[row["c"]] = row["r"]
    wrong = [f"{kind} {value} {mode}: {landed.get(name)!r}, not {lands!r}"
             for name, (kind, value, mode, lands) in expected.items() if landed.get(name) != lands]
    assert not wrong, "\n".join(wrong)


def test_every_type_has_an_example():
    def first_words(head):
        return {row[0].strip("`").split("(")[0] for row in rows_of(REFERENCE / "types.md", head)}
    types, shown = first_words("type | also written"), first_words("type | in the message")
    assert types - shown == {"int16", "int32", "uint8", "uint16"}  # like their neighbours


# --- the report -----------------------------------------------------------------------------------


def keys_of(value, path=""):
    """a.b and a[].b of a JSON value, without the containers themselves."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from keys_of(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        yield path
        for inner in value:
            yield from keys_of(inner, f"{path}[]")
    else:
        yield path


def test_the_keys_of_a_report_are_those_of_report_md(forebay):
    forebay("demo", "--messages", "100")
    whole = json.loads(min((forebay.folder / "forebay-demo/reports").iterdir()).read_text())
    failed = forebay("-c", "forebay-demo/forebay.yml", "run", "--json", "--timeout-ms", "300",
                     status=5).json()
    found = set(keys_of(whole)) | set(keys_of(failed))
    told = {key for row in rows_of(REFERENCE / "report.md", "key")
            for key in re.findall(r"`([^`]+)`", row[0])}
    assert told == found


# --- reasons --------------------------------------------------------------------------------------


def test_bad_rows_md_has_every_word_of_refusals_def():
    text = (pages.ROOT / "src/batch/refusals.def").read_text()
    declared = re.findall(r'^FB_REFUSAL\(\w+,\s+"(\w+)",\s+(\w+),\s+"(.*)"\)', text, re.M)
    told = [(word.strip("`"), code, meaning) for word, code, meaning
            in rows_of(pages.ROOT / "docs/how-to/bad-rows.md", "reason | code")]
    assert told == [(word, f"FB-{code}", meaning.replace("\\\\", "\\")) for word, code, meaning in declared]


# --- exit statuses --------------------------------------------------------------------------------


def test_exit_codes_md_names_every_kind_that_a_retry_may_help():
    text = (pages.ROOT / "src/base/error_codes.def").read_text()
    kinds = re.findall(r'^FB_CODE\((\w+),\s*\d+,\s*(\d+),\s*1,\s*"(.*)"\)', text, re.M)
    told = {(kind, status) for kind, status, _ in
            rows_of(REFERENCE / "exit-codes.md", "kind | status")}
    assert told == {(meaning, status) for _, status, meaning in kinds}
    of_kind = dict(re.findall(r"^FB_REASON\((\w+), (\w+),",
                              (pages.ROOT / "src/base/reasons.def").read_text(), re.M))
    by_meaning = {meaning: name for name, _, meaning in kinds}
    for kind, _, codes in rows_of(REFERENCE / "exit-codes.md", "kind | status"):
        assert {of_kind[code] for code in re.findall(r"FB-(\w+)", codes)} == {by_meaning[kind]}
