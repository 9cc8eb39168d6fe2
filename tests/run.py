#!/usr/bin/env python3
"""Run the tests of one level and count them: what ./test does after the set-up.

  run.py quick|full|long [FILTER]

quick   the checks of tools/, the unit tests of the release build, tests/cli/*.case
full    the same; the unit tests as AddressSanitizer, ThreadSanitizer and clang build them, and
        the cases once more with AddressSanitizer; pytest over tests/{real,crash,docs,fault,bare}, without what is marked long
long    pytest over the same folders, only what is marked long

The last line is `N passed, N failed, N skipped`; above it stand the failed and the skipped
tests by name. Exit status 0 when none failed and as many passed as tests/floor.txt asks for.
Needs Python 3.9 and nothing else; pytest runs in the environment of tools/setup.sh full.
"""
import collections
import os
import pathlib
import platform
import re
import shlex
import subprocess
import sys
import time
import xml.etree.ElementTree

import cases

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
CHECKS = ("check_layers", "check_size", "check_banned")
PYTEST_FOLDERS = ("real", "crash", "docs", "fault", "bare")
SECONDS = {"build": 1200, "unit": 600, "pytest": 3000, "long": 6 * 3600}
SANITIZER_OPTIONS = {
    "ASAN_OPTIONS": "detect_stack_use_after_return=1:strict_string_checks=1",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "TSAN_OPTIONS": "ignore_noninstrumented_modules=1:halt_on_error=1:suppressions="
                    + str(ROOT / "tests/tsan.supp"),
}

Result = collections.namedtuple("Result", "status name note")  # passed, failed or skipped


def passed(name):
    return Result("passed", name, "")


def failed(name, note):
    return Result("failed", name, note.rstrip())


def skipped(name, why):
    return Result("skipped", name, why)


def run(command, seconds, **options):
    """Run a command. @return its exit status and what it printed on both outputs"""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              stdin=subprocess.DEVNULL, timeout=seconds, cwd=ROOT,
                              text=True, errors="replace", **options)
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired as late:
        printed = late.stdout or b""
        printed = printed if isinstance(printed, str) else printed.decode(errors="replace")
        return None, f"{printed}\nnot done after {seconds} s"


def cases_folder():
    """The folder of shared cases, or None."""
    folder = pathlib.Path(os.environ.get("FOREBAY_CASES") or ROOT.parent / "shared/cases")
    return folder.resolve() if folder.is_dir() else None


def environment(**more):
    """Our environment and more; FOREBAY_CASES names the shared cases wherever they are."""
    cases_are = {"FOREBAY_CASES": str(cases_folder())} if cases_folder() else {}
    return {**os.environ, **cases_are, **more}


def last_lines(text, count=40):
    return "\n".join(text.rstrip().splitlines()[-count:])


# --- the steps ------------------------------------------------------------------------------


def style(wanted):
    for check in CHECKS:
        if wanted(f"style {check}"):
            status, printed = run([sys.executable, f"tools/{check}.py"], 60)
            name = f"style: {check}"
            yield passed(name) if status == 0 else failed(name, printed)


def build(preset, target):
    """Configure, where that is new, and build. @return what failed, or None"""
    if not (BUILD / preset / "build.ninja").exists():
        status, printed = run(["cmake", "--preset", preset], 120)
        if status != 0:
            return failed(f"build: {target} {preset}", last_lines(printed))
    status, printed = run(["cmake", "--build", f"build/{preset}", "--target", target],
                          SECONDS["build"])
    errors = [line for line in printed.splitlines()
              if not line.startswith(("[", "-- ")) and " -o CMakeFiles/" not in line]
    return None if status == 0 else failed(f"build: {target} {preset}", last_lines("\n".join(errors)))


def unit_command(preset):
    """The unit test program; under TSan without address randomisation where that needs it."""
    program = str(BUILD / preset / "unit")
    if preset == "tsan" and run([program, "--list"], 60)[0] != 0:
        return ["setarch", platform.machine(), "-R", program]
    return [program]


def has_tsan_librdkafka():
    prefix = (BUILD / "deps_prefix.txt").read_text().strip()
    return pathlib.Path(prefix, "lib/librdkafka-tsan.a").exists()


def unit(preset, filter_text):
    if preset == "tsan" and not has_tsan_librdkafka():
        yield skipped("unit tsan", "FOREBAY_DEPS has no lib/librdkafka-tsan.a")
        return
    fault = build(preset, "unit")
    if fault:
        yield fault
        return
    command = unit_command(preset) + ([filter_text] if filter_text else [])
    status, printed = run(command, SECONDS["unit"], env=environment(**SANITIZER_OPTIONS))
    above, failures = [], 0
    for line in printed.splitlines():
        found = re.match(r"(ok|FAIL|skip) (\S+: \w+)(?: \((.*)\))?$", line)
        if not found:
            above.append(line)
            continue
        name = f"unit {preset}: {found[2]}"
        if found[1] == "ok":
            yield passed(name)
        elif found[1] == "skip":
            yield skipped(name, found[3])
        else:
            failures += 1
            yield failed(name, "\n".join(above))
        above = []
    ended = re.match(r"(\d+) passed, (\d+) failed", above[-1]) if above else None
    nothing_wanted = filter_text and ended and ended[1] == ended[2] == "0"
    if not ended or (status != 0 and not failures and not nothing_wanted):
        yield failed(f"unit {preset}: the program ends by itself and cleanly",
                     f"exit status {status}\n" + last_lines("\n".join(above)))


