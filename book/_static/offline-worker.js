/* The service worker of the published book: what was visited opens without a network.

   With a network everything comes from it, and a copy is kept; without one, the copy answers. The large files that do not
   change (Python, charts) come from the copy at once. `tools/site.py` writes this file to the root of the site, with the
   stamp of its contents: a new book drops the copies of the old one. */
"use strict";

const COPIES = "rankzero-site-STAMP";
const LASTING = /\/_static\/vendor\//;

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

self.addEventListener("fetch", (event) => {
  const { method, url } = event.request;
  if (method === "GET" && url.startsWith(self.registration.scope)) event.respondWith(answer(event.request));
});

/* The first page was loaded before this worker was there: it names what it loaded. */
self.addEventListener("message", ({ data, ports }) => {
  const kept = caches.open(COPIES).then((copies) => Promise.all(data.keep.map((url) => copies.add(url).catch(() => {}))));
  kept.then(() => ports[0].postMessage("kept"));
});
