"""The fault injection: a few faults, of kinds that no other test has; and that it sees what is wrong."""

import json

import pandas as pd
from disturbed import compared, executed_again
from fault_injection import Injection
from fault_kinds import KINDS

FEW = {
    "data file changed between runs",
    "disk full",
    "one of two coordinators frozen",
    "clock jumps backwards",
}


def test_a_few_faults(tmp_path):
    kinds = [kind for kind in KINDS if kind.name in FEW]
    said = []
    injection = Injection(tmp_path, len(FEW), 0, kinds, said.append).run()
    assert injection.is_perfect, "\n".join([*said, injection.report()])
    assert set(injection.injected) == FEW
    assert "4 faults" in injection.report()
    assert "0 runs lost, 0 runs doubled" in injection.report()


ROWS = pd.DataFrame(
    {
        "dataset": "wine",
        "model": "mlp",
        "transformation": "standard",
        "noise": 0.0,
        "seed": [0, 1],
        "accuracy": [0.5, float("nan")],
    }
)
TRIALS = {"faults/wine/mlp/standard": [(0, {"lr": 0.1}, 0.5), (1, {"lr": 0.2}, 0.6)]}


def finding(rows=ROWS, trials=TRIALS, events=()):
    return compared(rows, ROWS, trials, TRIALS, events)


def event(name, *keys):
    return json.dumps({"event": name, "keys": keys})


class TestWhatIsSeen:
    def test_nothing_wrong(self):
        events = [event("begin", "a"), event("begin", "a"), event("stored", "a"), event("begin", "b")]
        assert finding(events=events).is_perfect  # what was not stored may be trained again

    def test_a_lost_run(self):
        found = finding(ROWS.iloc[:1])
        assert (found.lost, found.doubled, found.equal_rows) == (1, 0, 1)
        assert not found.is_perfect

    def test_a_doubled_run(self):
        found = finding(pd.concat([ROWS, ROWS.iloc[:1]]))
        assert (found.lost, found.doubled) == (0, 1)
        assert not found.is_perfect

    def test_a_stored_run_that_was_trained_again(self):
        events = [event("stored", "a", "b"), event("begin", "b", "c")]
        assert executed_again(events) == ["b"]
        assert finding(events=events).doubled == 1

    def test_a_row_that_differs_in_the_last_bit(self):
        found = finding(ROWS.assign(accuracy=[0.5000000000000001, float("nan")]))
        assert (found.lost, found.equal_rows) == (0, 1)
        assert not found.is_perfect

    def test_trials(self):
        name, (first, second) = next(iter(TRIALS.items()))
        assert not finding(trials={name: [first]}).is_perfect
        assert not finding(trials={name: [first, (1, {"lr": 0.2}, 0.7)]}).is_perfect
        again = finding(trials={name: [first, first, second]})
        assert (again.is_perfect, again.rewritten) == (True, 1)  # as a resumed search reads it
