"""Data-dependent errors that remain, answered in the program's own words.

torch raises GuardOnDataDependentSymNode where nothing decides a question about
sizes from data.  What leaves torch.compile is often another error that keeps
the text alone, so the answer goes into the text:

    Could not guard on data-dependent expression u0 > 4 ...
    Proviso: real_branch at model.py:22
      insert before it  torch._check(n <= 4)
      or instead        torch._check(n >= 5)

and, as `proviso_report`, onto the exception, where `proviso.explain(error)`
finds it.  What the program asks after that, _joint_checks.py adds.  Where
Dynamo breaks the graph instead, `report()` still lists the question.
"""

import collections
import logging

from proviso import _diagnose

log = logging.getLogger("proviso.torch")

# {(question, file, line): [Diagnosis, how often]}, each once.
found = collections.OrderedDict()
_LIMIT = 1_000


def answer(env, question, error, example, keep=True):
    """Adds the answer to torch's `error`.  Never fails: an error about the
    error would hide it.  `keep`: `report()` lists it."""
    if len(found) >= _LIMIT:
        return
    try:
        report = _diagnose.report_of_question(env, question, error, example)
    except Exception:
        log.debug("the error could not be answered", exc_info=True)
        return
    if not report:
        return
    error.proviso_report = report
    text = str(report).strip()
    error.args = (f"{error.args[0]}\n\nProviso: {text}\n", *error.args[1:])
    for one in report.errors if keep else ():
        known = found.setdefault((one.question, one.file, one.line), [one, 0])
        known[1] += 1


def reset():
    found.clear()
