"""Each reason of src/base/reasons.def is provoked by some test; a few are, here."""
import re
import time

import pytest

import pages
from brokers import DemoBroker

# Reasons that no test can provoke from outside, and why.
UNPROVOKED = {
    "C132": "the configuration refuses the same first, as FB-C103",
    "I003": "the broker inside the program would have to fail to start",
    "O006": "the command line refuses the same first, as FB-C001; this is for other callers of fb_run()",
    "Z001": "it is our own bug when it happens",
}

NO_TESTS = ("tools", "services", "perf")


def texts_of_tests():
    tests = pages.ROOT / "tests"
    for path in tests.rglob("*"):
        if (path.suffix in (".c", ".h", ".py", ".case") and path.name != "test_reasons.py"
                and path.relative_to(tests).parts[0] not in NO_TESTS):
            yield path.read_text(encoding="utf-8", errors="replace")
    for page in pages.every_page():
        yield from (block.text for block in pages.read(page) if block.language == "console")
    here = (pages.ROOT / "tests/docs/test_reasons.py").read_text()
    yield here[here.index("# --- provoked here"):]


def test_every_reason_is_provoked_by_a_test_or_listed_with_why():
    """A test names a reason as FB-C104 or FB_R_C104 or C104, one of a record by its word too."""
    text = "\n".join(texts_of_tests())
    named = set(re.findall(r"\b(?:FB-|FB_R_)?([A-Z]\d{3})\b", text))
    refusals = (pages.ROOT / "src/batch/refusals.def").read_text()
    for word, code in re.findall(r'^FB_REFUSAL\(\w+,\s+"(\w+)",\s+(\w+),', refusals, re.M):
        if re.search(rf"\b{word}\b", text):
            named.add(code)
    declared = re.findall(r"^FB_REASON\((\w+),",
                          (pages.ROOT / "src/base/reasons.def").read_text(), re.M)
    silent = {reason for reason in declared if reason not in named}
    assert silent - set(UNPROVOKED) == set()
    assert set(UNPROVOKED) - silent == set(), "provoked by now: take it off the list"


# --- provoked here ------------------------------------------------------------------------------

@pytest.mark.parametrize("code, text", [
    ("C100", "version: [1\n"),
    ("C108", "version: !!python/object:os.system 1\n"),
    ("C121", "version: ${1}\n"),
])
def test_a_configuration_at_fault_is_told_its_code(forebay, code, text):
    (forebay.folder / "forebay.yml").write_text(text)
    assert f"[FB-{code}]" in forebay("check", "--offline", status=2).stderr


def test_brokers_that_go_away_while_a_window_is_read_are_told_as_K006(forebay):
    broker = DemoBroker(forebay)
    reading = forebay.start("-c", "forebay-demo/forebay.yml", "run", "--from", "earliest", "--no-commit",
                            "--timeout-ms", "2000", env={"FOREBAY_FAILPOINT": "run.planned:sleep=5s"})
    time.sleep(3)  # a plan is made in a tenth of it
    broker.kill()
    _, said = reading.communicate(timeout=60)
    assert "[FB-K006]" in said and reading.returncode == 5, said
