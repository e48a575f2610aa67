/* Checks functions that readers write, with the course's own check in Python, away from the page.

   Requests { ticket, id, source, others, late } are answered with { ticket, began } before each case, { ticket, line } for
   each line that the program prints, and at the end { ticket, reply } (JSON text). { ticket, id } alone imports what a
   check of that item needs; { ticket, work, labs } makes an archive; { ticket, cell, own, others } runs a cell.
   { ticket, up } comes as soon as Python runs, and { bytes } with a reply is its memory. A program that ended Python is
   answered with { ticket, ended }, the reason; any other error is { ticket, error }, with dead: true when Python did not
   start or broke. Then the page ends the worker, as it does when a case does not come back. While Python's files arrive,
   messages { done, total, kept } say how far that is (python-start.js); { lacks: { module } } says that the picture of
   the house is missing, and can be made (house-worker.js). */
"use strict";

const base = new URL(".", self.location.href).href;
importScripts(`${base}vendor/pyodide/pyodide.js`, `${base}python-start.js`);

const RUN = `
import json

def _rz_answer(text, began, say):
    request = json.loads(text)
    if "work" in request:
        from autograder.learner import work_files
        return json.dumps({"archive": work_files.archive(request["work"], request["labs"])})
    if "cell" in request:
        from autograder.learner import own_run
        own_run.install(request.get("modules", {}))
        charts = []
        why = own_run.run(request["cell"], request["own"], request["others"], began, say, charts.append)
        return json.dumps({"why": why, "charts": charts})
    from autograder.learner import in_page
    if "source" not in request:
        return json.dumps(in_page.prepare(request["id"]))
    return json.dumps(in_page.check(request["id"], request["source"], request["others"], began, say, request.get("late")))
_rz_answer
`;

async function fetchJson(name) {
  const reply = await fetch(`${base}vendor/${name}`);
  if (!reply.ok) throw new Error(`${name} could not be loaded`);
  return reply.json();
}

let cellsInstalled = false; // what cells need beyond a check
const tell = (progress) => self.postMessage(progress);
const lacks = (found) => self.postMessage({ lacks: found });
const started = startPython(base, tell, ["check.json"], { lacks }).then((python) => [python.runPython(RUN), python]);
started.catch(() => {}); // each request reports it

/* The reply to a request, or what broke Python. */
function asked(run, request, answer) {
  try {
    return { reply: run(JSON.stringify(request), (place) => answer({ began: place }), (line) => answer({ line })) };
  } catch (error) {
    return broken(error);
  }
}

self.onmessage = async ({ data: { ticket, ...request } }) => {
  let up = false;
  const answer = (told) => self.postMessage({ ticket, ...told });
  try {
    const [run, python] = await started;
    up = true;
    answer({ up });
    if (request.work) request.labs = await fetchJson("labs.json");
    if (request.cell && !cellsInstalled) request.modules = await fetchJson("cells.json");
    const told = asked(run, request, answer);
    answer({ ...told, bytes: python._module.HEAP8.length });
    cellsInstalled = cellsInstalled || Boolean(request.cell);
  } catch (error) {
    answer({ error: lastLine(error), dead: !up });
  }
};
