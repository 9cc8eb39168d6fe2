"""Encrypted and authenticated connections, refusals that say why, and secrets that stay so."""
import pathlib
import socket
import subprocess
import threading
import time

import pytest

from landing import Pipeline

CANARY = "canary-7f3a9c51"


@pytest.fixture(scope="module")
def topic(kafka_auth):
    topic = kafka_auth.topic()
    kafka_auth.produce(topic, [{"id": number} for number in range(5)])
    return topic


@pytest.fixture
def make(forebay, kafka_auth, topic):
    """make(listener, **connection) -> Pipeline; @CA and the like stand for settings."""
    def pipeline(listener, **connection):
        settings = kafka_auth.settings
        connection = {key: settings["KAFKA_" + value[1:]] if str(value).startswith("@") else value
                      for key, value in connection.items()}
        return Pipeline(forebay, settings[f"KAFKA_{listener}BOOTSTRAP"], topic, [("id", "int64")],
                        connection=connection)
    return pipeline


def sasl(protocol, mechanism, password="env://PASSWORD"):
    connection = {"security_protocol": protocol, "sasl_mechanism": mechanism}
    if mechanism == "OAUTHBEARER":
        connection["options"] = {"enable.sasl.oauthbearer.unsecure.jwt": "true",
                                 "sasl.oauthbearer.config": "env://CONFIG"}
    else:
        connection.update(sasl_username="alice", sasl_password=password)
    if protocol == "SASL_SSL":
        connection["ssl_ca_location"] = "@CA"
    return connection


ENV = {"PASSWORD": "alice-secret", "CONFIG": "principal=alice"}


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-512", "PLAIN", "OAUTHBEARER"])
@pytest.mark.parametrize("protocol", ["SASL_SSL", "SASL_PLAINTEXT"])
def test_each_way_to_log_in_reads_the_topic(protocol, mechanism, make):
    it = make(protocol.replace("PLAINTEXT", "").rstrip("_") + "_", **sasl(protocol, mechanism))
    assert it.run(env=ENV)["rows"]["written"] == 5
    # group, offsets and ids are asked for over the same connection
    assert it.run(env=ENV)["rows"]["read"] == 0


def test_tls_without_a_login_reads_the_topic(make):
    assert make("SSL_", security_protocol="SSL", ssl_ca_location="@CA").run()["rows"]["written"] == 5


def test_a_client_certificate_is_shown_when_there_is_one(make):
    it = make("SSL_", security_protocol="SSL", ssl_ca_location="@CA",
              ssl_certificate_location="@CLIENT_CERT", ssl_key_location="@CLIENT_KEY")
    assert it.run()["rows"]["written"] == 5


# --- refusals -------------------------------------------------------------------------------


def refused(it, code, *words, **options):
    began = time.monotonic()
    report = it.fails(code, **options)
    took = time.monotonic() - began
    assert took < 5, f"{took} s"
    for word in words:
        assert word in report["error"]["what"] + report["error"]["do"], repr(report["result"])
    assert report["error"]["state"] and it.version() == -1
    return report


@pytest.mark.parametrize("protocol, mechanism", [
    ("SASL_SSL", "SCRAM-SHA-256"), ("SASL_SSL", "SCRAM-SHA-512"), ("SASL_SSL", "PLAIN"),
    ("SASL_PLAINTEXT", "SCRAM-SHA-256")])
def test_a_wrong_password_is_called_so_at_once(protocol, mechanism, make):
    it = make(protocol.replace("PLAINTEXT", "").rstrip("_") + "_", **sasl(protocol, mechanism))
    report = refused(it, "FB-K002", "sasl_password", env={"PASSWORD": CANARY})
    assert CANARY not in repr(report["result"])


def test_a_mechanism_that_the_broker_does_not_offer_is_called_so_at_once(make, forebay):
    it = make("SSL_", **sasl("SASL_SSL", "PLAIN"))  # a port without any login
    refused(it, "FB-K002", env=ENV)


@pytest.fixture
def other_ca(tmp_path):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1",
                    "-subj", "/CN=another CA", "-keyout", tmp_path / "k", "-out", tmp_path / "ca.pem"],
                   check=True, capture_output=True)
    return str(tmp_path / "ca.pem")


def test_a_certificate_of_another_authority_is_refused_at_once(make, other_ca):
    refused(make("SSL_", security_protocol="SSL", ssl_ca_location=other_ca), "FB-K003",
            "ssl_ca_location")


def test_the_systems_authorities_do_not_vouch_for_the_broker(make):
    refused(make("SSL_", security_protocol="SSL"), "FB-K003", "ssl_ca_location")


@pytest.fixture
def proxy():
    """proxy(host, target) -> address; passes bytes between the two."""
    servers = []

    def copy(source, to):
        try:
            while data := source.recv(65536):
                to.sendall(data)
        except OSError:
            pass
        for one in (source, to):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def serve(server, target):
        while True:
            try:
                client, _ = server.accept()
                broker = socket.create_connection(target)
            except OSError:
                return
            for pair in ((client, broker), (broker, client)):
                threading.Thread(target=copy, args=pair, daemon=True).start()

    def begin(host, target):
        name, _, port = target.rpartition(":")
        server = socket.create_server((host, 0))
        servers.append(server)
        threading.Thread(target=serve, args=(server, (name, int(port))), daemon=True).start()
        return f"{host}:{server.getsockname()[1]}"

    yield begin
    for server in servers:
        server.close()


