"""Every example of docs/reference/commands.md, which is every example of `forebay COMMAND --help`."""
import os
import subprocess

import pytest

import pages
from brokers import DemoBroker

EXAMPLES = [line[2:].split("   #")[0].strip()
            for block in pages.read(pages.ROOT / "docs/reference/commands.md")
            for line in block.lines if block.language == "console" and line.startswith("$ ")]

# What does not end with 0 in the folder of a demo, and why.
STATUS = {
    "forebay offsets reset orders --to 2026-11-28T00:00Z": 2,  # asks, and nobody is there to answer
    "forebay demo --keep --rate 100": 124,  # goes on until Ctrl-C, here from timeout
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("commands")


@pytest.fixture(scope="module")
def broker(folder):
    from conftest import Forebay
    program = Forebay(folder)
    yield DemoBroker(program, 20000)
    program.kill_all()


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_works(example, folder, broker, forebay):
    """In the folder of the demo; one that names a topic by its address needs no configuration."""
    where = folder / ("forebay-demo" if "kafka://" not in example else "")
    for place in (".local/share/bash-completion/completions", ".zfunc", ".config/fish/completions"):
        (folder / place).mkdir(parents=True, exist_ok=True)
    command = example.replace(pages.BROKER, broker.address)
    if "--keep" in command:
        command = "timeout -s INT 4 " + command
    kept = {name: value for name, value in os.environ.items() if not name.startswith("FOREBAY")}
    kept.update(HOME=str(folder), PATH=f"{forebay.path.parent}:{kept['PATH']}")
    done = subprocess.run(["bash", "-c", command], cwd=where, env=kept, text=True, check=False,
                          capture_output=True, stdin=subprocess.DEVNULL, timeout=60, errors="replace")
    assert done.returncode == STATUS.get(example, 0), f"{command}\n{done}"
