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
    done = subprocess.run(["systemd-analyze", "verify", *units], text=True, capture_output=True,
                          check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name, begins", [
    ("crontab", "forebay run "),
    ("forebay-run@.service", "/usr/local/bin/forebay -c /etc/forebay/forebay.yml run "),
    ("airflow_dag.py", "forebay -c /etc/forebay/forebay.yml run ")])
def test_the_command_of_a_schedule_is_understood(name, begins, forebay):
    """Its options, on an empty topic of a broker that is not there: not reachable, not refused."""
    text = re.sub(r'"\n\s+"', "", (EXAMPLES / "schedule" / name).read_text())
    [options] = re.findall(rf"{begins}([^>\"\n]*)", re.sub(r"^#.*", "", text, flags=re.M))
    words = options.replace("%i", "orders").replace("'{{ run_id }}'", "scheduled__2026-11-29").split()
    forebay("-c", EXAMPLES / "orders/forebay.yml", "run", *words, "--timeout-ms", "200", status=5,
            env={"KAFKA_BROKERS": "127.0.0.1:1"})
