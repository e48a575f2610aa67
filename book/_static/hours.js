/* Minutes with a page, roughly: a minute counts when the page is in view and was used in the last two. Scrolling alone is
   no use: scripts and a reload scroll too. */
(function () {
  "use strict";

  const KEY = "rankzero:time";
  const MINUTE = 60_000;
  const page = location.pathname.split("/").pop().replace(/\.html$/, "") || "index";
  let used = 0;

  function load() {
    try {
      const stored = JSON.parse(localStorage.getItem(KEY));
      if (stored && stored.version === 1 && stored.pages) return stored;
    } catch { /* storage is off or holds something else: begin anew */ }
    return { version: 1, pages: {} };
  }

  function save(time) {
    try {
      localStorage.setItem(KEY, JSON.stringify(time));
    } catch { /* storage is off or full: time is not kept */ }
  }

  function tick() {
    if (document.hidden || Date.now() - used > 2 * MINUTE) return;
    const time = load();
    time.pages[page] = (time.pages[page] || 0) + 1;
    save(time);
  }

  for (const kind of ["keydown", "pointerdown", "pointermove", "wheel", "touchmove"]) {
    addEventListener(kind, () => { used = Date.now(); }, { passive: true, capture: true });
  }
  setInterval(tick, MINUTE);
  window.rankzeroHours = { load };
})();
