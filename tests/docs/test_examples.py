"""What stands in examples/ is taken by the programs it is for."""
import re
import shutil
import subprocess

import pytest
import yaml

import pages

EXAMPLES = pages.ROOT / "examples"
CONFIGURATIONS = sorted(str(path.relative_to(EXAMPLES)) for path in EXAMPLES.glob("*/forebay.yml"))


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_a_configuration_is_accepted(name, forebay):
    said = forebay("-c", EXAMPLES / name, "check", "--offline")
    assert said.stderr == ""


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_a_configuration_is_yaml_for_others_too(name):
    assert yaml.safe_load((EXAMPLES / name).read_text())["version"] == 1


def test_the_orders_of_the_demo_land_with_the_example(forebay):
    forebay("demo", "--messages", "100")
    demo = (forebay.folder / "forebay-demo/forebay.yml").read_text()
    columns = re.findall(r"name: (\w+)", demo)
    ours = yaml.safe_load((EXAMPLES / "orders/forebay.yml").read_text())
    names = [column["name"] for column in ours["pipelines"]["orders"]["schema"]["columns"]]
    assert set(columns) <= set(names)


@pytest.mark.parametrize("path", sorted(EXAMPLES.rglob("*.py")), ids=lambda path: path.name)
def test_a_python_file_compiles(path):
    compile(path.read_text(), str(path), "exec")


def test_systemd_takes_the_units(tmp_path):
    if not shutil.which("systemd-analyze"):
        pytest.skip("needs systemd-analyze")
    units = []
    for path in (EXAMPLES / "schedule").glob("forebay-run@.*"):
        unit = tmp_path / path.name
        unit.write_text(path.read_text().replace("/usr/local/bin/forebay", "/bin/true"))
        units.append(str(unit))
    done = subprocess.run(["systemd-analyze", "verify", *units], text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["crontab", "forebay-run@.service", "airflow_dag.py"])
def test_the_command_of_a_schedule_is_understood(name, forebay):
    """With the configuration of the example, and --help in place of the work."""
    text = re.sub(r'"\n\s+"', "", (EXAMPLES / "schedule" / name).read_text())
    [arguments] = re.findall(r"forebay ((?:-c \S+ )?run [^>\"\n]*)", "\n".join(
        line for line in text.splitlines() if not line.startswith("#") and "ription" not in line and '"""' not in line))
    words = [word.strip("'") for word in arguments.replace("%i", "orders").replace("{{ run_id }}", "x").split()]
    if words[0] == "-c":
        words = words[2:]
    forebay("-c", EXAMPLES / "orders/forebay.yml", *words, "--help")
