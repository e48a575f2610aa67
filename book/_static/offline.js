/* Registers the service worker of the published book, and has it keep what this page loaded. */
(function () {
  "use strict";

  const script = document.currentScript.src;

  function keep({ active }) {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => { document.documentElement.dataset.offline = "ready"; };
    const here = location.href.split("#")[0];
    const loaded = performance.getEntriesByType("resource").map((entry) => entry.name);
    active.postMessage({ keep: [here, ...loaded.filter((url) => url.startsWith(location.origin))] }, [channel.port2]);
  }

  async function start() {
    try {
      await navigator.serviceWorker.register(new URL("../offline-worker.js", script));
      keep(await navigator.serviceWorker.ready);
    } catch (error) { /* from disk, in a closed frame or where it is forbidden, the book works with a network alone */ }
  }

  if (window.isSecureContext && "serviceWorker" in navigator && location.protocol !== "file:") {
    window.addEventListener("load", start);
  }
})();