def command_line(preset, level, wanted):
    fault = build(preset, "forebay")
    if fault:
        yield fault
        return
    with cases.Broker(level != "quick") as broker:
        for path in sorted((ROOT / "tests/cli").glob("*.case")):
            name = f"cli {preset}: {path.stem}"
            try:
                case = cases.read(path)
            except cases.Wrong as wrong:
                yield failed(name, str(wrong))
                continue
            name += f": {case.sentence}"
            if not wanted(name):
                continue
            missing = cases.missing_need(case, broker)
            if missing:
                yield skipped(name, missing)
                continue
            difference = cases.run(case, BUILD / preset, broker, SANITIZER_OPTIONS)
            yield failed(name, difference) if difference else passed(name)


def junit_results(path):
    """The tests of a pytest run, from its report."""
    for case in xml.etree.ElementTree.parse(path).iter("testcase"):
        where = case.get("classname", "").replace("tests.", "", 1).replace(".", "/")
        name = f"{where}: {case.get('name')}"
        bad = [part for kind in ("failure", "error") for part in case.findall(kind)]
        skip = case.find("skipped")
        if bad:
            yield failed(name, last_lines("\n".join(part.text or "" for part in bad)))
        elif skip is not None:
            yield skipped(name, skip.get("message", ""))
        else:
            yield passed(name)


def pytest(level, filter_text):
    folders = [f"tests/{name}" for name in PYTEST_FOLDERS
               if any((ROOT / "tests" / name).glob("**/test_*.py"))]
    if not folders:
        return
    venv = (BUILD / "venv.txt").read_text().strip()
    report = BUILD / f"pytest-{level}.xml"
    report.unlink(missing_ok=True)
    command = [f"{venv}/bin/python", "-m", "pytest", "-q", "--no-header", "--tb=short",
               "--strict-markers", "-p", "no:cacheprovider", f"--junitxml={report}",
               "-m", "long" if level == "long" else "not long", *folders]
    if filter_text:
        command += ["-k", filter_text]
    limit = SECONDS["long" if level == "long" else "pytest"]
    status, printed = run(command, limit, env=environment(
        FOREBAY=str(BUILD / "release/forebay"), FOREBAY_BUILD=str(BUILD / "release")))
    if report.exists():
        yield from junit_results(report)
    if status not in (0, 1) and not (filter_text and status == 5):  # 5: none was collected
        yield failed("pytest: ends by itself and cleanly",
                     f"exit status {status}: {shlex.join(command)}\n{last_lines(printed)}")


# --- counting -------------------------------------------------------------------------------


def read_floor(level):
    name = level + ("+cases" if cases_folder() else "")
    for line in (ROOT / "tests/floor.txt").read_text().splitlines():
        words = line.split("#")[0].split()
        if words and words[0] == name:
            return int(words[1])
    return 0


def plan(level, filter_text):
    """Yield (title, results) of each step of the level, lazily."""
    def wanted(name):
        return not filter_text or filter_text in name

    if level != "long":
        yield "style", style(wanted)
        yield "unit tests, release", unit("release", filter_text)
        yield "command line, release", command_line("release", level, wanted)
    if level == "full":
        for preset in ("asan", "tsan", "clang"):
            yield f"unit tests, {preset}", unit(preset, filter_text)
        yield "command line, asan", command_line("asan", level, wanted)
    if level != "quick":
        yield "pytest", pytest(level, filter_text)


def main():
    if len(sys.argv) not in (2, 3) or sys.argv[1] not in ("quick", "full", "long"):
        sys.exit("usage: tests/run.py quick|full|long [FILTER]")
    level, filter_text = sys.argv[1], sys.argv[2] if len(sys.argv) == 3 else ""
    every = []
    for title, results in plan(level, filter_text):
        began, counts = time.monotonic(), collections.Counter()
        for result in results:
            every.append(result)
            counts[result.status] += 1
            if result.status == "failed":
                note = "\n    ".join(result.note.splitlines())
                print(f"FAIL {result.name}\n    {note}", flush=True)
        if counts:
            told = ", ".join(f"{counts[status]} {status}" for status in counts)
            print(f"{title}: {told} in {time.monotonic() - began:.1f} s", flush=True)
    floor = 0 if filter_text else read_floor(level)
    count = collections.Counter(result.status for result in every)
    if count["passed"] < floor:
        every.append(failed("as many tests pass as tests/floor.txt asks for",
                            f"{count['passed']} passed, not {floor}"))
        print(f"FAIL {every[-1].name}: {every[-1].note}")
    if not every:
        every.append(failed(f"a test is named like '{filter_text}'", ""))
    for status in ("skipped", "failed"):
        for result in every:
            if result.status == status:
                print(f"{status}: {result.name}" + (f" ({result.note})" if status == "skipped" else ""))
    count = collections.Counter(result.status for result in every)
    print(f"{count['passed']} passed, {count['failed']} failed, {count['skipped']} skipped")
    return count["failed"] > 0


if __name__ == "__main__":
    sys.exit(main())
