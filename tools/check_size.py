#!/usr/bin/env python3
"""Fail when a file, a function or a parameter list of our C code has grown too large.

A file has at most 700 lines, a function 60 (with its head), a parameter list 6. What is
larger stands in tools/size_exceptions.txt by name, one a line, with its measured value:

    src/lake/log.c  -            812 lines
    src/lake/log.c  fb_log_read   71 lines
    src/lake/log.c  fb_log_open    7 parameters

Functions are found by their form: the braces of a body stand alone at the left edge.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
EXCEPTIONS = "tools/size_exceptions.txt"
FOLDERS = ("src", "include", "tests", "bindings")
FILE_LINES, FUNCTION_LINES, PARAMETERS = 700, 60, 6


def count_parameters(head):
    """How many parameters the function whose head is this text takes."""
    start = head.index("(")
    depth, count, inside = 0, 1, ""
    for char in head[start:]:
        depth += (char in "([{") - (char in ")]}")
        if depth == 0:
            break
        count += char == "," and depth == 1
        inside += char
    return 0 if inside[1:].strip() in ("", "void") else count


def functions_of(lines):
    """Yield (name, lines, parameters) of each function defined in a file."""
    for number, line in enumerate(lines):
        if line != "{":
            continue
        first = number
        while first > 0 and lines[first - 1].strip() and not re.match(
                r"[#}]|.*(\*/|;|//.*)$", lines[first - 1]):
            first -= 1
        head = re.sub(r"__attribute__\s*\(\(.*?\)\)\s*", "", " ".join(lines[first:number]))
        found = re.search(r"(\w+)\s*\(", head)
        if not found:
            continue
        last = next((n for n in range(number, len(lines)) if lines[n].startswith("}")), number)
        name = found[1]
        if name == "TEST":
            name = re.search(r"\(\s*(\w+)", head)[1]
        yield name, last - first + 1, count_parameters(head[found.start():])


def measure():
    """Map (path, function, unit) to what exceeds its limit."""
    large, files = {}, 0
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.[ch]")):
            name = str(path.relative_to(ROOT))
            lines = path.read_text().splitlines()
            files += 1
            if len(lines) > FILE_LINES:
                large[name, "-", "lines"] = len(lines)
            for function, length, parameters in functions_of(lines):
                if length > FUNCTION_LINES:
                    large[name, function, "lines"] = length
                if parameters > PARAMETERS:
                    large[name, function, "parameters"] = parameters
    return large, files


def read_exceptions():
    allowed = {}
    for line in (ROOT / EXCEPTIONS).read_text().splitlines():
        words = line.split("#")[0].split()
        if words:
            path, function, size, unit = words
            allowed[path, function, unit] = int(size)
    return allowed


def main():
    large, files = measure()
    allowed = read_exceptions()
    faults = 0
    for key in sorted(large.keys() | allowed.keys()):
        path, function, unit = key
        what = path if function == "-" else f"{path}: {function}"
        size, limit = large.get(key), allowed.get(key)
        if size == limit:
            continue
        faults += 1
        if size is None:
            print(f"{what}: is within the limit now; remove it from {EXCEPTIONS}")
        elif limit is None:
            print(f"{what}: {size} {unit} are too many")
        elif size > limit:
            print(f"{what}: has grown from {limit} to {size} {unit}")
        else:
            print(f"{what}: has fallen to {size} {unit}; say so in {EXCEPTIONS}")
    print(f"check_size: {files} files, {len(allowed)} exceptions, {faults} faults")
    return faults > 0


sys.exit(main())
