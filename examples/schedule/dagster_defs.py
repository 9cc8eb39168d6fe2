"""The table as a Dagster asset, and a sensor that runs it when messages wait."""
import json
import subprocess

import dagster as dg


def forebay(*arguments):
    """Call the program. @return what it printed as JSON"""
    done = subprocess.run(["forebay", *arguments, "--json"], capture_output=True, text=True)
    if done.returncode != 0:
        raise dg.Failure(done.stderr.strip() or f"forebay ended with {done.returncode}")
    return json.loads(done.stdout)


@dg.asset(kinds={"kafka", "deltalake"})
def orders(context: dg.AssetExecutionContext) -> dg.MaterializeResult:
    report = forebay("run", "orders", "--run-id", context.run_id)
    return dg.MaterializeResult(metadata={"dagster/row_count": report["rows"]["written"],
                                          "rejected": report["rows"]["rejected"],
                                          "table_version": report["target"]["version"]})


job = dg.define_asset_job("orders_job", selection=[orders])


@dg.sensor(job=job, minimum_interval_seconds=30)
def kafka_lag(context: dg.SensorEvaluationContext):
    waiting = forebay("lag", "orders")["pipelines"][0]
    if not waiting["messages"]:
        return dg.SkipReason(f"nothing waits in {waiting['topic']}")
    return dg.RunRequest(run_key=f"{waiting['position']}/{waiting['end']}")  # once for each state


defs = dg.Definitions(assets=[orders], jobs=[job], sensors=[kafka_lag])
