#!/usr/bin/env python3
"""Fail when a file under src/ includes a header that its layer may not see.

tools/layers.txt says who may include whom. A file directly under src/ stands above all
layers; a header of ours is always included by its path from src/.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLE = "tools/layers.txt"
INCLUDE = re.compile(r'\s*#\s*include\s+"([^"]+)"')


def read_levels():
    """The line number of each folder in the table: lower may not include higher."""
    levels = {}
    for number, line in enumerate((ROOT / TABLE).read_text().splitlines()):
        for folder in line.split("#")[0].split():
            levels[folder] = number
    return levels


def fault_of(here, included, levels):
    """What is wrong with an include of `included` in folder `here`, or None."""
    there = included.split("/")[0] if "/" in included else None
    if there is None:
        return f'"{included}" must be included by its path from src/'
    if there == "forebay" and here in ("api", "run"):
        return None  # the public header, include/forebay/
    for folder in (here, there):
        if folder not in levels:
            return f"folder {folder}/ is not in {TABLE}"
    if there != here and levels[there] >= levels[here]:
        return f"{here}/ may not include {there}/: it lies beside or above it"
    return None


def main():
    levels = read_levels()
    faults = files = 0
    for path in sorted((ROOT / "src").rglob("*.[ch]")):
        name = path.relative_to(ROOT)
        if len(name.parts) == 2:
            continue
        files += 1
        for number, line in enumerate(path.read_text().splitlines(), 1):
            include = INCLUDE.match(line)
            fault = include and fault_of(name.parts[1], include[1], levels)
            if fault:
                print(f"{name}:{number}: {fault}")
                faults += 1
    print(f"check_layers: {files} files, {faults} wrong includes")
    return faults > 0


sys.exit(main())
