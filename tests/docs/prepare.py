"""What pages take for granted: `<!-- test: prepare NAME WORDS -->` calls NAME(session, kafka, *WORDS)."""
import json


def _order(number):
    """One order; twelve of 50,000 are broken, always the same ones."""
    order = {"order_id": f"o-{number + 1}", "customer": f"c-{number * 7919 % 1000:04}",
             "status": ("paid", "paid", "open", "paid", "refunded")[number * 31 % 5],
             "amount": number * 7907 % 99999 / 100,
             "ts": f"2026-11-29T{9 + number // 3600 % 8:02}:{number // 60 % 60:02}:{number % 60:02}Z"}
    if number % 4999 == 4998:
        order["amount"] = "twelve"
    elif number == 20000:
        order["order_id"] = None
    elif number == 40000:
        return '{"order_id":"o-40001","amount":1'
    return json.dumps(order)


def orders(session, kafka, count="50000", partitions="3", topic="orders"):
    """A topic of orders, some of them broken."""
    kafka.topic(topic, int(partitions))
    kafka.produce(topic, [_order(number) for number in range(int(count))],
                  partition=lambda number: number % int(partitions))


def secrets(session, kafka):
    """Files for TLS where the page says they are, and passwords in the environment."""
    raise NotImplementedError
