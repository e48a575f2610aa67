/* Runs the functions of explorers in Python, away from the page. One worker serves all explorers of a page.

   A request { ticket, module, name, state } is answered with { ticket, chart } (JSON text) or { ticket, error }; one
   without a module is answered with { ticket } as soon as Python runs. With dead: true an answer says that Python did not start.
   The modules come from vendor/python.json, { name: source }; they import the standard library and each other. */
"use strict";

const base = new URL(".", self.location.href).href;
importScripts(`${base}vendor/pyodide/pyodide.js`);

const RUN = `
import importlib, json

def _rz_run(module, name, state):
    try:
        chart = getattr(importlib.import_module(module), name)(**json.loads(state))
        return json.dumps({"chart": json.dumps(chart)})
    except ValueError as error:
        return json.dumps({"error": str(error)})
_rz_run
`;

function fileOf(name, names) {
  const path = `/rankzero/${name.replaceAll(".", "/")}`;
  return names.some((other) => other.startsWith(`${name}.`)) ? `${path}/__init__.py` : `${path}.py`;
}

/* Writes the modules into Python's file system; a folder without a module of its own is a namespace package. */
function install(python, sources) {
  const names = Object.keys(sources);
  for (const name of names) {
    const file = fileOf(name, names);
    python.FS.mkdirTree(file.slice(0, file.lastIndexOf("/")));
    python.FS.writeFile(file, sources[name]);
  }
  python.runPython('import sys; sys.path.insert(0, "/rankzero")');
}

/* A promise that is rejected when a file does not arrive. Pyodide alone would wait for that file forever. */
function watchFetch() {
  const plain = self.fetch;
  return new Promise((_, fail) => {
    const lost = () => fail(new Error("Python could not be loaded"));
    self.fetch = (...request) => {
      const reply = plain(...request);
      reply.then(({ ok }) => ok || lost(), lost);
      return reply;
    };
  });
}

async function start() {
  const lost = watchFetch();
  const [python, sources] = await Promise.race([lost, Promise.all([
    loadPyodide({ indexURL: `${base}vendor/pyodide/` }),
    fetch(`${base}vendor/python.json`).then((reply) => reply.json()),
  ])]);
  install(python, sources);
  return python.runPython(RUN);
}

const started = start();
started.catch(() => {}); // each request reports it

self.onmessage = async ({ data: { ticket, module, name, state } }) => {
  let run = null;
  try {
    run = await started;
    self.postMessage({ ticket, ...(module ? JSON.parse(run(module, name, JSON.stringify(state))) : {}) });
  } catch (error) {
    const text = String(error.message || error).trim().split("\n").pop();
    self.postMessage({ ticket, error: text, fatal: true, dead: run === null });
  }
};