def test_a_certificate_for_another_host_is_refused_at_once(make, kafka_auth, proxy):
    it = make("SSL_", security_protocol="SSL", ssl_ca_location="@CA")
    it.connection["bootstrap_servers"] = proxy("127.0.0.2", kafka_auth.settings["KAFKA_SSL_BOOTSTRAP"])
    it.write()
    refused(it, "FB-K003", "names the host")


def test_plain_bytes_to_a_tls_port_are_called_so_at_once(make):
    refused(make("SSL_"), "FB-K003", "security_protocol")


def test_tls_to_a_plain_port_is_called_so_at_once(make):
    refused(make("", security_protocol="SSL", ssl_ca_location="@CA"), "FB-K003", "security_protocol")


def test_no_login_where_one_is_asked_for_is_called_so_at_once(make):
    refused(make("SASL_"), "FB-K002", "security_protocol")


def test_a_topic_that_may_not_be_read_is_called_so_and_names_the_principal(make, kafka_auth):
    from confluent_kafka.admin import (AclBinding, AclOperation, AclPermissionType,
                                       ResourcePatternType, ResourceType)
    it = make("SASL_SSL_", **sasl("SASL_SSL", "SCRAM-SHA-256"))
    it.change("source", topic=kafka_auth.topic())
    rule = AclBinding(ResourceType.TOPIC, it.pipeline["source"]["topic"], ResourcePatternType.LITERAL,
                      "User:admin", "*", AclOperation.READ, AclPermissionType.ALLOW)
    admin = kafka_auth.admin()
    admin.create_acls([rule])[rule].result(30)
    refused(it, "FB-K005", "alice", it.pipeline["source"]["topic"], env=ENV)


# --- secrets --------------------------------------------------------------------------------


def traces(folder, known):
    """The files under `folder` that hold the canary, but for those that were given it."""
    found = []
    for path in pathlib.Path(folder).rglob("*"):
        if path.is_file() and path not in known and CANARY.encode() in path.read_bytes():
            found.append(path)
    return found


def way_of(kind, forebay):
    """How the secret reaches the program: (what the configuration says, environment, flags)."""
    if kind == "env":
        return "env://PASSWORD", {"PASSWORD": CANARY}, [], []
    if kind == "interpolated":
        return "${PASSWORD}", {"PASSWORD": CANARY}, [], []
    if kind == "file":
        path = forebay.folder / "secret"
        path.write_text(CANARY + "\n")
        return f"file://{path}", {}, [], [path]
    return CANARY, {}, ["--allow-inline-secrets"], [forebay.folder / "p.yml"]


@pytest.mark.parametrize("works", [True, False])
@pytest.mark.parametrize("kind", ["env", "interpolated", "file", "inline"])
def test_a_secret_is_in_no_output_no_file_and_no_command_line(
        kind, works, forebay, kafka_auth, make):
    """When it is right the broker has it as alice's password; when it is wrong it is refused."""
    user = "canary" if works else "alice"
    if works:
        give_password(kafka_auth, user, CANARY)
    value, env, flags, known = way_of(kind, forebay)
    connection = sasl("SASL_SSL", "SCRAM-SHA-256", value)
    connection["sasl_username"] = user
    it = make("SASL_SSL_", **connection)
    it.change("source", group_id="g-" + it.topic)
    seen = ""
    for more in (["-vv"], ["-vv", "--log-format", "json", "--report", forebay.folder / "r.json"]):
        process = forebay.start(*it.arguments("--json", *more, *flags), env=env)
        line = pathlib.Path(f"/proc/{process.pid}/cmdline").read_bytes()
        seen += line.decode() + "".join(process.communicate(timeout=30))
        assert process.returncode == (0 if works else 1), seen
    for command in ("check", "plan", "lag", "offsets"):
        result = forebay(command, "-c", it.file, *flags, status=None, env=env)
        seen += result.stdout + result.stderr
    assert "kafka" in seen.lower() and CANARY not in seen
    assert traces(forebay.folder, known) == []
    assert (it.version() >= 0) == works


def give_password(kafka_auth, user, password):
    from confluent_kafka.admin import (ScramCredentialInfo, ScramMechanism,
                                       UserScramCredentialUpsertion)
    admin = kafka_auth.admin()
    done = admin.alter_user_scram_credentials([UserScramCredentialUpsertion(
        user, ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 4096), password.encode())])
    done[user].result(30)


def test_a_secret_written_in_the_configuration_is_refused(make):
    it = make("SASL_SSL_", **sasl("SASL_SSL", "SCRAM-SHA-256", CANARY))
    result = it.forebay(*it.arguments(), status=2)
    assert "FB-C122" in result.stderr and CANARY not in result.stderr + result.stdout
