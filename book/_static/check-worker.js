/* Checks functions that readers write, with the course's own check in Python, away from the page.

   Requests { ticket, id, source, others, late } are answered with { ticket, began } before each case, { ticket, line } for
   each line that the program prints, and at the end { ticket, reply } (JSON text). { ticket, id } alone imports what a
   check of that item needs; { ticket, work, labs } makes an archive; { ticket, cell, own, others } runs a cell.
   An error comes as { ticket, error }, with dead: true when Python did not start. The page ends the worker when a case
   does not come back. While Python's files arrive, messages { done, total, kept } say how far that is (python-start.js);
   { lacks: { module } } says that the picture of the house is missing, and can be made (house-worker.js). */
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
const started = startPython(base, tell, ["check.json"], { lacks }).then((python) => python.runPython(RUN));
started.catch(() => {}); // each request reports it

self.onmessage = async ({ data: { ticket, ...request } }) => {
  let run = null;
  try {
    run = await started;
    if (request.work) request.labs = await fetchJson("labs.json");
    if (request.cell && !cellsInstalled) request.modules = await fetchJson("cells.json");
    const began = (place) => self.postMessage({ ticket, began: place });
    const say = (line) => self.postMessage({ ticket, line });
    self.postMessage({ ticket, reply: run(JSON.stringify(request), began, say) });
    cellsInstalled = cellsInstalled || Boolean(request.cell);
  } catch (error) {
    const text = String(error.message || error).trim().split("\n").pop();
    self.postMessage({ ticket, error: text, dead: run === null });
  }
};
