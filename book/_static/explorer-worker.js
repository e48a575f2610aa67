/* Runs the functions of explorers in Python, away from the page. One worker serves all explorers of a page.

   A request { ticket, module, name, state, phone } is answered with { ticket, chart } (JSON text) or { ticket, error }; one
   without a module is answered with { ticket } as soon as Python runs. With dead: true an answer says that Python did not
   start, or broke. With phone: true the chart is drawn for a phone.
   While Python's files arrive, messages { done, total, kept } say how far that is (python-start.js).
   The modules and their data come from vendor/python.json, { path: text }; modules import the standard library and each
   other. */
"use strict";

const base = new URL(".", self.location.href).href;
importScripts(`${base}vendor/pyodide/pyodide.js`, `${base}python-start.js`);

const RUN = `
import contextlib, importlib, json

def _rz_run(module, name, state, narrow):
    try:
        with importlib.import_module("rankzero.room").phone() if narrow else contextlib.nullcontext():
            chart = getattr(importlib.import_module(module), name)(**json.loads(state))
        return json.dumps({"chart": json.dumps(chart)})
    except ValueError as error:
        return json.dumps({"error": str(error)})
_rz_run
`;

const tell = (progress) => self.postMessage(progress);
const started = startPython(base, tell).then((python) => python.runPython(RUN));
started.catch(() => {}); // each request reports it

self.onmessage = async ({ data: { ticket, module, name, state, phone } }) => {
  try {
    const run = await started;
    self.postMessage({ ticket, ...(module ? JSON.parse(run(module, name, JSON.stringify(state), phone)) : {}) });
  } catch (error) {
    self.postMessage({ ticket, error: lastLine(error), dead: true });
  }
};
