"""What the pages point at is there: links, headings, files, keys and commands."""
import re

import pytest

import pages

EVERY = [str(page.relative_to(pages.ROOT)) for page in pages.every_page()]
EVERY += ["examples/README.md"]


def without_blocks(text):
    return re.sub(r"^( *)```.*?^\1```$", "", text, flags=re.M | re.S)


def anchors(page):
    """The headings of a page as GitHub makes anchors of them."""
    headings = re.findall(r"^#+ (.+)$", without_blocks(page.read_text(encoding="utf-8")), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("name", EVERY)
def test_every_link_leads_somewhere(name):
    page = pages.ROOT / name
    dead = []
    for target in re.findall(r"\]\(([^)\s]+)\)", without_blocks(page.read_text(encoding="utf-8"))):
        path, _, anchor = target.partition("#")
        if re.match(r"https?://", target):
            continue
        there = (page.parent / path).resolve() if path else page
        if not there.exists() or (anchor and anchor not in anchors(there)):
            dead.append(target)
    assert not dead


@pytest.mark.parametrize("name", EVERY)
def test_every_file_named_is_there(name):
    """Paths of this tree in code spans: `src/run/run.h`, `tests/crash/`, `tools/setup.sh`."""
    text = without_blocks((pages.ROOT / name).read_text(encoding="utf-8"))
    named = re.findall(r"`((?:src|tests|tools|docs|examples|cmake)/[\w./@-]*)`", text)
    assert [path for path in named if not (pages.ROOT / path).exists()] == []


@pytest.mark.parametrize("name", EVERY)
def test_every_code_named_is_declared(name):
    declared = re.findall(r"^FB_REASON\((\w+),",
                          (pages.ROOT / "src/base/reasons.def").read_text(), re.M)
    named = re.findall(r"\bFB-([A-Z]\d{3})\b", (pages.ROOT / name).read_text(encoding="utf-8"))
    assert set(named) - set(declared) == set()


@pytest.mark.parametrize("name", EVERY)
def test_every_key_named_is_one(name, forebay):
    """Keys in code spans by their path: `source.max_depth`, `policy.severity`."""
    reference = (pages.ROOT / "docs/reference/config.md").read_text(encoding="utf-8")
    known = set()
    section = ""
    for line in reference.splitlines():
        if line.startswith("## "):
            section = re.sub(r"NAME\.|pipelines\.NAME\.?|\[\]", "", line.strip("# `")).strip(".")
        key = re.match(r"- \*\*`([\w.]+)`\*\*", line)
        if key:
            known.add(f"{section}.{key[1]}" if section else key[1])
    text = without_blocks((pages.ROOT / name).read_text(encoding="utf-8"))
    named = re.findall(r"`((?:source|schema|policy|sink|report)\.[\w.]+)(?:: [\w-]+)?`", text)
    assert [key for key in named if key not in known and f"{key}.path" not in known] == []


def test_no_page_is_left_out_of_the_index():
    docs = pages.ROOT / "docs"
    index = (docs / "README.md").read_text() + (docs / "decisions/README.md").read_text()
    there = [page.name for page in docs.rglob("*.md") if page.name != "README.md"]
    assert [name for name in there if name not in index] == []
