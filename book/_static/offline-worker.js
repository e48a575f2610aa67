/* The service worker of the published book: what was visited opens without a network.

   With a network everything comes from it, and a copy is kept; without one, the copy answers. The large files that do not
   change (Python, charts) come from the copy at once. `tools/site.py` writes this file to the root of the site, with the
   stamp of its contents: a new book drops the copies of the old one. Several books may live on one host, each under its
   own path: what is kept is named after the path, and a book leaves the others' copies alone.

   A page that was never visited has no copy: without a network, a page that says so takes its place.

   A reader who starts ranks (ranks-engine.js) needs pages with two headers that most static hosts do not send: from then on
   this worker adds them to what it hands over. */
"use strict";

const PATH = new URL(self.registration.scope).pathname; // no path holds a blank
const SITE = `rankzero-site ${PATH} `;
const COPIES = `${SITE}STAMP`;
const LASTING = /\/_static\/vendor\//;
const ISOLATED = `rankzero-isolated ${PATH}`; // a cache of this name says that the headers are wanted
const HEADERS = { "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp" };
const BODILESS = [101, 204, 205, 304];

let isolated = caches.has(ISOLATED);

self.addEventListener("install", () => self.skipWaiting());

self.addEventListener("activate", (event) => event.waitUntil((async () => {
  const old = (await caches.keys()).filter((name) => name.startsWith(SITE) && name !== COPIES);
  await Promise.all(old.map((name) => caches.delete(name)));
  await self.clients.claim();
})()));

/* What is asked of the network: a large file anew of the host, as its copy stays, and one of the browser may be that of an
   old book. */
const asked = (request) => (LASTING.test(request.url) ? new Request(request, { cache: "no-cache" }) : request);

async function fromNetwork(request) {
  const reply = await fetch(asked(request));
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
    if (request.mode === "navigate") return noNetwork();
    throw failure;
  }
}

// Without a network.

const titleOf = (html) => (/<title>(.*?)(?: (?:&#8212;|—) [^<]*)?<\/title>/.exec(html) || [])[1];

/* A link to each page of the book that has a copy, by the order of their addresses. */
async function kept() {
  const copies = await caches.open(COPIES);
  const pages = (await copies.keys()).filter(({ url }) => /\/book\/[^?#]*\.html$/.test(url));
  const links = await Promise.all(pages.map(async (page) => {
    const title = titleOf(await (await copies.match(page)).text());
    return title ? `<li><a href="${page.url}">${title}</a></li>` : "";
  }));
  return links.sort().join("");
}

async function noNetwork() {
  const links = await kept();
  const text = `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>No network</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>:root { color-scheme: light dark } body { font: 1rem/1.6 system-ui, sans-serif; margin: 3rem auto; max-width: 36rem;
padding: 0 1rem }</style><script>
let left = 0; // when a page of the list was chosen
const load = () => fetch(location.href, { method: "HEAD" }).then(() => {
  if (Date.now() < left + 5000) return;
  clearInterval(again);
  location.reload();
}, () => {});
const again = setInterval(load, 3000); // a network that comes back is not always announced
addEventListener("beforeunload", () => { left = Date.now() });
addEventListener("online", load);
</script></head><body>
<h1>There is no network</h1>
<p>This page has not been opened on this device before, so there is no copy of it here. It will load as soon as there is a
network again. Your answers are safe: they stay in this browser.</p>
${links ? `<p>These pages open without a network:</p><ul>${links}</ul>` : ""}</body></html>`;
  return new Response(text, { status: 503, statusText: "No network", headers: { "Content-Type": "text/html; charset=utf-8" } });
}

// Headers.

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

/* Keeps a copy of what a page loaded; that of a large file is kept already, or comes from the host. */
async function keep(copies, url) {
  const request = asked(new Request(url));
  if (LASTING.test(url) && (await copies.match(request))) return;
  await copies.add(request);
}

/* The first page was loaded before this worker was there: it names what it loaded. */
self.addEventListener("message", ({ data, ports }) => {
  if (data.isolate) return isolate().then(() => ports[0].postMessage("isolated"));
  const kept = caches.open(COPIES).then((copies) => Promise.all(data.keep.map((url) => keep(copies, url).catch(() => {}))));
  return kept.then(() => ports[0].postMessage("kept"));
});
