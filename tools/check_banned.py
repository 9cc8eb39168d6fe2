#!/usr/bin/env python3
"""Fail when our source calls what it must not, or keeps a note of unfinished work.

Some functions are never called, some only in the one file that wraps them, so that a
test can make them fail (memory, files) and a setting has one way in (the environment).
Comments and texts do not count. Arrays of variable length are refused by the compiler.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# functions: where they may be called (files or folders under src/), and what to use instead
RULES = [
    ("strcpy strcat sprintf vsprintf gets", (), "base/text.h knows the length"),
    ("atoi atol atoll atof", (), "base/text.h tells a number from none"),
    ("strtok gmtime localtime asctime ctime", (), "it keeps its state for all threads"),
    ("system popen", (), "no shell is ever run"),
    ("tmpnam tempnam mktemp", (), "base/file.h makes files nobody can foresee"),
    ("malloc calloc realloc free reallocarray strdup strndup asprintf vasprintf",
     ("base/alloc.c",), "base/alloc.h, which tests can make fail"),
    ("fopen fopen64 freopen open open64 openat creat", ("base/file.c",),
     "base/file.h, which tests can make fail"),
    ("getenv secure_getenv", ("config/", "base/step.c", "base/log.c"),
     "settings come through config/"),
]
UNFINISHED = re.compile(r"\b(TO" r"DO|FIX" r"ME)\b")
UNFINISHED_IN = ("src", "include", "tests", "tools", "cmake", "bindings")
NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def code_of(text):
    """The text with comments and literals blanked, its lines kept."""
    return NOT_CODE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def banned_calls():
    faults = 0
    for path in sorted((ROOT / "src").rglob("*.[ch]")):
        name = str(path.relative_to(ROOT / "src"))
        lines = code_of(path.read_text()).splitlines()
        for functions, places, instead in RULES:
            if any(name == place or place.endswith("/") and name.startswith(place)
                   for place in places):
                continue
            # a struct's member of the same name is another thing
            call = re.compile(r"(?<![\w.>])(%s)\s*\(" % functions.replace(" ", "|"))
            for number, line in enumerate(lines, 1):
                for found in call.finditer(line):
                    print(f"src/{name}:{number}: {found[1]} is not called here: {instead}")
                    faults += 1
    return faults


def unfinished_notes():
    faults = 0
    for folder in UNFINISHED_IN:
        for path in sorted((ROOT / folder).rglob("*")):
            if not path.is_file() or "__pycache__" in path.parts:
                continue
            for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
                if UNFINISHED.search(line):
                    print(f"{path.relative_to(ROOT)}:{number}: is this done, or an issue?")
                    faults += 1
    return faults


def main():
    faults = banned_calls() + unfinished_notes()
    print(f"check_banned: {faults} faults")
    return faults > 0


sys.exit(main())
