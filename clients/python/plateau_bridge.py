# SPDX-License-Identifier: Apache-2.0
"""Hands Plateau's curves to Weights & Biases or MLflow: plateau_bridge.py wandb|mlflow NAME < LINES

Started by `plateau run --wandb` and `--mlflow` with the job's own interpreter, so that the package,
its settings and its login are the user's: WANDB_MODE, WANDB_PROJECT, MLFLOW_TRACKING_URI and so on
hold. Reads one JSON object a line from standard input until it ends:

  {"time": 1700000000.5, "step": 120, "values": {"memory/main_mb": 5552.0}}
  {"summary": {"verdict": "leak"}}

What the user should know goes to standard output, a line each. Python 3.8 and later, no other package.
"""
import json
import os
import sys


SAID = sys.stdout


def say(text):
    try:
        print(str(text).replace("\n", " ")[:400], file=SAID, flush=True)
    except OSError:
        pass  # The watcher has left; the points that it has sent still go to the service.


class Wandb:
    """A run of its own in the user's project, beside the job's, with the same steps."""

    def __init__(self, name):
        os.environ.setdefault("WANDB_SILENT", "true")
        import wandb

        self.run = wandb.init(name=name, job_type="plateau", group=os.environ.get("WANDB_RUN_GROUP"),
                              settings=wandb.Settings(console="off", disable_git=True, x_disable_stats=True)
                              if hasattr(wandb.Settings, "x_disable_stats") else wandb.Settings(console="off"))
        self.run.define_metric("step")
        self.run.define_metric("*", step_metric="step")
        say("curves go to run '%s' (%s)" % (self.run.name, self.run.url or self.run.dir))

    def values(self, step, time_s, values):
        self.run.log(dict(values, step=step, **{"plateau/time_s": time_s}))

    def summary(self, facts):
        self.run.summary.update(facts)

    def end(self):
        self.run.finish()


class Mlflow:
    """The job's own run if MLFLOW_RUN_ID names one, else one of its own in the same experiment."""

    def __init__(self, name):
        import mlflow
        from mlflow.entities import Metric
        from mlflow.tracking import MlflowClient

        self.metric = Metric
        self.client = MlflowClient()
        self.run_id = os.environ.get("MLFLOW_RUN_ID")
        self.own = not self.run_id
        if self.own:
            experiment = os.environ.get("MLFLOW_EXPERIMENT_ID")
            if not experiment:
                wanted = os.environ.get("MLFLOW_EXPERIMENT_NAME", "Default")
                known = self.client.get_experiment_by_name(wanted)
                experiment = known.experiment_id if known else self.client.create_experiment(wanted)
            run = self.client.create_run(experiment, tags={"mlflow.runName": name, "mlflow.source.name": "plateau"})
            self.run_id = run.info.run_id
        say("curves go to run %s at %s" % (self.run_id, mlflow.get_tracking_uri()))

    def values(self, step, time_s, values):
        at_ms = int(time_s * 1000)
        metrics = [self.metric(key, value, at_ms, step) for key, value in values.items()]
        self.client.log_batch(self.run_id, metrics=metrics)

    def summary(self, facts):
        for key, value in facts.items():
            self.client.set_tag(self.run_id, "plateau." + key, str(value)[:4000])

    def end(self):
        if self.own:
            self.client.set_terminated(self.run_id)


def open_service(to, name):
    try:
        return {"wandb": Wandb, "mlflow": Mlflow}[to](name)
    except ImportError as missing:
        say("the package is not there for %s (%s); no curves are sent" % (sys.executable, missing))
    except Exception as refused:  # Whatever the service or its settings say.
        say("cannot begin: %s; no curves are sent" % refused)
    return None


def main():
    to, name = sys.argv[1], sys.argv[2]
    sys.stdout = sys.stderr  # Packages print where they like; only say() reaches the user.
    service = open_service(to, name)
    failed = False
    for line in sys.stdin:
        if service is None:
            continue  # The other side never sees a closed pipe.
        try:
            said_now = json.loads(line)
            if "summary" in said_now:
                service.summary(said_now["summary"])
            else:
                service.values(said_now["step"], said_now["time"], said_now["values"])
        except Exception as refused:
            if not failed:
                say("a point was refused: %s" % refused)
            failed = True
    if service is not None:
        try:
            service.end()
        except Exception as refused:
            say("could not end the run: %s" % refused)


if __name__ == "__main__":
    main()
