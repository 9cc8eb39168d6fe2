"""The pages of the project: what stands in them, and a session that does what they say.

A page is followed from top to bottom, in one shell and one empty folder, as a reader would:

  ```console   commands behind `$ `, then what a terminal shows. A line that is only `...`
               stands for any lines, `…` inside a line for any text. A command must succeed
               unless the next one is `echo $?`, or what it shows has `error:` or `Killed`.
  ```sh        a script without a prompt; it must succeed, its output does not matter
  ```yaml      with `# NAME.yml` as its first line: that file, and a whole configuration.
               Else a part of one: laid over BASE, and the program must accept it
  ```json      JSON, unless it holds an `…`
  ```python    Python that compiles
  other        nothing is done

An HTML comment in front of a block, or alone, says what a reader need not know:

  <!-- test: skip WHY -->          the next block is not run
  <!-- test: same as FILE -->      the next block stands in that file of the project
  <!-- test: background -->        the next block's command goes on while the page does
  <!-- test: prepare WHAT -->      something that the reader is taken to have: see prepare.py

Before what came is compared with what stands there, both lose what differs from run to run
(times, ids, ports; see VOLATILE) and the widths of columns.
"""
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import tempfile
import threading
import time

import yaml

import cases
import services

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HOME = "/home/you"  # what pages call the home of their reader
BROKER = "localhost:9092"  # what pages call the reader's Kafka
COMMAND_SECONDS = 120

KAFKA_TOOLS = {
    "kafka-topics.sh": "org.apache.kafka.tools.TopicCommand",
    "kafka-console-producer.sh": "org.apache.kafka.tools.ConsoleProducer",
    "kafka-delete-records.sh": "org.apache.kafka.tools.DeleteRecordsCommand",
    "kafka-consumer-groups.sh": "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
    "kafka-configs.sh": "org.apache.kafka.tools.ConfigCommand",
    "kafka-acls.sh": "org.apache.kafka.tools.AclCommand",
}

