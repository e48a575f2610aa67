/* Runs a cell of the page with the reader's own functions, in the worker that checks them (check-engine.js).

   The build says which cells can (`data-own`, tools/own_runs.py). One is offered when a function that it calls has been
   checked, whatever the check said; functions that the reader has not written are the course's. Her lines and her chart
   stand below the built output, which stays, and go when she closes them or changes her program. */
(function () {
  "use strict";

  const { load } = window.rankzeroWork;
  const { element } = window.rankzeroAsk;

  /* The reader's programs among the functions that a cell calls, by name. */
  function written({ items }) {
    const known = load().items;
    const own = Object.entries(items).filter(([, id]) => known[id] && known[id].state && typeof known[id].source === "string");
    return Object.fromEntries(own.map(([name, id]) => [name, known[id].source]));
  }

  /* Her other programs on the page, which hers may use. */
  function others() {
    const all = [...window.rankzeroBenches.benches.values()].filter((bench) => bench.written());
    return Object.fromEntries(all.map((bench) => [bench.name, bench.get()]));
  }

  const list = (names) => names.join(names.length > 2 ? ", " : " and ");

  /* Whose functions these are, and which of hers have not passed their check. */
  function label({ items }, own) {
    const known = load().items;
    const mine = Object.keys(own);
    const rest = Object.keys(items).filter((name) => !(name in own));
    const unsure = mine.filter((name) => known[items[name]].state !== "right");
    return `With your ${list(mine)}${rest.length ? ` and the course's ${list(rest)}` : ""}`
      + (unsure.length ? ` (${mine.length > 1 ? `${list(unsure)}: ` : ""}not right yet)` : "");
  }

  /* Shows a chart below ``above``; its sentence is its name. */
  async function show(chart, above) {
    const box = element("div", "", "rz-chart");
    const named = element("div", "");
    const drawing = element("div", "");
    named.setAttribute("role", "img");
    named.setAttribute("aria-label", chart.description);
    box.tabIndex = 0; // on a narrow screen it scrolls
    named.append(drawing);
    box.append(named);
    above.after(box);
    await window.rankzeroChart(drawing, chart);
  }

  function enliven(place) {
    const cell = JSON.parse(place.dataset.own);
    const offer = element("button", "");
    const status = element("span", "", "rz-status");
    const line = element("p", "", "rz-actions");
    const result = element("div", "", "rz-own-result");
    status.setAttribute("role", "status");
    line.append(offer, " ", status);
    place.append(line, result);
    let ran = null; // the programs whose result is shown

    function close() {
      ran = null;
      result.replaceChildren();
    }

    function render() {
      const own = written(cell);
      const names = Object.keys(own);
      if (ran !== null && ran !== JSON.stringify(own)) close();
      place.hidden = names.length === 0;
      offer.textContent = `Run this cell with your ${list(names)}`;
    }

    /* An empty result, with its label and the way back. */
    function open(own) {
      const back = element("button", "Only the built output");
      const printed = element("pre", "");
      back.addEventListener("click", () => {
        close();
        offer.focus();
      });
      printed.tabIndex = 0;
      printed.setAttribute("aria-label", "What the cell printed with your functions");
      const head = element("p", "", "rz-own-head");
      head.append(element("strong", label(cell, own)), " ", back);
      result.replaceChildren(head, printed);
      return printed;
    }

    async function run() {
      if (offer.getAttribute("aria-disabled") === "true") return;
      const own = written(cell);
      const printed = open(own);
      const told = {
        began: () => { status.textContent = "Running …"; },
        say: (text) => { printed.textContent += `${text}\n`; },
      };
      ran = JSON.stringify(own);
      offer.setAttribute("aria-disabled", "true");
      window.rankzeroWait.show(status);
      try {
        const { why, charts } = await window.rankzeroCheck.run({ cell, own, others: others() }, told);
        if (why) printed.after(element("p", why, "rz-own-why"));
        else if (cell.picture) printed.after(element("p", "The picture above is the built one.", ""));
        for (const chart of charts) await show(chart, printed);
        status.textContent = "";
      } catch (failure) {
        status.textContent = failure.late === undefined
          ? window.rankzeroWait.failed("Not run", failure, "Press the button") : "It did not come to its end and was stopped.";
      }
      offer.removeAttribute("aria-disabled");
    }

    offer.addEventListener("click", run);
    document.addEventListener("rankzero:work", render);
    render();
  }

  window.rankzeroOwn = { written, others, label, show }; // rank-cells.js

  function start() {
    if (/^https?:$/.test(location.protocol)) document.querySelectorAll(".rz-own").forEach(enliven);
  }

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
