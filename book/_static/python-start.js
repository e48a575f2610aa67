/* Starts Python in a worker; for importScripts. `startPython(base, tell, bundle)` gives Pyodide, with the modules of a
   bundle (tools/bundle.py) on its path.

   The first start in a browser is the long one: it takes a picture of Python's memory and keeps it in this site's cache,
   and the next start, on any page, begins from that picture. While files arrive, `tell({ done, total, kept })` says how
   many of their bytes are here, and whether the start begins from a picture.
   A picture belongs to one version of Pyodide. Where there is none, or nothing may be kept, Python starts as the first time. */
"use strict";

const PICTURES = "rankzero-python";

/* Makes fetch count what arrives, and gives a promise that is rejected when a file does not: Pyodide would wait forever. */
function watchFetch(tell) {
  const plain = self.fetch;
  let done = 0;
  const counted = (reply) => {
    const count = new TransformStream({
      transform(chunk, controller) {
        done += chunk.byteLength;
        tell(done);
        controller.enqueue(chunk);
      },
    });
    const { status, statusText, headers } = reply;
    return new Response(reply.body.pipeThrough(count), { status, statusText, headers });
  };
  return new Promise((_, fail) => {
    const lost = () => fail(new Error("Python could not be loaded"));
    self.fetch = async (...request) => {
      const reply = await plain(...request).catch((error) => {
        lost();
        throw error;
      });
      if (!reply.ok) lost();
      return reply.ok && reply.body ? counted(reply) : reply;
    };
  });
}

/* The picture of Python's memory that an earlier start left, or nothing. */
async function readPicture(key) {
  try {
    const kept = await (await caches.open(PICTURES)).match(key);
    return kept && new Uint8Array(await kept.arrayBuffer());
  } catch (error) {
    return undefined; // nothing may be kept here
  }
}

async function keepPicture(key, python) {
  try {
    const picture = python.makeMemorySnapshot(); // at once, before anything runs
    const kept = await caches.open(PICTURES);
    for (const old of await kept.keys()) await kept.delete(old);
    await kept.put(key, new Response(picture));
  } catch (error) { /* no room, or nothing may be kept: the next start is as long as this one */ }
}

async function load(folder, key, picture) {
  if (picture) return loadPyodide({ indexURL: folder, _loadSnapshot: picture });
  const python = await loadPyodide({ indexURL: folder, _makeSnapshot: true });
  keepPicture(key, python);
  return python;
}

/* Writes the files into Python's file system; a folder without a module of its own is a namespace package. A bundle has
   hundreds of them: each folder is made once, and the file system keeps the bytes as they are handed over. */
function install(python, files) {
  const encoder = new TextEncoder();
  const texts = Object.entries(files).map(([path, text]) => [`/rankzero/${path}`, text]);
  const folders = new Set(texts.map(([path]) => path.slice(0, path.lastIndexOf("/"))));
  for (const folder of folders) python.FS.mkdirTree(folder);
  for (const [path, text] of texts) python.FS.writeFile(path, encoder.encode(text), { canOwn: true });
  python.runPython('import sys; sys.path.insert(0, "/rankzero")');
}

async function startPython(base, tell, bundle = "python.json") {
  const json = (path) => fetch(`${base}vendor/${path}`).then((reply) => reply.json());
  const folder = `${base}vendor/pyodide/`;
  let total = 0, kept = false;
  const lost = watchFetch((done) => total && tell({ done: Math.min(done, total), total, kept }));
  lost.catch(() => {});
  const pyodide = json("start.json").then(async ({ bytes, version }) => {
    const key = `${folder}?${version}`, picture = await readPicture(key);
    [total, kept] = [bytes[bundle], Boolean(picture)];
    return load(folder, key, picture);
  });
  const [python, modules] = await Promise.race([lost, Promise.all([pyodide, json(bundle)])]);
  install(python, modules);
  return python;
}
