"""Cases of the command line: reads a .case file, runs it, compares. tests/cli/README.md has the form."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import services

COMMAND_SECONDS = 60


class Wrong(Exception):
    """The case file itself is not well formed."""


class Command:
    """One command with what it must print and return."""

    def __init__(self, text):
        self.text = text
        self.out = []
        self.err = []
        self.status = 0


class Case:
    """One .case file."""

    def __init__(self, sentence):
        self.sentence = sentence
        self.needs = []
        self.files = {}
        self.commands = []


def read(path):
    """Read a .case file. Raises Wrong."""
    lines = path.read_text().splitlines()
    if not lines or not lines[0].startswith("case: "):
        raise Wrong("the first line is not 'case: ' and a sentence")
    case = Case(lines[0][6:].strip())
    section, kept = "head", []
    for number, line in enumerate(lines[1:] + ["--- end"], 2):
        if not line.startswith("--- "):
            kept.append((number, line))
            continue
        _read_section(case, section, kept)
        section, kept = line[4:].strip(), []
    if not case.commands:
        raise Wrong("there is no command")
    return case


def _read_section(case, section, lines):
    if section == "head":
        for number, line in lines:
            if line.startswith("needs: "):
                case.needs += line[7:].split()
            elif line.strip():
                raise Wrong(f"line {number}: not 'needs: ' and names")
    elif section.startswith("file "):
        text = "\n".join(line for _, line in lines).rstrip("\n")
        case.files[section[5:]] = text + "\n" if text else ""
    elif section == "commands":
        _read_commands(case, lines)
    else:
        raise Wrong(f"there is no section '--- {section}'")


def _read_commands(case, lines):
    command, in_command = None, False
    for number, line in lines:
        if line.startswith("$ "):
            command, in_command = Command(line[2:]), True
            case.commands.append(command)
            continue
        if command is None:
            if line.strip():
                raise Wrong(f"line {number}: stands before the first command")
            continue
        if in_command and line.startswith("> "):
            command.text += "\n" + line[2:]
            continue
        in_command = False
        if re.fullmatch(r"\[\d+\]", line):
            command.status = int(line[1:-1])
        elif line.startswith("2> ") or line == "2>":
            command.err.append(line[3:])
        else:
            command.out.append(line)


# --- comparing ----------------------------------------------------------------------------------


def _strip_end(lines):
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    return lines


def _line_matches(want, got):
    if want.startswith("\\"):
        return want[1:] == got
    pattern = ".*".join(re.escape(part) for part in want.split("[..]"))
    return re.fullmatch(pattern, got) is not None


def matches(want, got):
    """Whether the lines `got` are what the lines `want` stand for.

    reach[n] says that the wanted lines so far can stand for the first n lines that came.
    """
    reach = [True] + [False] * len(got)
    for line in want:
        if line == "...":
            first = reach.index(True) if True in reach else len(reach)
            reach = [n >= first for n in range(len(reach))]
        else:
            reach = [False] + [reach[n] and _line_matches(line, got[n]) for n in range(len(got))]
    return reach[-1]


def _difference(name, want, text):
    """What differs between an output and the wanted lines, or ''."""
    want, got = _strip_end(want), _strip_end(text.split("\n"))
    if matches(want, got):
        return ""
    shown = [f"  wanted: {line}" for line in want] or ["  wanted: nothing"]
    shown += [f"  got:    {line}" for line in got] or ["  got:    nothing"]
    return "\n".join([f"{name} differs:"] + shown) + "\n"


# --- running ------------------------------------------------------------------------------------


class Broker:
    """A real Kafka for the cases that need one, started when the first of them runs."""

    def __init__(self, allowed):
        self._allowed = allowed
        self._kafka = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._kafka:
            self._kafka.stop()

    @property
    def address(self):
        return self._kafka.address if self._kafka else ""

    def start(self):
        """Start it, once. @return why there is none, or ''"""
        if not self._allowed:
            return "needs a broker, which this level does not start"
        if not self._kafka:
            kafka = services.Kafka()
            try:
                kafka.start()
            except services.Unavailable as why:
                return f"needs a broker: {why}"
            self._kafka = kafka
        return ""


def missing_need(case, broker):
    """Why the case cannot run here, or ''."""
    for need in case.needs:
        if need == "broker":
            why = broker.start()
            if why:
                return why
        elif not shutil.which(need):
            return f"needs {need}"
    return ""


def run(case, build, broker, environment):
    """Run a case with the program in folder `build`. @return what differs, or ''"""
    with tempfile.TemporaryDirectory(prefix="forebay-case-") as folder:
        for name, text in case.files.items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith(("FOREBAY_", "LC_")) and name != "NO_COLOR"}
        environment = {**kept, **environment}
        environment.update(PATH=f"{build}:{os.environ['PATH']}", HOME=folder, LC_ALL="C.UTF-8",
                           TZ="UTC", KAFKA=broker.address)
        return "".join(_run_command(command, folder, environment) for command in case.commands)


def _run_command(command, folder, environment):
    try:
        done = subprocess.run(["sh", "-c", command.text], cwd=folder, env=environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=COMMAND_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"$ {command.text}\nnot done after {COMMAND_SECONDS} s\n"
    status = done.returncode if done.returncode >= 0 else 128 - done.returncode
    fault = _difference("standard output", command.out, done.stdout.decode(errors="replace"))
    fault += _difference("standard error", command.err, done.stderr.decode(errors="replace"))
    if status != command.status:
        fault += f"exit status is {status}, not {command.status}\n"
    return f"$ {command.text}\n{fault}" if fault else ""
