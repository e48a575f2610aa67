/* Makes the explorers of the built book move: at the first touch of a control Python starts in a worker, and each change
   draws the chart anew. From file:// or without a script the still stays, and its sentence says how to move it.

   A figure carries data-module, data-function and data-controls (rankzero/explore/display.py). */
(function () {
  "use strict";

  const base = new URL(".", document.currentScript.src).href;
  const SCRIPTS = ["vega/vega.min.js", "vega-lite/vega-lite.min.js", "vega-embed/vega-embed.min.js"];
  const phone = matchMedia("(max-width: 600px)"); // as in page.css
  const { STARTING, show, showProgress, failed } = window.rankzeroWait;
  const refusal = (failure) => failed("The chart does not move here", failure, "Press a control");

  // Controls: what a native input means.

  function readVector(control, text) {
    const values = text.split(",").map((piece) => (piece.trim() === "" ? NaN : Number(piece)));
    if (!values.every(Number.isFinite)) return { error: "Type numbers with commas between them." };
    if (values.length > control.longest) return { error: `At most ${control.longest} numbers.` };
    const { low, high } = control;
    const inside = values.every((value) => (low === null || value >= low) && (high === null || value <= high));
    return inside ? { value: values } : { error: `Each number must lie between ${low ?? "-∞"} and ${high ?? "∞"}.` };
  }

  /* One number, as people type it on a card: "70 billion", "80 GB", "3*7". In floating-point numbers 16.1 thousand is
     16100.000000000002, and a whole number all the same. */
  function readNumber({ unit, low, high, whole }, text) {
    const { value: typed, error } = window.rankzeroNumbers.read(text, unit);
    if (error) return { error };
    const value = whole ? Math.round(typed) : typed;
    if (Math.abs(value - typed) > 1e-9 * Math.abs(typed)) return { error: "Type a whole number." };
    const inside = (low === null || value >= low) && (high === null || value <= high);
    return inside ? { value } : { error: `Type a number from ${low ?? "-∞"} to ${high ?? "∞"}.` };
  }

  /* The read-outs come from Python with the stops, so that the page and a notebook show the same text. */
  function readRange(control, input) {
    const text = control.texts[Number(input.value)];
    input.parentElement.querySelector(".rz-value").textContent = text;
    input.setAttribute("aria-valuetext", text);
    return { value: control.stops[Number(input.value)] };
  }

  function read(control, input) {
    if (control.kind === "Range") return readRange(control, input);
    if (control.kind === "Choice") return { value: control.options[Number(input.value)] };
    const typed = control.kind === "Number" ? readNumber(control, input.value) : readVector(control, input.value);
    input.setAttribute("aria-invalid", String(Boolean(typed.error)));
    return typed;
  }

  /* A select begins with its default, too: a browser may have put back what was chosen before a reload. */
  function wakeInput(control, input) {
    if (control.kind === "Choice") input.value = control.options.indexOf(control.default);
    if (control.kind !== "Range") return;
    control.texts = control.texts.split("|");
    [input.min, input.max, input.step] = [0, control.stops.length - 1, 1];
    input.value = control.stops.indexOf(control.default);
    readRange(control, input);
  }

  // Engines: Python in a worker, Vega in the page. Each starts once; after a failed start the next request tries again.

  let worker = null;
  let vega = null;
  const waiting = new Map();
  let tickets = 0;

  /* Drops a worker whose Python did not start, or broke. The next request starts another one. */
  function lose(dead, reason) {
    if (dead !== worker) return; // an answer that was under way when the worker was dropped
    dead.terminate();
    worker = null;
    for (const { fail } of waiting.values()) fail(new Error(reason));
    waiting.clear();
  }

  function startWorker() {
    const fresh = new Worker(`${base}explorer-worker.js`);
    fresh.onmessage = ({ data }) => {
      if (data.total) return showProgress(".rz-explorer .rz-status", data);
      if (data.dead) return lose(fresh, data.error);
      const { answer } = waiting.get(data.ticket);
      waiting.delete(data.ticket);
      answer(data);
    };
    fresh.onerror = (event) => {
      event.preventDefault();
      lose(fresh, "Python could not be loaded");
    };
    return fresh;
  }

  function ask(request) {
    worker = worker || startWorker();
    return new Promise((answer, fail) => {
      tickets += 1;
      waiting.set(tickets, { answer, fail });
      worker.postMessage({ ticket: tickets, ...request });
    });
  }

  function loadScript(path) {
    return new Promise((answer, fail) => {
      const script = document.createElement("script");
      script.src = `${base}vendor/${path}`;
      script.onload = answer;
      script.onerror = () => {
        script.remove();
        fail(new Error(`${path} could not be loaded`));
      };
      document.head.append(script);
    });
  }

  function loadVega() {
    vega = vega || SCRIPTS.reduce((before, path) => before.then(() => loadScript(path)), Promise.resolve());
    vega.catch(() => { vega = null; });
    return vega;
  }

  /* Asks Python while Vega loads. A failure comes when both have settled, so that what failed can be started again. */
  async function askWithVega(request) {
    const [reply, scripts] = await Promise.allSettled([ask(request), loadVega()]);
    for (const { reason } of [reply, scripts]) if (reason) throw reason;
    return reply.value;
  }

  // One figure.

  function readState(controls, inputs) {
    const state = {};
    for (const [name, control] of Object.entries(controls)) {
      const { value, error } = read(control, inputs[name]);
      if (error) return { error };
      state[name] = value;
    }
    return { state };
  }

  /* Draws a chart into a place; its name is that of the box around it, and its marks have none. */
  async function embed(place, chart) {
    await loadVega();
    await vegaEmbed(place, chart, { actions: false, mode: "vega-lite", renderer: "svg" });
    place.querySelector("svg").setAttribute("aria-hidden", "true");
  }

  window.rankzeroChart = embed; // own-run.js

  /* A calculator has a table in place of a chart, and needs no Vega. */
  const isSheet = (figure) => Boolean(figure.querySelector(".rz-sheet"));
  const engine = (figure) => (isSheet(figure) ? ask : askWithVega);

  function fill(place, rows) {
    const body = place.querySelector("tbody");
    body.replaceChildren(...rows.map(([name, text]) => {
      const row = document.createElement("tr");
      const head = Object.assign(document.createElement("th"), { textContent: name, scope: "row" });
      row.append(head, Object.assign(document.createElement("td"), { textContent: text }));
      return row;
    }));
  }

  /* Draws one state; the sentence that it returns is empty unless the function refused the state. */
  async function draw(figure, state) {
    const { module, function: name } = figure.dataset;
    const reply = await engine(figure)({ module, name, state, phone: phone.matches });
    if (reply.error) return reply.error;
    figure.dataset.state = JSON.stringify(state);
    if (isSheet(figure)) {
      fill(figure.querySelector(".rz-sheet"), JSON.parse(reply.chart).rows);
      return "";
    }
    const place = document.createElement("div");
    await embed(place, JSON.parse(reply.chart));
    figure.querySelector(".rz-chart").replaceChildren(place);
    return "";
  }

  /* The latest state wins: while one is drawn, a change only says that another must follow. */
  function updater(figure, status, currentState) {
    const say = (text) => { status.textContent = text; };
    let running = false;
    let stale = false;
    return async function update() {
      stale = running;
      if (running) return;
      const { state, error } = currentState();
      if (error) return void say(error);
      running = true;
      if (!figure.dataset.state) show(status);
      try {
        say(await draw(figure, state));
      } catch (failure) {
        say(refusal(failure));
      }
      running = false;
      if (stale) update();
    };
  }

  /* A touch starts the engines, so that they are ready for the first change; after a failed start, so does the next. */
  function warmAtFirstTouch(fields, status, start) {
    async function warm() {
      if (status.textContent.startsWith(STARTING)) return;
      show(status);
      try {
        await start({});
        fields.removeEventListener("focusin", warm);
        fields.removeEventListener("pointerdown", warm);
        if (status.textContent.startsWith(STARTING)) status.textContent = "";
      } catch (failure) {
        status.textContent = refusal(failure);
      }
    }
    fields.addEventListener("focusin", warm);
    fields.addEventListener("pointerdown", warm);
  }

  function enliven(figure) {
    const controls = JSON.parse(figure.dataset.controls);
    const fields = figure.querySelector("fieldset");
    const status = figure.querySelector(".rz-status");
    const inputs = Object.fromEntries(
      [...fields.querySelectorAll("[data-name]")].map((input) => [input.dataset.name, input]));
    for (const [name, control] of Object.entries(controls)) wakeInput(control, inputs[name]);
    status.textContent = "";
    fields.disabled = false;
    const update = updater(figure, status, () => readState(controls, inputs));
    fields.addEventListener("input", update);
    phone.addEventListener("change", () => { if (figure.dataset.state && !isSheet(figure)) update(); }); // what was moved fits the new width
    warmAtFirstTouch(fields, status, engine(figure));
  }

  function start() {
    if (!/^https?:$/.test(location.protocol)) return;
    document.querySelectorAll(".rz-explorer").forEach(enliven);
  }

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
