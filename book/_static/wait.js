/* What stands beside a button while a reader waits for Python, and why it did not come.

   A wait says what is being done; how much has arrived, and the seconds, stand behind it and are not read aloud. */
(function () {
  "use strict";

  const STARTING = "Starting Python …";
  const PREPARING = "Preparing the check …";
  const SOON = 2; // s after which they are counted
  let clock = 0;

  const million = (bytes) => (bytes / 1e6).toFixed(0);

  function count(node) {
    const seconds = Math.floor((performance.now() - node.began) / 1000);
    const parts = [...node.parts, seconds < SOON ? "" : `${seconds} s`];
    node.textContent = ` ${parts.filter(Boolean).join(", ")}`;
  }

  function tick() {
    const waits = document.querySelectorAll(".rz-wait");
    waits.forEach(count);
    if (waits.length) return;
    clearInterval(clock);
    clock = 0;
  }

  function counter(began) {
    const node = document.createElement("span");
    node.className = "rz-wait";
    node.began = began;
    node.setAttribute("aria-hidden", "true");
    clock = clock || setInterval(tick, 1000);
    return node;
  }

  /* Begins a wait in `status`, or goes on with the one that is there. It ends when something else stands there. */
  function show(status, stage = STARTING, parts = []) {
    const before = status.querySelector(".rz-wait");
    if (!before || status.firstChild.textContent !== stage) {
      status.replaceChildren(stage, counter(before ? before.began : performance.now()));
    }
    const node = status.querySelector(".rz-wait");
    node.parts = parts;
    count(node);
  }

  /* How much of Python's files is here, and what comes then. */
  function arrived({ done, total, kept }) {
    const all = done >= 0.99 * total;
    return [`${million(done)} of ${million(total)} MB`, kept ? "kept from before" : "", all ? "now it sets itself up" : ""];
  }

  /* Shows how far the start of Python is in the `places` in which somebody waits for it. */
  function showProgress(places, progress) {
    for (const status of document.querySelectorAll(places)) {
      if (status.textContent.startsWith(STARTING)) show(status, STARTING, arrived(progress));
    }
  }

  /* Why something did not come, as a clause: a file that could not be loaded may say that there is no network. */
  function why({ message }) {
    return /could not be loaded/.test(message) && !navigator.onLine ? `${message}, as there is no network` : message;
  }

  /* What was not done, why, and what to press; a program that ended Python has a new one then. */
  const failed = (what, failure, press) =>
    `${what}: ${why(failure)}. ${press} to ${failure.ended ? "start a new one" : "try again"}.`;

  window.rankzeroWait = { STARTING, PREPARING, show, arrived, showProgress, why, failed };
})();
