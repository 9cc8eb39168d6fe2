"""What was written to a topic, record by record, and whether the tables hold just that.

    ledger = Ledger(kafka, topic, partitions=3, seed=1)
    ledger.write(100)              # good rows, bad ones, tombstones, transactions, aborted ones
    assert ledger.compare(it) == EXACT

The comparison is in memory and takes milliseconds, so that it can follow every death; the
outside judges of tests/tools come at the end and share no code with it.
"""
import base64
import collections
import json
import random

Books = collections.namedtuple("Books", "lost duplicated altered extra")
EXACT = Books(0, 0, 0, 0)
COLUMNS = [{"name": "id", "type": "int64", "nullable": False}, ("s", "string")]


class Ledger:
    def __init__(self, kafka, topic, partitions, seed):
        from confluent_kafka import Producer
        self.topic, self.partitions, self.random = topic, partitions, random.Random(seed)
        common = {**kafka.client(linger_ms=2, message_timeout_ms=120000), "log_level": 2}
        self.plain = Producer({**common, "enable.idempotence": True})
        self.in_transactions = Producer({**common, "transactional.id": topic,
                                         "transaction.timeout.ms": 300000})
        self.in_transactions.init_transactions(60)
        self.rows, self.rejects = {}, {}  # (partition, offset) -> (id, s), or the value
        self.count = 0

    def _make(self):
        """A value, and the row it becomes; None for one that must be rejected."""
        self.count += 1
        kind = self.random.random()
        if kind < 0.05:
            return b"bad %d \xff" % self.count, None
        if kind < 0.08:
            return json.dumps({"id": None, "s": f"no id {self.count}"}).encode(), None
        if kind < 0.10:
            return None, None
        row = self.count, "x" * self.random.randrange(40)
        return json.dumps({"id": row[0], "s": row[1]}).encode(), row

    def _send(self, producer, count, keeps):
        def note(value, row):
            def delivered(error, message):
                assert error is None, error
                place = message.partition(), message.offset()
                if keeps and row is None:
                    self.rejects[place] = value
                elif keeps:
                    self.rows[place] = row
            return delivered

        for _ in range(count):
            value, row = self._make()
            producer.produce(self.topic, value, partition=self.random.randrange(self.partitions),
                             on_delivery=note(value, row))
            producer.poll(0)
        assert producer.flush(120) == 0

    def write(self, count):
        """Some plain, some in a transaction that is committed, some in one that is not."""
        self._send(self.plain, count // 2, True)
        for share, keeps in ((count // 4, True), (count // 4, False)):
            self.in_transactions.begin_transaction()
            self._send(self.in_transactions, share, keeps)
            if keeps:
                self.in_transactions.commit_transaction(60)
            else:
                self.in_transactions.abort_transaction(60)

    # --- the comparison -----------------------------------------------------------------

    @staticmethod
    def _books(expected, found):
        seen = collections.Counter(place for place, _ in found)
        return Books(lost=len(expected.keys() - seen.keys()),
                     duplicated=sum(seen.values()) - len(seen),
                     altered=sum(expected.get(place, what) != what for place, what in found),
                     extra=len(seen.keys() - expected.keys()))

    def rejected_by(self, it):
        """((partition, offset), value) of every rejected row that is kept."""
        if it.rejected.joinpath("_delta_log").exists():
            return [((p, o), value) for p, o, value in
                    it.rejects("_kafka_partition", "_kafka_offset", "_kafka_value")]
        found = []
        for lines in it.reject_files().values():
            for line in lines:
                text, coded = line["_kafka_value"], line["_kafka_value_base64"]
                value = base64.b64decode(coded) if coded is not None else text and text.encode()
                found.append(((line["_kafka_partition"], line["_kafka_offset"]), value))
        return found

    def compare(self, it):
        """Rows and rejected rows against what was written. @return the sum of both"""
        rows = it.version() >= 0 and it.rows("_kafka_partition", "_kafka_offset", "id", "s") or []
        accepted = self._books(self.rows, [((p, o), (number, text)) for p, o, number, text in rows])
        rejected = self._books(self.rejects, self.rejected_by(it))
        return Books(*(a + b for a, b in zip(accepted, rejected)))