# What may differ from run to run; in this order.
VOLATILE = [(re.compile(pattern), name) for pattern, name in [
    (r"^bash: line \d+: +\d+ Killed .*", "Killed"),  # a terminal shows the word alone
    (r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", "UUID"),
    (r"\b20\d\d-\d\d-\d\d[T ]\d\d[:-]\d\d([:-]\d\d([.-]\d+)?)?(Z|\+00(:00)?)?", "TIME"),
    (r"\b1\d{12}\b|\b1,\d{3},\d{3},\d{3},\d{3}\b", "MILLIS"),
    (r"\b(127\.0\.0\.1|localhost):\d+\b", "HOST:PORT"),
    (r"\bid [\w+/-]{22}(?![\w+/-])", "id TOPIC-ID"),
    (r"@[\w+/%-]{22,40}(?![\w+-])", "@TOPIC-ID"),
    (r"\bcluster [\w-]{16,}", "cluster ID"),
    (r"\bpid \d+ on \S+", "pid N on HOST"),
    (r"\b\d+\.\d s\b", "N s"),
    (r"\b\d+ (ms|s|min)\b", "N s"),
    (r'("read"|"commit"|"oldest_ms"|"oldest_waiting_ms"):\d+(?=[,}])', r"\1:N"),
    (r'"(read|written)":\d+\}(?=,"files")', r'"\1":N}'),  # bytes
    (r"-{3,}", "---"),
    (r"\s+", " "),
]]


# --- reading --------------------------------------------------------------------------------------


class Block:
    """A fenced block, or a note that stands alone (language None)."""

    def __init__(self, page, line, language, lines, notes):
        self.page, self.line, self.language = page, line, language
        self.lines, self.notes = lines, notes
        self.text = "".join(line + "\n" for line in lines)

    def __str__(self):
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def every_page():
    """README.md and the like, and all below docs/."""
    return sorted(ROOT.glob("*.md")) + sorted((ROOT / "docs").rglob("*.md"))


def read(page):
    """The blocks of a page, in order."""
    found, notes, fence, kept, language, began = [], [], None, [], "", 0
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        note = re.fullmatch(r"<!-- test: (.*?) -->", line.strip())
        opens = re.fullmatch(r"(\s*)```(\w*)", line)
        if fence is not None:
            if line.strip() == "```":
                found.append(Block(page, began, language, kept, notes))
                fence, notes = None, []
            else:
                kept.append(line[len(fence):] if line.startswith(fence) else line)
        elif opens:
            fence, language, kept, began = opens[1], opens[2], [], number
        elif note and note[1].startswith("prepare "):
            found.append(Block(page, number, None, [note[1][8:]], []))
        elif note:
            notes.append(note[1])
        elif line.strip():
            notes = []
    assert fence is None, f"{page}: the block of line {began} has no end"
    return found


class Command:
    def __init__(self, line, text):
        self.line, self.text, self.shown = line, text, []

    def may_fail(self):
        return any("error:" in line or line == "Killed" for line in self.shown)


def commands(block):
    """The commands of a console block, each with what is shown behind it."""
    found = []
    for number, line in enumerate(block.lines, block.line + 1):
        if line.startswith("$ "):
            found.append(Command(number, line[2:]))
        elif line.startswith("> ") and found and not found[-1].shown:
            found[-1].text += "\n" + line[2:]
        else:
            assert found, f"{block}: a console block begins with a command"
            found[-1].shown.append(line)
    return found


# --- comparing ------------------------------------------------------------------------------------


def plain(line, replaced=()):
    """The line without what differs from run to run."""
    for what, by in replaced:
        line = line.replace(what, by)
    for pattern, name in VOLATILE:
        line = pattern.sub(name, line)
    rules = re.match(r"([\d,]+ rejected:) (.*?)(\.?\s*forebay query.*)?$", line)
    if rules:  # their order is that in which the workers met them
        line = f"{rules[1]} {', '.join(sorted(rules[2].split(', ')))} {rules[3] or ''}"
    return line.strip()


def differs(wanted, came, replaced=()):
    """What differs between wanted lines and text that came, or ''."""
    want = [plain(line, replaced).replace("…", "[..]") for line in wanted]
    got = [plain(line, replaced) for line in came.split("\n")]
    while want and not want[-1]:
        want.pop()
    while got and not got[-1]:
        got.pop()
    if cases.matches(want, got):
        return ""
    return "\n".join([f"  wanted: {line}" for line in want or ["nothing"]]
                     + [f"  got:    {line}" for line in got or ["nothing"]]
                     + ["  as it came:", came])


# --- doing ----------------------------------------------------------------------------------------

# What a part of a configuration is laid over.
BASE = """
version: 1
connections:
  events: {type: kafka, bootstrap_servers: "localhost:9092"}
pipelines:
  orders:
    source: {connection: events, topic: orders}
    schema: {columns: [{name: order_id, type: string}]}
    sink: {accepted: {format: delta, path: ./lake/orders}}
"""


def laid_over(base, more):
    """Maps are joined; lists and everything else of `more` win."""
    if not isinstance(base, dict) or not isinstance(more, dict):
        return more
    return {**base, **{key: laid_over(base.get(key), value) for key, value in more.items()}}


class Session:
    """A shell in a folder of its own, with the program on its PATH."""

    def __init__(self, program, folder, address=None):
        self.home = folder / "home"
        self.folder = self.home / "forebay"
        self.names = {HOME: str(self.home)}  # what pages call it, and what it is
        if address:
            self.names[BROKER] = address
        self.background = []
        self.at_end = []  # functions that undo what was prepared
        self._make_folder()
        tools = folder / "tools"
        self._make_tools(tools)
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith(("FOREBAY_", "LC_", "KAFKA_")) and name != "FOREBAY"}
        venv = (ROOT / "build/venv.txt").read_text().strip()
        self.environment = {
            **kept, "HOME": str(self.home), "LC_ALL": "C.UTF-8", "TZ": "UTC", "TERM": "dumb",
            "PATH": f"{tools}:{program.parent}:{venv}/bin:{os.environ['PATH']}"}
        self.shell = subprocess.Popen(
            ["bash", "--noprofile", "--norc"], cwd=self.folder, env=self.environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            errors="replace", start_new_session=True)
        self.status = 0

    def _make_folder(self):
        """A clone, as far as pages need one."""
        self.folder.mkdir(parents=True)
        for name, does in {"demo": f'exec "{ROOT}/demo" "$@"',
                           "test": f'exec "{ROOT}/test" --help'}.items():
            self._script(self.folder / name, does)
        (self.folder / "examples").symlink_to(ROOT / "examples")

    def _make_tools(self, tools):
        tools.mkdir()
        for name, java in KAFKA_TOOLS.items():
            self._script(tools / name, f'exec "{services.HERE}/kafka" run {java} "$@"')

    @staticmethod
    def _script(path, does):
        """A command of ours that works in our own home, where the caches are."""
        own = [f"export {name}={shlex.quote(value)}" for name, value in os.environ.items()
               if name in ("HOME", "FOREBAY_CACHE", "FOREBAY_DEPS")]
        path.write_text("\n".join(["#!/bin/sh", *own, does, ""]))
        path.chmod(0o755)

    def own(self, text):
        """Text of a page in which the reader's home, hosts and the like are ours."""
        for name, ours in self.names.items():
            text = text.replace(name, ours)
        return text

    @property
    def replaced(self):
        return [(ours, name) for name, ours in self.names.items()]

    def run(self, text):
        """Run a command in the shell. @return its status and what it printed"""
        end = f"--end-{time.monotonic_ns()}--"
        self.shell.stdin.write(f"{{ (exit {self.status})\n{self.own(text)}\n}} </dev/null\n"
                               f"printf '\\n{end}%d\\n' $?\n")
        self.shell.stdin.flush()
        late = threading.Timer(COMMAND_SECONDS, os.killpg, (self.shell.pid, signal.SIGKILL))
        late.start()
        printed = []
        for line in self.shell.stdout:
            if line.startswith(end):
                self.status = int(line[len(end):])
                late.cancel()
                return self.status, "".join(printed).removesuffix("\n")
            printed.append(line)
        late.cancel()
        raise AssertionError(f"not done after {COMMAND_SECONDS} s:\n{text}\n{''.join(printed)}")

    def start(self, command):
        """Run a command beside the shell and wait until it has printed what is shown."""
        where = self.run("pwd")[1].strip()
        with tempfile.NamedTemporaryFile(delete=False, dir=self.home.parent) as output:
            process = subprocess.Popen(
                ["bash", "-c", "exec " + self.own(command.text)], cwd=where,
                env=self.environment, stdin=subprocess.DEVNULL, stdout=output,
                stderr=subprocess.STDOUT, start_new_session=True)
        self.background.append(process)
        for _ in range(COMMAND_SECONDS * 10):
            time.sleep(0.1)
            came = pathlib.Path(output.name).read_text(errors="replace")
            difference = differs(command.shown, came, self.replaced)
            if not difference or process.poll() is not None:
                break
        return difference

    def close(self):
        for process in [*self.background, self.shell]:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        for undo in self.at_end:
            undo()


