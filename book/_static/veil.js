/* Commit, then see: a result, an explanation, an explorer or a sentence to remember (`data-veil`, tools/veil.py) is veiled
   until the questions before it are answered, or until the reader asks to see it, which her progress notes. What comes out
   of the reader's own functions (`data-veil-own`) opens when these are right, too. The switch below the title lifts all
   veils.

   It runs in the head, before anything is drawn, so that nothing flashes and nothing moves. A page on which it does not
   run shows everything. */
(function () {
  "use strict";

  const KEY = "rankzero:everything";
  const PROGRESS = "rankzero:progress";
  const WORK = "rankzero:work";
  const root = document.documentElement;
  let everything = stored(KEY) === "yes";

  function stored(key) {
    try {
      return localStorage.getItem(key);
    } catch {
      return null;
    }
  }

  /* What the reader has done. The cards (rankzero.js) know it as soon as they live, even where nothing is stored. */
  function items() {
    if (window.rankzero) return window.rankzero.load().items;
    try {
      return JSON.parse(stored(PROGRESS)).items || {};
    } catch {
      return {};
    }
  }

  /* Whether the reader wrote these functions, and all are right. */
  function written(names) {
    if (!names.length) return false;
    let work = {};
    try {
      work = window.rankzeroWork ? window.rankzeroWork.load().items : JSON.parse(stored(WORK)).items;
    } catch { /* nothing is kept, or something else */ }
    return names.every((name) => work[name] && work[name].state === "right");
  }

  const questionsOf = (output) => output.dataset.veil.split(" ");
  const functionsOf = (output) => (output.dataset.veilOwn ? output.dataset.veilOwn.split(" ") : []);
  const done = (entry) => Boolean(entry) && ("right" in entry || entry.looked === true);

  /* Marks the questions that are done in the line that stands for something veiled. */
  function mark(line, known) {
    for (const link of line.querySelectorAll("a")) {
      const name = link.hash.slice("#rz-".length);
      link.classList.toggle("rz-done", done(known[name]) || written([name]));
    }
  }

  /* Opens what is answered or was asked for, and veils the rest. Of lines that follow each other the first is shown. */
  function sweep() {
    const known = items();
    let [opened, before] = [false, true];
    for (const output of document.querySelectorAll("[data-veil]")) {
      const open = questionsOf(output).every((id) => done(known[id])) || written(functionsOf(output));
      const line = output.previousElementSibling;
      mark(line, known);
      line.classList.toggle("rz-behind", !before && "veilRow" in output.dataset);
      before = open;
      if (output.classList.contains("rz-open") === open) continue;
      output.classList.toggle("rz-open", open);
      line.classList.toggle("rz-open", open);
      opened = opened || open;
    }
    if (opened) document.dispatchEvent(new CustomEvent("rankzero:shown"));
  }

  /* While the page is still read, before each time that it is drawn. */
  function sweepAhead() {
    if (document.readyState !== "loading") return;
    sweep();
    requestAnimationFrame(sweepAhead);
  }

  function show() {
    root.classList.toggle("rz-veiled", !everything);
    for (const box of document.querySelectorAll(".rz-everything input")) box.checked = everything;
    document.dispatchEvent(new CustomEvent("rankzero:shown"));
  }

  function choose(all) {
    everything = all;
    try {
      if (all) localStorage.setItem(KEY, "yes");
      else localStorage.removeItem(KEY);
    } catch { /* it holds until the page is left */ }
    show();
  }

  /* The reader asks: what she has not answered is noted, and she is led to what it veiled. */
  function ask(output) {
    const known = items();
    window.rankzero.look(questionsOf(output).filter((id) => !done(known[id])));
    output.tabIndex = -1;
    output.focus({ preventScroll: true });
  }

  function start() {
    sweep();
    show();
    for (const box of document.querySelectorAll(".rz-everything input")) {
      box.addEventListener("change", () => choose(box.checked));
    }
    for (const button of document.querySelectorAll(".rz-veil button")) {
      button.addEventListener("click", () => ask(button.closest(".rz-veil").nextElementSibling));
    }
    document.addEventListener(PROGRESS, sweep);
    document.addEventListener(WORK, sweep);
    addEventListener("storage", (event) => { // another tab
      if (event.key === PROGRESS || event.key === WORK) sweep();
      if (event.key !== KEY) return;
      everything = event.newValue === "yes";
      show();
    });
  }

  /* Whether the result of a question is in sight because everything is shown. */
  const lifted = (id) => everything && Boolean(document.querySelector(`[data-veil~="${CSS.escape(id)}"]`));

  window.rankzeroVeil = { lifted };
  root.classList.add("rz-veils");
  root.classList.toggle("rz-veiled", !everything);
  requestAnimationFrame(sweepAhead);
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
