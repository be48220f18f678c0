# SPDX-License-Identifier: Apache-2.0
"""Collects the predictions of the whole evaluation set, every 60 steps.

An evaluation takes 20 batches of 2 MiB each.
By default they are dropped at its end:
  Cause: evaluation-spikes. Signal: spikes of 40 MiB at evaluations over a level floor.
  Verdict: plateau.
With --keep the last quarter stays, 10 MiB per evaluation:
  Cause: evaluation-leak. Signal: the floor is a staircase whose steps are the evaluations.
  Verdict: leak.
"""

import leaker


def evaluate(loop):
    predictions = []
    for _ in range(20):
        predictions.append(leaker.tensor(2 * 1024))
        loop.pause(1)
    return predictions


def main():
    args = leaker.arguments(
        __doc__,
        epoch_steps=120,
        step_ms=15,
        extra=lambda parser: parser.add_argument("--keep", action="store_true"),
    )
    loop = leaker.Loop(args)
    model = leaker.tensor(40 * 1024)
    kept = []
    for step in loop:
        if step % 60 != 0:
            continue
        loop.say("begin eval")
        predictions = evaluate(loop)
        if args.keep:
            kept.extend(predictions[-5:])
        del predictions
        loop.say("end eval")
    del model


if __name__ == "__main__":
    main()
