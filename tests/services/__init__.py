"""Servers for the tests, each started on 127.0.0.1 by the script of its name in this folder."""
import os
import pathlib
import random
import re
import shutil
import socket
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PORTS = range(20000, 32000, 40)  # below the ports that systems hand out by themselves


class Unavailable(Exception):
    """The server cannot be had on this machine; the text says why."""


def free_ports(count=40):
    """The first of `count` ports in a row that nobody listens on now."""
    for first in random.sample(PORTS, 50):
        sockets = []
        try:
            for port in range(first, first + count):
                sockets.append(socket.socket())
                sockets[-1].bind(("127.0.0.1", port))
            return first
        except OSError:
            continue
        finally:
            for used in sockets:
                used.close()
    raise Unavailable("no free ports")


class Kafka:
    """A Kafka cluster of its own, in a temporary folder.

    start() and stop() bracket its life. address is what clients connect to; settings has
    all that the script tells, such as KAFKA_CA with auth. control("kill", "1") and the
    like do to a node what the head of the script says.
    """

    def __init__(self, nodes=1, auth=False):
        self._environment = {**os.environ, "KAFKA_NODES": str(nodes), "KAFKA_AUTH": str(int(auth))}
        self.folder = None
        self.settings = {}

    @property
    def address(self):
        return self.settings["KAFKA_BOOTSTRAP"]

    def start(self):
        """Start it. Raises Unavailable."""
        for program in ("java", "openssl"):
            if not shutil.which(program):
                raise Unavailable(f"Kafka needs {program}")
        self.folder = tempfile.mkdtemp(prefix="forebay-kafka-")
        self._environment["KAFKA_PORT"] = str(free_ports())
        done = self.control("start")
        if done.returncode != 0:
            self.stop()
            raise Unavailable("Kafka did not start: " + done.stderr.strip()[-400:])
        self.settings = dict(re.findall(r"^(\w+)=(.*)$", done.stdout, re.M))

    def control(self, command, node=""):
        """Run the script's command on one node, or all. @return its CompletedProcess"""
        return subprocess.run([HERE / "kafka", command, self.folder] + ([node] if node else []),
                              env=self._environment, stdin=subprocess.DEVNULL, text=True,
                              capture_output=True, timeout=300, check=False)

    def stop(self):
        """End its processes and delete what it kept. May be called twice."""
        if self.folder:
            self.control("clean")
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder = None
