/* Starts Python in a worker; for importScripts. `startPython(base, tell, bundles, given)` gives Pyodide, with the modules
   of bundles (tools/bundle.py) on its path.

   The first start in a browser is the long one: it takes a picture of Python's memory and keeps it in this site's cache,
   and the next start, on any page, begins from that picture. A picture is either plain, or of the house: then Python holds
   the modules for checks and ranks and has imported most of them (autograder/page/start.py), and the plain one is no
   longer kept. That of the house takes longer to make. The start of the ranks' broker makes it, as four ranks start from
   it at once; after a first check, which would come later for it, a worker of its own does (house-worker.js).
   While files arrive, `tell({ done, total, kept })` says how many of their bytes are here, and whether the start begins
   from a picture.
   A picture belongs to one version of Pyodide and of our modules. Where there is none, or nothing may be kept, Python
   starts as the first time. Pyodide's options for pictures are its own affair: where they fail, Python starts without.

   `given` may hold { module, picture }, the compiled WebAssembly and a house picture that another worker has, and
   `share(found)`, which is called with each of them as soon as it is there; `lacks({ module })`, which is called when the
   picture of the house is missing and the plain one is kept, from which it can be made; { aside: true } for a start that
   does nothing but make it; with { plain: true } pictures are left alone. */
"use strict";

const PICTURES = "rankzero-python";
const HOUSE = ["check.json", "broker.json"]; // what the picture of the house is made from; a start with all of it makes it
const HELD = [...HOUSE, "ranks.json"]; // what a start from that picture need not fetch
const MAKING = "rankzero-house"; // the lock of the worker that makes that picture

/* Makes fetch count what arrives while `tell` wants to know, and gives a promise that is rejected when a file does not
   arrive: Pyodide would wait forever. */
function watchFetch(tell, wanted) {
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
      return reply.ok && reply.body && wanted() ? counted(reply) : reply;
    };
  });
}

// Pictures.

/* Memory that workers can share, where the page may have it: one copy of a picture serves all ranks. */
const memory = (size) => new Uint8Array(self.crossOriginIsolated ? new SharedArrayBuffer(size) : size);

function inShared(bytes) {
  const shared = memory(bytes.length);
  shared.set(bytes);
  return shared;
}

/* The picture of Python's memory that an earlier start left under a key, or nothing. */
async function readPicture(key) {
  try {
    const kept = await (await caches.open(PICTURES)).match(key);
    return kept && new Uint8Array(await kept.arrayBuffer());
  } catch (error) {
    return undefined; // nothing may be kept here
  }
}

/* The keys of the pictures that belong to this book; others on the same host have theirs. */
const ofBook = async (kept, folder) => (await kept.keys()).filter(({ url }) => url.startsWith(`${folder}?`));

/* Keeps a picture in place of the book's others, unless a better one is there; whether it is kept. The others go last, so
   that a worker that is ended on the way leaves either them or the new one. */
async function keepPicture(key, picture, better = key) {
  if (!picture) return false;
  try {
    const kept = await caches.open(PICTURES);
    if (better !== key && await kept.match(better)) return false;
    await kept.put(key, new Response(picture));
    for (const old of await ofBook(kept, key.split("?")[0])) if (old.url !== key) await kept.delete(old);
    return true;
  } catch (error) { // no room, or nothing may be kept: the next start is as long as this one
    return false;
  }
}

async function forgetPictures(folder) {
  const kept = await caches.open(PICTURES);
  for (const old of await ofBook(kept, folder)) await kept.delete(old);
  if (!(await kept.keys()).length) await caches.delete(PICTURES);
}

/* The picture of a Python before anything of JavaScript's is handed to it, or nothing. */
function takePicture(python) {
  try {
    return python.makeMemorySnapshot();
  } catch (error) {
    return undefined;
  }
}

/* Text in shared memory cannot be decoded, and a picture begins with some. */
function decodeShared() {
  const plain = TextDecoder.prototype.decode;
  TextDecoder.prototype.decode = function decode(view, ...rest) {
    const shared = self.SharedArrayBuffer && view && view.buffer instanceof SharedArrayBuffer;
    return plain.call(this, shared ? view.slice() : view, ...rest);
  };
}

