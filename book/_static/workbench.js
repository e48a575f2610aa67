/* Brings the cards of functions to life: an editor in place of the stub, and the course's own check (check-engine.js; for
   functions that run as several ranks, ranks-engine.js).

   From disk there is no worker, and the stub and the card stay as they are built. The editor (CodeMirror) is loaded when
   one comes near; until then, and without it, a plain field takes its place. */
(function () {
  "use strict";

  const base = new URL(".", document.currentScript.src).href;
  const { load, change, forget, kept } = window.rankzeroWork;
  const { ask, element } = window.rankzeroAsk;
  const STATES = { right: "✓ right", wrong: "✗ not yet" };
  const RANKS = "[data-ranks]"; // a bench whose function runs as several ranks
  const NEAR = "1200px"; // how far below or above the window an editor is loaded
  const OLDER = "The result is of what stood here when you pressed Check.";
  const GONE = "This browser keeps nothing more: what you write is gone when the page is left.";
  const benches = new Map(); // id -> { name, get, set, reset, written, check }
  let editor = null;

  function loadEditor() {
    editor = editor || new Promise((answer, fail) => {
      const script = document.createElement("script");
      script.src = `${base}vendor/editor/editor.js`;
      script.onload = answer;
      script.onerror = () => fail(new Error("the editor could not be loaded"));
      document.head.append(script);
    });
    return editor;
  }

  // The parts of one card.

  /* The cells that the card replaces: the stub above it, and its own call. */
  function replacedParts(card) {
    const cell = card.closest("div.cell");
    const before = cell && cell.previousElementSibling;
    return [cell && cell.querySelector(".cell_input"), before && before.matches(".tag_exercise") && before].filter(Boolean);
  }

  function swap(card, live) {
    card.querySelectorAll(".rz-task, .rz-bench").forEach((node) => { node.hidden = !live; });
    card.querySelectorAll(".rz-still").forEach((node) => { node.hidden = live; });
    replacedParts(card).forEach((node) => { node.hidden = live; });
  }

  function plainField(field, changed, submit) {
    field.addEventListener("input", () => changed(field.value));
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit();
    });
    return { get: () => field.value, set: (text) => { field.value = text; changed(text); }, focus: () => field.focus() };
  }

  /* CodeMirror in place of the field, with what stands there now. A field that is in use is left alone until it is not. */
  async function dress(field, changed, submit) {
    await loadEditor();
    if (document.activeElement === field) {
      await new Promise((answer) => field.addEventListener("blur", answer, { once: true }));
    }
    const label = field.getAttribute("aria-label");
    const height = `${field.offsetHeight}px`;
    const view = window.rankzeroEditor(field.parentElement, { text: field.value, label, changed, submit });
    field.hidden = true;
    field.parentElement.querySelector(".cm-editor").style.minHeight = height; // nothing below moves
    return view;
  }

  function whenNear(node, act) {
    const watch = new IntersectionObserver((entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      watch.disconnect();
      act();
    }, { rootMargin: NEAR });
    watch.observe(node);
  }

  /* The reference opens after a try, or when the reader insists. */
  function guard(card, id) {
    const reference = card.querySelector("details.rz-reference");
    reference.querySelector("summary").addEventListener("click", async (event) => {
      const entry = load().items[id] || {};
      if (reference.open || entry.state || entry.seen) return;
      event.preventDefault();
      if (!await ask(reference, "You have not checked a version of your own yet.", "Show the reference", "Not yet")) return;
      change(id, { seen: true });
      reference.open = true;
    });
  }

  function showPrinted(bench) {
    const place = bench.querySelector(".rz-printed");
    const clear = () => {
      place.textContent = "";
      place.hidden = true;
    };
    const say = (line) => {
      place.hidden = false;
      place.textContent += `${line}\n`;
    };
    return { clear, say };
  }

  function others(id) {
    const rest = [...benches].filter(([other, bench]) => other !== id && bench.written());
    return Object.fromEntries(rest.map(([, bench]) => [bench.name, bench.get()]));
  }

  /* Says so where the browser keeps nothing of what is written; what the line says already stays. */
  function warn(status) {
    if (!kept() && !status.textContent) status.textContent = GONE;
  }

  /* The check of one bench: says what happens, shows the result, and keeps it if its program still stands there. */
  function checker(card, bench, id, view) {
    const status = bench.querySelector(".rz-status");
    const result = bench.querySelector(".rz-result");
    const button = bench.querySelector(".rz-check");
    const printed = showPrinted(bench);
    const ranks = bench.matches(RANKS);
    const told = {
      up: () => window.rankzeroWait.show(status, window.rankzeroWait.PREPARING),
      began: (place) => { status.textContent = place >= 0 ? `Running case ${place + 1} …` : "Running …"; },
      progress: (progress) => window.rankzeroRankCells.wait(status, progress),
      say: (line, rank) => printed.say(Number.isInteger(rank) ? `rank ${rank}: ${line}` : line),
      again: printed.clear,
    };
    return async function check() {
      if (button.getAttribute("aria-disabled") === "true") return;
      if (ranks && !await window.rankzeroRankCells.ready({ id }, status)) return;
      button.setAttribute("aria-disabled", "true");
      printed.clear();
      result.textContent = "";
      window.rankzeroWait.show(status);
      const source = view().get();
      try {
        const engine = ranks ? window.rankzeroRanks : window.rankzeroCheck;
        const reply = await engine.check({ id, source, others: others(id) }, told);
        result.innerHTML = reply.html;
        const state = reply.state === "right" ? "right" : "wrong";
        const same = view().get() === source;
        if (reply.state !== "unwritten") {
          if (same) change(id, { source, state, passed: reply.passed, total: reply.total });
          window.rankzero.markToday();
        }
        status.textContent = same ? "" : OLDER;
        warn(status);
      } catch (failure) {
        status.textContent = window.rankzeroWait.failed("Not checked", failure, "Press Check");
      }
      button.removeAttribute("aria-disabled");
    };
  }

  function enliven(bench) {
    const card = bench.closest(".rz-card");
    const { work: id, function: name } = bench.dataset;
    const field = bench.querySelector("textarea");
    const starter = field.defaultValue;
    const entry = load().items[id];
    if (entry && typeof entry.source === "string") field.value = entry.source;
    const [result, status] = [bench.querySelector(".rz-result"), bench.querySelector(".rz-status")];
    const changed = (source) => {
      if (source === starter) forget(id);
      else change(id, { source });
      warn(status);
    };
    let view = plainField(field, changed, () => check());
    const check = checker(card, bench, id, () => view);
    whenNear(bench, () => dress(field, changed, check).then((made) => { view = made; }, () => {}));
    bench.querySelector(".rz-check").addEventListener("click", check);
    const again = bench.querySelector(".rz-startover");
    function reset() {
      view.set(starter);
      forget(id);
      result.textContent = "";
      bench.querySelector(".rz-printed").hidden = true;
      if (status.textContent === OLDER) status.textContent = "";
    }
    again.addEventListener("click", async () => {
      const sure = view.get() === starter
        || await ask(again.parentElement, "Throw away what you wrote?", "Start over", "Keep it");
      if (!sure) return;
      reset();
      view.focus();
    });
    guard(card, id);
    swap(card, true);
    const [get, set] = [() => view.get(), (text) => view.set(text)];
    const checkAgain = () => {
      card.scrollIntoView();
      check();
    };
    benches.set(id, { name, get, set, reset, check: checkAgain, written: () => get() !== starter });
  }

  /* The state of each function: on its card, and in the scorecard. */
  function render() {
    const { items } = load();
    document.querySelectorAll(".rz-bench").forEach((bench) => {
      const state = (items[bench.dataset.work] || {}).state;
      if (state) bench.closest(".rz-card").dataset.state = state;
      else delete bench.closest(".rz-card").dataset.state;
    });
    document.querySelectorAll("[data-work-state]").forEach((cell) => {
      const { state, passed, total } = items[cell.dataset.workState] || {};
      cell.dataset.open = cell.dataset.open || cell.textContent;
      cell.textContent = state ? `${STATES[state]}, ${passed} of ${total} public cases` : cell.dataset.open;
      cell.className = state ? `rz-${state}` : "";
    });
  }

  /* The address of a cell in Colab, where the page has a button for the notebook; empty where it has none. */
  function colab(cell) {
    const button = document.querySelector('a[href*="colab.research.google.com"]');
    return button ? `${button.href.split("#")[0]}#scrollTo=${cell}` : "";
  }

  /* Puts a text on the clipboard. On plain http a browser has no clipboard to write to, but copies what is selected. */
  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch { /* none, or not allowed */ }
    const area = Object.assign(document.createElement("textarea"), { value: text });
    document.body.append(area);
    area.select();
    const copied = document.execCommand("copy");
    area.remove();
    return copied;
  }

  /* What cannot be checked here: where it can. */
  function showElsewhere(node) {
    const link = node.querySelector("a.rz-colab");
    const address = colab(link.dataset.cell);
    if (address) link.href = address;
    else link.closest("li").remove();
    const reason = node.querySelector("p > span");
    if (reason) reason.textContent = window.rankzeroRanks.state().why || reason.textContent;
    node.hidden = false;
    node.closest(".rz-card").querySelectorAll(".rz-still").forEach((still) => { still.hidden = true; });
    for (const button of node.querySelectorAll("button[data-copy]")) {
      button.addEventListener("click", async () => {
        button.textContent = await copy(button.dataset.copy) ? "Copied" : "Select the line to copy it";
      });
    }
  }

  /* Whether the page can check a function, perhaps after it was loaded once more (ranks-engine.js). */
  function alive(bench) {
    if (!/^https?:$/.test(location.protocol)) return false;
    if (!bench.matches(RANKS)) return true;
    const { able, mend } = window.rankzeroRanks.state();
    return able || mend;
  }

  function start() {
    const live = [...document.querySelectorAll(".rz-bench")].filter(alive);
    const cards = live.map((bench) => bench.closest(".rz-card"));
    for (const node of document.querySelectorAll(".rz-elsewhere")) {
      if (!cards.includes(node.closest(".rz-card"))) showElsewhere(node);
    }
    live.forEach(enliven);
    document.addEventListener("rankzero:work", render);
    render();
  }

  window.rankzeroBenches = { benches, colab, dress, plainField, whenNear }; // own-run.js, rank-cells.js
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
