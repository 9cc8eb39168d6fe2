"""A pipeline under test: its configuration, its runs, and what is in its tables afterwards.

    it = Pipeline(forebay, kafka.address, topic, columns=[("id", "int64")])
    report = it.run("--max-messages", 10)          # the run's report, read from JSON
    it.rows("id", "_kafka_offset")                 # tuples, by place

Tables are read by deltalake, which shares no code with forebay.
"""
import glob
import json

PLACE = ["partition", "offset"]


def column(name, kind, **more):
    return {"name": name, "type": kind, **more}


class Pipeline:
    """One pipeline in a configuration of its own, written anew whenever it changes.

    columns are (name, type) pairs or maps; None leaves `schema` out (raw and text). source,
    schema, sink and keys are merged into the sections of those names.
    """

    def __init__(self, forebay, address, topic, columns=None, name="p", source=None, schema=None,
                 rejected=None, connection=None, **keys):
        self.forebay, self.name, self.topic = forebay, name, topic
        self.folder = forebay.folder
        self.table = self.folder / "lake" / name
        self.rejected = self.folder / "lake" / (name + "_rejected")
        self.file = self.folder / (name + ".yml")
        self.connection = {"type": "kafka", "bootstrap_servers": address, **(connection or {})}
        self.pipeline = {
            "source": {"connection": "events", "topic": topic, "metadata": PLACE, **(source or {})},
            "sink": {"accepted": {"format": "delta", "path": str(self.table)},
                     "rejected": {"path": str(self.rejected), **(rejected or {})}},
            **keys}
        if columns is not None:
            self.pipeline["schema"] = {
                "columns": [one if isinstance(one, dict) else column(*one) for one in columns],
                **(schema or {})}
        self.write()

    def write(self):
        """JSON is YAML, so this is a configuration."""
        self.file.write_text(json.dumps({
            "version": "1", "connections": {"events": self.connection},
            "state": {"path": str(self.folder / "state")},
            "report": {"path": str(self.folder / "reports")},
            "pipelines": {self.name: self.pipeline}}, indent=1))

    def change(self, section, **keys):
        self.pipeline.setdefault(section, {}).update(keys)
        self.write()

    def arguments(self, *more, command="run"):
        return (command, self.name, "-c", self.file, *more)

    def run(self, *more, status=0, **options):
        """Run it to its end. @return the report, with standard error as report["stderr"]"""
        result = self.forebay(*self.arguments("--json", *more), status=status, **options)
        report = json.loads(result.stdout) if result.stdout.strip() else {}
        report["stderr"] = result.stderr
        report["result"] = result
        return report

    def fails(self, code, *more, status=1, **options):
        """Run it and demand this failure. @return the report"""
        report = self.run(*more, status=status, **options)
        assert report["error"] and report["error"]["code"] == code, repr(report["result"])
        assert code in report["stderr"], repr(report["result"])
        assert report["exit_code"] == report["result"].status != 0, repr(report["result"])
        return report

    # --- what is there afterwards -------------------------------------------------------

    def delta(self, path=None):
        from deltalake import DeltaTable
        return DeltaTable(str(path or self.table))

    def arrow(self, path=None):
        return self.delta(path).to_pyarrow_table()

    def rows(self, *columns, path=None):
        """Tuples of the named columns (all when none is), sorted by place."""
        found = self.arrow(path)
        names = list(columns) or found.column_names
        order = [name for name in ("_kafka_partition", "_kafka_offset") if name in found.column_names]
        if order:
            found = found.sort_by([(name, "ascending") for name in order])
        return [tuple(row[name] for name in names) for row in found.select(names).to_pylist()]

    def rejects(self, *columns):
        return self.rows(*columns, path=self.rejected)

    def reject_files(self):
        """The rows of the NDJSON files, by file name."""
        return {path.split("/")[-1]: [json.loads(line) for line in open(path, encoding="utf-8")]
                for path in sorted(glob.glob(str(self.rejected / "*.ndjson")))}

    def log(self, path=None):
        """Every action of the table's log: (version, kind, body)."""
        files = sorted(glob.glob(str((path or self.table) / "_delta_log" / "*.json")))
        return [(int(name.split("/")[-1][:20]), kind, body)
                for name in files if name.split("/")[-1][:20].isdigit()
                for line in open(name, encoding="utf-8")
                for kind, body in json.loads(line).items()]

    def positions(self, path=None):
        """partition -> next offset, from the table's own txns."""
        prefix = f"forebay/{self.name}/{self.topic}"
        found = {}
        for _, kind, body in self.log(path):
            if kind == "txn" and body["appId"].split("@")[0].rsplit("/", 1)[0] in (
                    prefix, prefix.rsplit("/", 1)[0]) and body["appId"].startswith(prefix):
                found[int(body["appId"].rsplit("/", 1)[1])] = body["version"]
        return found

    def version(self):
        """The newest version of the table; -1 while there is none."""
        return max((version for version, _, _ in self.log()), default=-1)

    def commit_info(self):
        """What the newest commit says of itself."""
        return [body for _, kind, body in self.log() if kind == "commitInfo"][-1]["forebay"]
