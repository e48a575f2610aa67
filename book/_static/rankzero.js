/* Makes the cards of the built book live: no server, no module, no request; it works from file:// too.

   The rules are those of autograder/predicting.py, and a test runs one table of answers through both. A card carries its
   data in `data-card`; every sentence in it is HTML that Python has escaped. Progress is one entry of local storage. */
(function () {
  "use strict";

  const KEY = "rankzero:progress";
  const PREFIXES = [1e3, 1e6, 1e9, 1e12, 1e-3, 1e-6, 1e-9, 1e-12];
  const STATES = { right: "✓ right", wrong: "✗ not yet", open: "○ open" };

  // Numbers as people type them.

  /* A number from text, or a sentence that says why not. The point is always the decimal point. One comma is a decimal
     comma unless exactly three digits follow one to three others ("58,720" could be either and is refused; "0,125"
     could not). Two commas or more, blanks, apostrophes and underscores may group digits by three. */
  function readNumber(text) {
    const plain = text.trim().replace(/\u2212/g, "-").replace(/[\u00a0\u2009\u202f]/g, " ");
    if (plain === "") return { error: "Type a number." };
    const found = /^([+-]?)([\d., '_]*\d[.,]?)(e[+-]?\d+)?$/i.exec(plain);
    if (!found) return { error: "Type one number, without its unit." };
    const [, sign, digits, exponent] = found;
    if (/^[1-9]\d{0,2},\d{3}$/.test(digits)) {
      return { error: `${digits} can be read in two ways: type ${digits.replace(",", "")} or ${digits.replace(",", ".")}.` };
    }
    const grouped = /^\d{1,3}([ ,'_])\d{3}(\1\d{3})*(\.\d*)?$/.exec(digits);
    const body = grouped && !/^0,\d{3}$/.test(digits) ? digits.replaceAll(grouped[1], "") : digits.replace(",", ".");
    if (!/^(\d+\.?\d*|\.\d+)$/.test(body)) return { error: "Type one number, without its unit." };
    const value = Number(sign + body + (exponent || ""));
    return Number.isFinite(value) ? { value } : { error: "Type a number that is finite." };
  }

  // Judging: each function returns marks { right, sentence }.

  function near(given, value, relative) {
    return Math.abs(given - value) <= relative * (Math.abs(value) || 1);
  }

  function judgeNumber(part, given, hints) {
    const slips = part.slips.filter((slip) => near(given, slip.value, part.tolerance));
    const distances = slips.map((slip) => Math.abs(given - slip.value));
    const nearest = Math.min(Infinity, ...distances);
    if (near(given, part.answer, part.tolerance) && Math.abs(given - part.answer) <= nearest) {
      return { right: true, sentence: part.shown };
    }
    if (slips.length) return { right: false, sentence: slips[distances.indexOf(nearest)].sentence };
    if (part.unit && PREFIXES.some((factor) => near(given, part.answer * factor, part.tolerance))) {
      return { right: false, sentence: hints.unit.replace("{unit}", part.unit) };
    }
    if (part.unit === "%" && near(given, part.answer / 100, part.tolerance)) {
      return { right: false, sentence: hints.percent };
    }
    if (!part.unit && near(given, part.answer * 100, part.tolerance)) {
      return { right: false, sentence: hints.fraction };
    }
    return { right: false, sentence: given > part.answer ? hints.large : hints.small };
  }

  function judge(card, answers) {
    if (card.kind === "choice") {
      const right = answers[0] === card.correct;
      return [{ right, sentence: right ? "" : card.slips[answers[0]] || "Not this one." }];
    }
    if (card.kind === "order") {
      const first = card.correct.findIndex((letter, index) => letter !== answers[index]);
      return [{ right: first < 0, sentence: first < 0 ? "" : card.hints[first] }];
    }
    return card.parts.map((part, index) => judgeNumber(part, answers[index], card.hints));
  }

  // Progress: { version, items: { id: { right, first, confidence } }, pages: { name: [ids] } }.

  let memory = null; // what we know when the browser keeps nothing for us

  function load() {
    let stored = memory;
    try {
      stored = JSON.parse(localStorage.getItem(KEY)) || memory;
    } catch (error) { /* storage is forbidden or holds something else: begin anew */ }
    const valid = stored && stored.version === 1 && stored.items && stored.pages;
    return valid ? stored : { version: 1, items: {}, pages: {} };
  }

  function save(progress) {
    memory = progress;
    try {
      localStorage.setItem(KEY, JSON.stringify(progress));
    } catch (error) { /* kept until the page is left */ }
    render();
  }

  function record(id, right, confidence) {
    const progress = load();
    const old = progress.items[id];
    progress.items[id] = old ? { ...old, right } : { right, first: right, confidence };
    save(progress);
  }

  function forget(ids) {
    const progress = load();
    for (const id of ids) delete progress.items[id];
    save(progress);
  }

  function stateOf(entry) {
    return entry ? (entry.right ? "right" : "wrong") : "open";
  }

  // What progress looks like: the scorecard, and a badge beside each chapter that was visited.

  const several = (count, name) => `${count} ${name}${count === 1 ? "" : "s"}`;
  const percent = (share) => `${Math.floor(100 * share + 0.5)} %`;

  function tally(ids, items) {
    const states = ids.map((id) => stateOf(items[id]));
    const count = (state) => states.filter((other) => other === state).length;
    return `${several(ids.length, "question")}: ${["right", "wrong", "open"].map((s) => `${count(s)} ${s}`).join(", ")}.`;
  }

  function calibration(ids, items) {
    const given = ids.map((id) => items[id]).filter((entry) => entry && entry.confidence !== null);
    if (!given.length) return "";
    const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
    const brier = mean(given.map((entry) => (entry.confidence / 100 - Number(entry.first)) ** 2));
    return `Confidence was given ${several(given.length, "time")}: ` +
      `${percent(mean(given.map((entry) => entry.confidence / 100)))} on average, and ` +
      `${percent(mean(given.map((entry) => Number(entry.first))))} of those first answers were right. ` +
      `Brier score ${(Math.floor(100 * brier + 0.5) / 100).toFixed(2)}: the mean squared distance between confidence ` +
      "and outcome; 0 is perfect, and 50 % on everything gives 0.25.";
  }

  const pageName = (path) => path.split("/").pop().replace(/\.html$/, "") || "index";

  function paragraphs(node, sentences) {
    node.replaceChildren(...sentences.filter(Boolean).map((sentence) => {
      const paragraph = document.createElement("p");
      paragraph.textContent = sentence;
      return paragraph;
    }));
  }

  function renderScorecard(card, items) {
    const cells = [...card.querySelectorAll("[data-state]")];
    const ids = cells.map((cell) => cell.dataset.state);
    for (const cell of cells) {
      const state = stateOf(items[cell.dataset.state]);
      cell.textContent = STATES[state];
      cell.className = `rz-${state}`;
    }
    const note = "Functions are checked in the notebook. Answers are kept in this browser alone.";
    paragraphs(card.querySelector(".rz-tally"), [tally(ids, items), calibration(ids, items), note]);
  }

  function renderBadge(link, progress) {
    const ids = progress.pages[pageName(new URL(link.href, location.href).pathname)];
    let badge = link.querySelector(".rz-badge");
    if (!ids || !ids.length) return badge && badge.remove();
    if (!badge) {
      badge = link.appendChild(document.createElement("span"));
      badge.className = "rz-badge";
    }
    const right = ids.filter((id) => stateOf(progress.items[id]) === "right").length;
    badge.textContent = `${right}/${ids.length}`;
    badge.title = `${right} of ${ids.length} questions right`;
  }

  function render() {
    const progress = load();
    document.querySelectorAll(".rz-card[data-card]").forEach((card) => {
      const entry = progress.items[card.id.slice("rz-".length)];
      if (entry) card.dataset.state = stateOf(entry);
      else delete card.dataset.state;
    });
    document.querySelectorAll(".rz-scorecard").forEach((card) => renderScorecard(card, progress.items));
    document.querySelectorAll("nav.bd-links a.internal").forEach((link) => renderBadge(link, progress));
  }

  // One card.

  function mark(node, { right, sentence }) {
    node.className = `rz-mark rz-${right ? "right" : "wrong"}`;
    node.innerHTML = `<b>${STATES[right ? "right" : "wrong"]}</b> ${sentence}`;
  }

  /* The answers in the form, or the field that has none and a sentence about it. */
  function readNumbers(form) {
    const answers = [];
    for (const field of form.querySelectorAll(".rz-part input")) {
      const { value, error } = readNumber(field.value);
      field.setAttribute("aria-invalid", String(Boolean(error)));
      if (error) return { field, error };
      answers.push(value);
    }
    return { answers };
  }

  function readForm(card, form) {
    if (card.kind === "question") return readNumbers(form);
    if (card.kind === "order") {
      return { answers: [...form.querySelectorAll("[data-letter]")].map((step) => step.dataset.letter) };
    }
    const chosen = form.querySelector("input[type=radio]:checked");
    return chosen ? { answers: [chosen.value] } : { field: form.querySelector("input"), error: "Choose one option." };
  }

  function readConfidence(form) {
    const field = form.querySelector(".rz-confidence");
    const given = field.value.trim() !== "" || field.validity.badInput;
    if (given && !field.checkValidity()) return { field, error: "How sure: a number from 0 to 100." };
    return { confidence: given ? Number(field.value) : null };
  }

  function complain(node, { field, error }) {
    node.textContent = error;
    if (field) field.focus();
  }

  function feedback(section, marks) {
    const places = [...section.querySelectorAll(".rz-part .rz-mark")];
    const status = section.querySelector(".rz-feedback");
    places.forEach((place, index) => mark(place, marks[index]));
    if (places.length) {
      const right = marks.filter((one) => one.right).length;
      status.textContent = places.length === 1 ? "" : `${right} of ${marks.length} right.`;
    } else {
      mark(status.replaceChildren() || status.appendChild(document.createElement("span")), marks[0]);
    }
    if (window.MathJax && window.MathJax.typesetPromise) window.MathJax.typesetPromise([section]);
  }

  function submit(section, card, form) {
    const status = section.querySelector(".rz-feedback");
    const read = readForm(card, form);
    if (read.error) return complain(status, read);
    const sure = readConfidence(form);
    if (sure.error) return complain(status, sure);
    const marks = judge(card, read.answers);
    const right = marks.every((one) => one.right);
    feedback(section, marks);
    if (right) section.querySelector(".rz-derivation").open = true;
    record(card.id, right, sure.confidence);
  }

  function mover(step, sign, text) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = sign;
    button.setAttribute("aria-label", `move ${text}: ${step.textContent}`);
    button.addEventListener("click", () => {
      const other = text === "up" ? step.previousElementSibling : step.nextElementSibling;
      if (other) text === "up" ? other.before(step) : other.after(step);
      button.focus();
    });
    return button;
  }

  function enliven(section) {
    const card = JSON.parse(section.dataset.card);
    const form = section.querySelector("form");
    for (const step of form.querySelectorAll("[data-letter]")) {
      step.append(...[["↑", "up"], ["↓", "down"]].map(([sign, text]) => mover(step, sign, text)));
    }
    form.querySelector("fieldset").disabled = false;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      submit(section, card, form);
    });
    return card.id;
  }

  function start() {
    const ids = [...document.querySelectorAll(".rz-card[data-card]")].map(enliven);
    for (const button of document.querySelectorAll(".rz-reset")) {
      button.disabled = false;
      const cells = button.closest(".rz-scorecard").querySelectorAll("[data-state]");
      button.addEventListener("click", () => forget([...cells].map((cell) => cell.dataset.state)));
    }
    window.addEventListener("storage", (event) => event.key === KEY && render());
    if (!ids.length) return render();
    const progress = load();
    const page = pageName(location.pathname);
    // Written only when it is news: what another tab, or this one before a reload, has just written stays.
    if (String(progress.pages[page]) === String(ids)) return render();
    progress.pages[page] = ids;
    save(progress);
  }

  window.rankzero = { readNumber, judge, calibration };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
