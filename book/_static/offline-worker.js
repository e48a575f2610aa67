/* The service worker of the published book: what was visited opens without a network.

   With a network everything comes from it, and a copy is kept; without one, the copy answers. The large files that do not
   change (Python, charts) come from the copy at once. `tools/site.py` writes this file to the root of the site, with the
   stamp of its contents: a new book drops the copies of the old one.

   A reader who starts ranks (ranks-engine.js) needs pages with two headers that most static hosts do not send: from then on
   this worker adds them to what it hands over. */
"use strict";

const COPIES = "rankzero-site-STAMP";
const LASTING = /\/_static\/vendor\//;
const ISOLATED = "rankzero-isolated"; // a cache of this name says that the headers are wanted
const HEADERS = { "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp" };
const BODILESS = [101, 204, 205, 304];

let isolated = caches.has(ISOLATED);

self.addEventListener("install", () => self.skipWaiting());

self.addEventListener("activate", (event) => event.waitUntil((async () => {
  const old = (await caches.keys()).filter((name) => name.startsWith("rankzero-site-") && name !== COPIES);
  await Promise.all(old.map((name) => caches.delete(name)));
  await self.clients.claim();
})()));

async function fromNetwork(request) {
  const reply = await fetch(request);
  if (reply.ok) {
    const copy = reply.clone();
    caches.open(COPIES).then((copies) => copies.put(request, copy)).catch(() => {}); // no room: as without a worker
  }
  return reply;
}

const fromCopies = async (request) => (await caches.open(COPIES)).match(request);

async function answer(request) {
  if (LASTING.test(request.url)) return (await fromCopies(request)) || fromNetwork(request);
  try {
    return await fromNetwork(request);
  } catch (failure) {
    const copy = await fromCopies(request);
    if (copy) return copy;
    throw failure;
  }
}

async function withHeaders(reply) {
  if (!reply.status || !(await isolated)) return reply;
  const headers = new Headers(reply.headers);
  for (const [name, value] of Object.entries(HEADERS)) headers.set(name, value);
  const { status, statusText } = reply;
  return new Response(BODILESS.includes(status) ? null : reply.body, { status, statusText, headers });
}

self.addEventListener("fetch", (event) => {
  const { method, url } = event.request;
  if (method !== "GET" || !url.startsWith(self.registration.scope)) return;
  event.respondWith(answer(event.request).then(withHeaders));
});

async function isolate() {
  await caches.open(ISOLATED);
  isolated = Promise.resolve(true);
}

/* The first page was loaded before this worker was there: it names what it loaded. */
self.addEventListener("message", ({ data, ports }) => {
  if (data.isolate) return isolate().then(() => ports[0].postMessage("isolated"));
  const kept = caches.open(COPIES).then((copies) => Promise.all(data.keep.map((url) => copies.add(url).catch(() => {}))));
  return kept.then(() => ports[0].postMessage("kept"));
});
