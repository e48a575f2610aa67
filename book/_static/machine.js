/* On the opening page: what the browser in front of the reader can do, as a list. Without it the page says the same in
   general. */
(function () {
  "use strict";

  const place = document.querySelector(".rz-machine");
  if (!place || !window.rankzeroRanks) return;

  const served = location.protocol !== "file:";
  const wasm = Boolean(window.Worker && window.WebAssembly);
  const { able, mend, why, ranks } = window.rankzeroRanks.state();

  function functions() {
    if (!served) return "Functions and moving charts: not from disk. Serve the book (make serve), and they work.";
    if (!wasm) return "Functions and moving charts: no, this browser has no workers or no WebAssembly.";
    return "Functions and moving charts: yes. The first check loads Python once, and then it stays.";
  }

  function processes() {
    if (able) return [`Ranks: yes, up to ${ranks} at once.`, why].filter(Boolean).join(" ");
    return mend ? `Ranks: yes, up to ${ranks} at once. At the first press the page is loaded once more.` : `Ranks: no. ${why}`;
  }

  const lines = [
    "Cards and pictures in steps: yes.",
    functions(),
    processes(),
    "Time, PyTorch and GPUs: in a notebook, on your machine or in Colab.",
  ];
  place.replaceChildren(...lines.map((text) => {
    const item = document.createElement("li");
    item.textContent = text;
    return item;
  }));
})();
