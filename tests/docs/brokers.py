"""A broker without Java: `forebay demo --keep`. Import the fixture to use it."""
import re

import pytest


class DemoBroker:
    """A running demo, in the folder forebay-demo of its test; all of `orders` is landed."""

    def __init__(self, forebay, messages=100):
        self._process = forebay.start("demo", "--keep", "--messages", messages)
        for line in self._process.stderr:
            found = re.search(r"the broker stays on (\S+)", line)
            if found:
                self.address = found[1]
                return
        pytest.fail("the demo's broker did not start")

    def kill(self):
        self._process.kill()
        self._process.wait()


@pytest.fixture
def demo_broker(forebay):
    return DemoBroker(forebay)