def follow(block, session):
    """Do what a block says. Raises AssertionError with what went wrong."""
    notes = " ".join(block.notes)
    if notes.startswith("skip"):
        return
    if notes.startswith("same as "):
        assert block.text in (ROOT / notes[8:]).read_text(), f"{block}: is not in {notes[8:]}"
        return
    if block.language == "console":
        _follow_console(block, session, "background" in notes)
    elif block.language == "sh":
        status, printed = session.run(f"bash -e <<'--script--'\n{block.text}--script--")
        assert status == 0, f"{block}: exit status {status}\n{printed}"
    elif block.language == "yaml":
        _follow_yaml(block, session)
    elif block.language == "json" and "…" not in block.text:
        json.loads(block.text)
    elif block.language == "python":
        compile(block.text, str(block), "exec")


def _follow_console(block, session, is_background):
    every = commands(block)
    for command, after in zip(every, [*every[1:], None]):
        where = f"{block.page.relative_to(ROOT)}:{command.line}: $ {command.text}"
        if is_background:
            difference = session.start(command)
            assert not difference, f"{where}\n{difference}"
            continue
        status, printed = session.run(command.text)
        difference = differs(command.shown, printed, session.replaced)
        assert not difference, f"{where}\n{difference}"
        if not (after and after.text == "echo $?"):
            expected = status != 0 if command.may_fail() else status == 0
            assert expected, f"{where}\nexit status {status}\n{printed}"


def _follow_yaml(block, session):
    named = re.match(r"# (\S+\.yml)$", block.lines[0])
    if named:
        where = pathlib.Path(session.run("pwd")[1].strip(), named[1])
        where.parent.mkdir(parents=True, exist_ok=True)
        where.write_text(session.own(block.text))
        return
    whole = laid_over(yaml.safe_load(BASE), yaml.safe_load(block.text))
    path = session.home.parent / "part.yml"
    path.write_text(yaml.safe_dump(whole))
    variables = sorted(set(re.findall(r"\$\{(\w+)", block.text)))
    given = " ".join(f"{name}=x" for name in variables)
    status, printed = session.run(f"{given} forebay -c '{path}' check --offline")
    assert status == 0, f"{block}: exit status {status}\n{printed}"
