"""forebay run orders every five minutes. Nothing to read: the task is skipped (exit status 99)."""
import pendulum
from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import dag


@dag(schedule="*/5 * * * *", start_date=pendulum.datetime(2026, 1, 1, tz="UTC"), catchup=False,
     max_active_runs=1, tags=["kafka", "delta"])
def forebay_orders():
    BashOperator(
        task_id="run",
        bash_command="forebay -c /etc/forebay/forebay.yml run orders --run-id '{{ run_id }}' "
                     "--empty-exit-code 99 --fail-on-reject=1000 --log-format json",
        skip_on_exit_code=99,
        retries=2)


forebay_orders()
