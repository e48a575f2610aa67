/* Registers the service worker of the published book, has it keep what this page loaded, and says when there is no
   network. */
(function () {
  "use strict";

  const script = document.currentScript.src;

  /* The worker of this book once it is active: a book further up in the path of the host may have one for this page too. */
  function activeOf({ active, waiting, installing }) {
    const worker = active || waiting || installing;
    return new Promise((answer) => {
      const look = () => worker.state === "activated" && answer(worker);
      worker.addEventListener("statechange", look);
      look();
    });
  }

  function keep(active) {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => { document.documentElement.dataset.offline = "ready"; };
    const here = location.href.split("#")[0];
    const loaded = performance.getEntriesByType("resource").map((entry) => entry.name);
    active.postMessage({ keep: [here, ...loaded.filter((url) => url.startsWith(location.origin))] }, [channel.port2]);
  }

  /* A line above the text while the browser knows of no network. */
  function tell() {
    const line = document.querySelector(".rz-offline") || Object.assign(document.createElement("p"), { className: "rz-offline" });
    line.setAttribute("role", "status");
    line.textContent = navigator.onLine ? "" : "There is no network. What you opened on this device before still works; what is new to it has to wait.";
    if (!line.isConnected) document.querySelector("article")?.prepend(line);
  }

  async function start() {
    tell();
    addEventListener("online", tell);
    addEventListener("offline", tell);
    try {
      keep(await activeOf(await navigator.serviceWorker.register(new URL("../offline-worker.js", script))));
    } catch (error) { /* from disk, in a closed frame or where it is forbidden, the book works with a network alone */ }
  }

  if (window.isSecureContext && "serviceWorker" in navigator && location.protocol !== "file:") {
    window.addEventListener("load", start);
  }
})();