/* Hands out the compiled WebAssembly, or makes Pyodide use one that is compiled already. */
function shareModule(module, share) {
  const fetchFile = self.fetch;
  const compiled = (url) => module && String(url).endsWith(".wasm");
  self.fetch = (url, ...rest) => (compiled(url) ? Promise.resolve(new Response()) : fetchFile(url, ...rest));
  WebAssembly.instantiateStreaming = async (source, imports) => {
    const made = module || await WebAssembly.compileStreaming(source);
    share({ module: made });
    return { module: made, instance: await WebAssembly.instantiate(made, imports) };
  };
}

function load(folder, picture, pictured) {
  if (picture) decodeShared();
  return loadPyodide({
    indexURL: folder, ...(picture ? { _loadSnapshot: picture } : {}), ...(pictured ? { _makeSnapshot: true } : {}),
  });
}

// Files.

/* Writes the files into Python's file system; a folder without a module of its own is a namespace package. A bundle has
   hundreds of them: each folder is made once, and the file system keeps the bytes as they are handed over. */
function install(python, files) {
  const encoder = new TextEncoder();
  const texts = Object.entries(files).map(([path, text]) => [`/rankzero/${path}`, text]);
  const folders = new Set(texts.map(([path]) => path.slice(0, path.lastIndexOf("/"))));
  for (const folder of folders) python.FS.mkdirTree(folder);
  for (const [path, text] of texts) python.FS.writeFile(path, encoder.encode(text), { canOwn: true });
  python.runPython('import sys; "/rankzero" in sys.path or sys.path.insert(0, "/rankzero")');
}

/* Python reads the bundles that it is to hold by itself. What it needs to begin with stands in files. */
const MOVE_IN = `
import json, os, sys
files = {}
for name in os.listdir("/rankzero"):
    with open(f"/rankzero/{name}", encoding="utf-8") as bundle:
        files.update(json.load(bundle))
    os.remove(f"/rankzero/{name}")
os.makedirs("/rankzero/autograder/page")
for path in ("__init__", "page/__init__", "page/install", "page/modules_in_memory", "page/start"):
    with open(f"/rankzero/autograder/{path}.py", "w", encoding="utf-8") as file:
        file.write(files[f"autograder/{path}.py"])
sys.path.insert(0, "/rankzero")
from autograder.page import start
start.house(files)
del files, bundle, file, start
`;

/* Makes Python hold the bundles of the house and import what it needs of them, and takes the picture. */
function pictureHouse(python, texts) {
  python.FS.mkdirTree("/rankzero");
  texts.forEach((text, place) => python.FS.writeFile(`/rankzero/${place}.json`, text));
  python.runPython(MOVE_IN);
  return takePicture(python);
}

const keysOf = (folder, { version, house }) => ({ plain: `${folder}?${version}`, house: `${folder}?${version}-${house}` });

/* Whether the picture of the house is kept. */
async function hasHouse(base) {
  const told = await (await fetch(`${base}vendor/start.json`)).json();
  const kept = await caches.open(PICTURES);
  return Boolean(await kept.match(keysOf(`${base}vendor/pyodide/`, told).house));
}

/* Takes the lock of the picture from a worker that makes it aside, which ends, until `made` is settled. */
function makeMyself(made) {
  if (navigator.locks) navigator.locks.request(MAKING, { steal: true }, () => made).catch(() => {});
}

/* The picture to begin from, whether it is that of the house, and what a start fetches. */
async function plan({ folder, bundles, given }, told) {
  const { bytes } = told;
  const keys = keysOf(folder, told);
  const ofHouse = given.picture || (given.plain ? undefined : await readPicture(keys.house));
  const picture = ofHouse || (given.plain ? undefined : await readPicture(keys.plain));
  const makesHouse = !ofHouse && !given.plain && HOUSE.every((name) => bundles.includes(name));
  const files = ofHouse || makesHouse ? bundles.filter((name) => !HELD.includes(name)) : bundles;
  const total = [...files, ...(makesHouse ? HOUSE : [])].reduce((sum, name) => sum + bytes[name], bytes.pyodide);
  return { keys, picture, plain: given.plain, ofHouse, makesHouse, files, total };
}

