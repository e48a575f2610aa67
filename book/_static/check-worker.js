/* Checks functions that readers write, with the course's own check in Python, away from the page.

   Requests { ticket, id, source, others, late } are answered with { ticket, began } before each case, { ticket, line } for
   each line that the program prints, and at the end { ticket, reply } (JSON text). { ticket, id } alone imports what a
   check of that item needs; { ticket, work, labs } makes an archive. An error comes as { ticket, error }, with dead: true
   when Python did not start. The page ends the worker when a case does not come back. */
"use strict";

const base = new URL(".", self.location.href).href;
importScripts(`${base}vendor/pyodide/pyodide.js`);

const RUN = `
import json

def _rz_answer(text, began, say):
    request = json.loads(text)
    if "work" in request:
        from autograder.learner import work_files
        return json.dumps({"archive": work_files.archive(request["work"], request["labs"])})
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

function install(python, files) {
  for (const [path, text] of Object.entries(files)) {
    const file = `/rankzero/${path}`;
    python.FS.mkdirTree(file.slice(0, file.lastIndexOf("/")));
    python.FS.writeFile(file, text);
  }
  python.runPython('import sys; sys.path.insert(0, "/rankzero")');
}

async function start() {
  const lost = watchFetch();
  const [python, files] = await Promise.race([lost, Promise.all([
    loadPyodide({ indexURL: `${base}vendor/pyodide/` }), fetchJson("check.json"),
  ])]);
  install(python, files);
  return python.runPython(RUN);
}

const started = start();
started.catch(() => {}); // each request reports it

self.onmessage = async ({ data: { ticket, ...request } }) => {
  let run = null;
  try {
    run = await started;
    if (request.work) request.labs = await fetchJson("labs.json");
    const began = (place) => self.postMessage({ ticket, began: place });
    const say = (line) => self.postMessage({ ticket, line });
    self.postMessage({ ticket, reply: run(JSON.stringify(request), began, say) });
  } catch (error) {
    const text = String(error.message || error).trim().split("\n").pop();
    self.postMessage({ ticket, error: text, dead: run === null });
  }
};
