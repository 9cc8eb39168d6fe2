"""What pages take for granted: `<!-- test: prepare NAME WORDS -->` calls NAME(session, kafka, *WORDS)."""
import json
import shutil
import subprocess


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


def more(session, kafka, count, topic="orders"):
    """More orders, half of them in each of two partitions."""
    kafka.produce(topic, [_order(number) for number in range(int(count))],
                  partition=lambda number: number % 2)


def secured(session, kafka):
    """Brokers with TLS and passwords, certificates, secrets, and no rights but those given."""
    from confluent_kafka.admin import (AclBinding, AclBindingFilter, AclOperation,
                                       AclPermissionType, ResourcePatternType, ResourceType,
                                       ScramCredentialInfo, ScramMechanism,
                                       UserScramCredentialUpsertion)
    admin = kafka.admin()
    admin.alter_user_scram_credentials([UserScramCredentialUpsertion(
        "loader", ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096),
        b"loader-secret")])["loader"].result(30)
    orders(session, kafka, "1000", "2")

    def everything(kind, owner, operation):
        """Of a thing that has one right, nobody else has any."""
        return kind(*owner, ResourcePatternType.LITERAL, "User:nobody", "*", operation,
                    AclPermissionType.ALLOW)
    guarded = [(ResourceType.TOPIC, "*"), (ResourceType.GROUP, "*"),
               (ResourceType.BROKER, "kafka-cluster")]
    for done in admin.create_acls([everything(AclBinding, what, AclOperation.DESCRIBE)
                                   for what in guarded]).values():
        done.result(30)
    anything = AclBindingFilter(ResourceType.ANY, None, ResourcePatternType.ANY, None, None,
                                AclOperation.ANY, AclPermissionType.ANY)
    session.at_end.append(lambda: [done.result(30) for done in
                                   admin.delete_acls([anything]).values()])

    folder = session.home / "etc"
    tls = folder / "tls"
    tls.mkdir(parents=True)
    for name, key in {"ca.pem": "KAFKA_CA", "client.crt": "KAFKA_CLIENT_CERT"}.items():
        shutil.copy(kafka.settings[key], tls / name)
    subprocess.run(["openssl", "rsa", "-aes256", "-passout", "pass:key-secret", "-in",
                    kafka.settings["KAFKA_CLIENT_KEY"], "-out", tls / "client.key"],
                   check=True, capture_output=True)
    for name, secret in {"kafka-password": "loader-secret", "client-key": "key-secret"}.items():
        path = session.home / "secrets" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(secret + "\n")
        path.chmod(0o600)
    session.names.update({
        "/etc/forebay": str(folder), "/run/secrets": str(session.home / "secrets"),
        "broker1.example.com:9093": kafka.settings["KAFKA_SASL_SSL_BOOTSTRAP"],
        "broker1.example.com:9094": kafka.settings["KAFKA_SSL_BOOTSTRAP"],
        "broker1.example.com:9092": kafka.address})