/* Keeps what picture a start leaves; whether one is kept from which that of the house can be made. */
function leave({ python, texts, keys, picture, plain, makesHouse, ofHouse }, sharePicture) {
  if (makesHouse) {
    const made = pictureHouse(python, texts);
    sharePicture(made);
    return keepPicture(keys.house, made).then(() => false);
  }
  if (!ofHouse) sharePicture(undefined);
  if (picture || plain) return Promise.resolve(Boolean(picture) && !ofHouse);
  return keepPicture(keys.plain, takePicture(python), keys.house);
}

/* Python, the modules that it is to have, and the texts from which it makes the house. */
async function loaded({ files, picture, plain, makesHouse }, folder, { text, json }) {
  const arriving = Promise.all([Promise.all(files.map(json)), Promise.all(makesHouse ? HOUSE.map(text) : [])]);
  const python = await load(folder, picture, makesHouse || !(picture || plain));
  const [modules, texts] = await arriving;
  return { python, modules, texts };
}

/* Starts Python; it, and a promise that is kept when what the start leaves is. */
async function begin(base, tell, bundles, given) {
  const text = (path) => fetch(`${base}vendor/${path}`).then((reply) => reply.text());
  const json = (path) => text(path).then(JSON.parse);
  const folder = `${base}vendor/pyodide/`;
  let module, settle, total = 0, kept = false;
  const settled = new Promise((answer) => { settle = answer; });
  const share = (found) => {
    module = found.module || module;
    if (given.share) given.share(found);
  };
  const sharePicture = (picture) => given.share && share({ picture: picture && inShared(picture) });
  const lost = watchFetch((done) => total && tell({ done: Math.min(done, total), total, kept }), () => !kept);
  lost.catch(() => {});
  if (given.share || given.lacks || given.module) shareModule(given.module, share);
  const start = async (from) => {
    const found = await plan({ folder, bundles, given: from }, await json("start.json"));
    [total, kept] = [found.total, Boolean(found.picture)];
    if (kept) tell({ done: total, total, kept });
    if (found.ofHouse) sharePicture(found.ofHouse);
    if (found.makesHouse && !given.aside) makeMyself(settled);
    try {
      return { ...found, ...await loaded(found, folder, { text, json }) };
    } catch (error) {
      if (!found.picture) throw error;
      await forgetPictures(folder).catch(() => {});
      return start({ ...from, picture: undefined, plain: true }); // the picture is no good, or not for this Pyodide
    }
  };
  const found = await Promise.race([lost, start(given)]);
  const left = leave(found, sharePicture);
  found.modules.forEach((one) => install(found.python, one));
  settle(left);
  if (given.lacks) left.then((can) => can && given.lacks({ module }));
  return { python: found.python, left };
}

const lastLine = (error) => String(error.message || error).trim().split("\n").pop();

/* What ended Python while a program ran, as a clause. */
function whyEnded(error) {
  const text = lastLine(error);
  if (Number.isInteger(error.status)) return `it left with exit status ${error.status}`;
  if (/call stack|recursion/i.test(text)) return "its calls or its data are nested too deeply";
  if (/memory|allocat/i.test(text)) return "its memory is used up or damaged";
  return /unreachable|abort/i.test(text) ? "it aborted" : text;
}

/* What a worker says of an error that came out of Python: nothing of that Python can be used any more. */
const broken = (error) => (error.name === "PythonError" ? { dead: true, error: lastLine(error) } : { ended: whyEnded(error) });

const startPython = (base, tell, bundles = ["python.json"], given = {}) =>
  begin(base, tell, bundles, given).then(({ python }) => python);

/* Makes the picture of the house and keeps it, unless it is there already or another worker makes it. */
async function makeHouse(base, module) {
  await navigator.locks.request(MAKING, { ifAvailable: true }, async (lock) => {
    if (!lock || await hasHouse(base)) return;
    const { left } = await begin(base, () => {}, HOUSE, { module, aside: true });
    await left;
  });
}
