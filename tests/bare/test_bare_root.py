"""The two commands of README.md, in a bare Debian 12; what is shown stands in bare_root.sh."""
import pathlib
import signal
import subprocess

import pytest

SCRIPT = pathlib.Path(__file__).with_name("bare_root.sh")


@pytest.mark.long
def test_demo_and_quick_tests_work_from_a_fresh_clone_in_a_bare_root(tmp_path):
    output = tmp_path / "output"
    with output.open("w") as printed:
        script = subprocess.Popen([SCRIPT], stdout=printed, stderr=subprocess.STDOUT,
                                  stdin=subprocess.DEVNULL)
        try:
            status = script.wait(timeout=3600)
        finally:
            if script.poll() is None:
                script.send_signal(signal.SIGTERM)  # it takes its root away with it
                script.wait()
    told = output.read_text(errors="replace")
    print(told)
    if status == 77:
        pytest.skip(told.strip().splitlines()[-1])
    assert status == 0, told[-6000:]
    for fact in range(1, 6):
        assert f"ok: {fact}: " in told
