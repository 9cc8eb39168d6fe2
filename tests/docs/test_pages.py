"""Every command and every sample of README, CONTRIBUTING and docs/ is carried out."""
import pytest

import pages
import prepare

EVERY = [str(page.relative_to(pages.ROOT)) for page in pages.every_page()
         if page.name != "commands.md"]  # see test_commands.py
RUN = ("console", "sh", None)


def needs_kafka(blocks):
    """Does a command of the page talk to the reader's own Kafka?"""
    return any(pages.BROKER in block.text or block.language is None for block in blocks
               if block.language in RUN and not " ".join(block.notes).startswith("skip"))


@pytest.mark.parametrize("name", EVERY)
def test_a_reader_can_follow_the_page(name, forebay, request, tmp_path):
    blocks = pages.read(pages.ROOT / name)
    if not blocks:
        return
    secured = any(block.lines[:1] == ["secured"] for block in blocks if block.language is None)
    kafka = request.getfixturevalue("kafka_auth" if secured else "kafka") if needs_kafka(blocks) else None
    before = kafka and set(kafka.admin().list_topics(timeout=30).topics)
    session = pages.Session(forebay.path, tmp_path / "page", kafka and kafka.address)
    try:
        for block in blocks:
            if block.language is None:
                what, *words = block.lines[0].split()
                getattr(prepare, what)(session, kafka, *words)
            else:
                pages.follow(block, session)
    finally:
        session.close()
        if kafka:
            admin = kafka.admin()
            new = [topic for topic in admin.list_topics(timeout=30).topics
                   if topic not in before and not topic.startswith("__")]
            for done in admin.delete_topics(new).values() if new else ():
                done.result(30)
