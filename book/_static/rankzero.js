/* Makes the cards of the built book live: no server, no module, no request; it works from file:// too.

   The rules are those of autograder/learner/predicting.py, and a test runs one table of answers through both. A card carries its
   data in `data-card`; every sentence in it is HTML that Python has escaped. Progress is one entry of local storage. */
(function () {
  "use strict";

  const { read, understood } = window.rankzeroNumbers;
  const KEY = "rankzero:progress";
  const WORK = "rankzero:work";
  const PREFIXES = [1e3, 1e6, 1e9, 1e12, 1e-3, 1e-6, 1e-9, 1e-12];
  const SPACING = [1, 3, 7, 21]; // days until a question that was missed comes back
  const STATES = { right: "✓ right", wrong: "✗ not yet", open: "○ open" };

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

  /* Estimates: a factor between two positive numbers, told in two significant digits, or in as many as show on which side
     of `limit` it is. */
  function roundedFactor(factor, limit) {
    if (factor > 1e12) return `more than ${(1e12).toLocaleString("en-US")}`;
    let rounded = factor;
    for (let digits = 2; digits < 13; digits += 1) {
      const step = 10 ** (digits - 1 - Math.floor(Math.log10(factor)));
      rounded = Math.floor(factor * step + 0.5) / step;
      if ((rounded <= limit) === (factor <= limit)) break;
    }
    return rounded.toLocaleString("en-US", { maximumSignificantDigits: 12 });
  }

  function judgeEstimate(card, given) {
    const between = (one, other) => Math.max(one / other, other / one);
    const off = between(given, card.answer);
    const factor = roundedFactor(off, card.factor);
    const say = (hint) => card.hints[hint].replace("{factor}", factor);
    if (off <= card.factor) return { right: true, sentence: `${card.shown}. ${say(factor === "1" ? "exact" : "right")}` };
    const [nearest] = card.slips.map((slip) => ({ ...slip, distance: between(given, slip.value) }))
      .sort((one, other) => one.distance - other.distance);
    const said = say(given > card.answer ? "large" : "small");
    return { right: false, sentence: nearest && nearest.distance <= card.factor ? `${said} ${nearest.sentence}` : said };
  }

  function judge(card, answers) {
    if (card.kind === "design") return [card.rows[answers.join("|")]];
    if (card.kind === "estimate") return [judgeEstimate(card, answers[0])];
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

  /* Progress: { version, items: { id: entry }, pages: { name: [ids] }, drafts: { id: draft }, days: [day] }.

     An entry is { right, first, confidence, given, date: { first, last }, review, looked }: what was typed last, when the
     first and the last answer came, when the question comes back ({ step, due }, or null when it does not), and whether
     the reader saw the result before the first answer; an entry may hold nothing but the last. A draft is what stands on a
     card, { given, sure, open }. Older progress has neither drafts nor the last four. */

  let memory = null; // the latest, while the browser does not keep it

  function load() {
    let stored = memory;
    try {
      stored = memory || JSON.parse(localStorage.getItem(KEY));
    } catch (error) { /* storage is forbidden or holds something else: begin anew */ }
    const valid = stored && stored.version === 1 && stored.items && stored.pages;
    return valid ? stored : { version: 1, items: {}, pages: {} };
  }

  function save(progress) {
    try {
      localStorage.setItem(KEY, JSON.stringify(progress));
      memory = null;
    } catch (error) {
      memory = progress; // kept until the page is left
    }
    render();
    document.dispatchEvent(new CustomEvent(KEY));
  }

  /* The day that comes `days` after a moment, now if none is given, as "2026-11-24", on the reader's own calendar. */
  function day(days = 0, now = new Date()) {
    const then = new Date(now.getFullYear(), now.getMonth(), now.getDate() + days);
    const two = (number) => String(number).padStart(2, "0");
    return `${then.getFullYear()}-${two(then.getMonth() + 1)}-${two(then.getDate())}`;
  }

  /* When a question comes back, or null. One that was missed before dates were kept is due at once. */
  function reviewOf(entry) {
    if (!entry || !answered(entry)) return null;
    if (entry.review !== undefined) return entry.review;
    return entry.right && entry.first ? null : { step: 0, due: "" };
  }

  const isDue = (entry) => Boolean(reviewOf(entry)) && reviewOf(entry).due <= day();

  /* A wrong answer begins the spacing anew; a right one that was due goes a step further, and one before that does not. */
  function reviewed(old, right) {
    if (!right) return { step: 0, due: day(SPACING[0]) };
    if (!isDue(old)) return reviewOf(old);
    const step = reviewOf(old).step + 1;
    return step < SPACING.length ? { step, due: day(SPACING[step]) } : null;
  }

  /* Progress in which something was done today. */
  const withToday = (progress) => ({ ...progress, days: [...new Set([...(progress.days || []), day()])].sort() });
  const markToday = () => save(withToday(load()));

  function record(id, right, confidence, given) {
    const progress = withToday(load());
    const old = progress.items[id] || {};
    const last = new Date().toISOString();
    const fresh = { right, given, review: reviewed(old, right) };
    const entry = answered(old) ? { ...old, ...fresh, date: { first: last, ...old.date, last } }
      : { ...old, first: right, confidence, ...fresh, date: { first: last, last } };
    if (!answered(old) && window.rankzeroVeil && window.rankzeroVeil.lifted(id)) entry.looked = true;
    progress.items[id] = entry;
    save(progress);
  }

  /* The reader asks to see what comes out, and has not answered these. */
  function look(ids) {
    const progress = load();
    for (const id of ids) progress.items[id] = { ...progress.items[id], looked: true };
    save(progress);
  }

  function forget(ids) {
    const progress = load();
    for (const id of ids) {
      delete progress.items[id];
      delete (progress.drafts || {})[id];
      waiting.delete(id);
      if (blanks.has(id)) blanks.get(id)();
    }
    save(progress);
  }

  const answered = (entry) => Boolean(entry) && "right" in entry;

  function stateOf(entry) {
    return answered(entry) ? (entry.right ? "right" : "wrong") : "open";
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
    const sure = (entry) => answered(entry) && !entry.looked && entry.confidence !== null;
    const given = ids.map((id) => items[id]).filter(sure);
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
    const note = memory ? "This browser keeps nothing more: your answers are gone when the page is left."
      : "Answers and functions are kept in this browser alone.";
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
      if (answered(entry)) card.dataset.state = stateOf(entry);
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

  const unitOf = (field) => (field.parentElement.querySelector(".rz-unit") || { textContent: "" }).textContent;

  /* The answers in the form, or the field that has none and a sentence about it. */
  function readNumbers(form) {
    const answers = [];
    for (const field of form.querySelectorAll(".rz-part input")) {
      const { value, error } = read(field.value, unitOf(field));
      field.setAttribute("aria-invalid", String(Boolean(error)));
      if (error) return { field, error };
      answers.push(value);
    }
    return { answers };
  }

  function readForm(card, form) {
    if (card.kind === "question") return readNumbers(form);
    if (card.kind === "estimate") {
      const read = readNumbers(form);
      return read.error || read.answers[0] > 0 ? read : { field: form.querySelector("input"), error: card.hints.positive };
    }
    if (card.kind === "order") {
      return { answers: [...form.querySelectorAll("[data-letter]")].map((step) => step.dataset.letter) };
    }
    if (card.kind === "design") {
      const fields = [...form.querySelectorAll(".rz-knob select")];
      const field = fields.find((one) => !one.value);
      return field ? { field, error: card.missing } : { answers: fields.map((one) => one.value) };
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

  /* Says why there is no answer to judge. The verdict on an earlier one goes. */
  function complain(section, { field, error }) {
    section.querySelectorAll(".rz-mark").forEach((node) => node.replaceChildren());
    section.querySelector(".rz-feedback").textContent = error;
    if (section.querySelector(".rz-tries")) drawDesign(section);
    if (field) field.focus();
  }

  function feedback(section, card, marks) {
    const places = [...section.querySelectorAll(".rz-part .rz-mark")];
    const status = section.querySelector(".rz-feedback");
    places.forEach((place, index) => mark(place, marks[index]));
    if (places.length) {
      const right = marks.filter((one) => one.right).length;
      status.textContent = places.length === 1 ? "" : `${right} of ${marks.length} right.`;
    } else {
      mark(status.replaceChildren() || status.appendChild(document.createElement("span")), marks[0]);
    }
    if (card.kind === "design") drawDesign(section, marks[0].at);
    if (window.setFormulas) window.setFormulas(section);
  }

  /* The reader's design among the best ones; earlier tries stay, paler. */
  function drawDesign(section, at) {
    const tries = section.querySelector(".rz-tries");
    for (const old of tries.children) old.setAttribute("opacity", "0.35");
    if (!at) return;
    const point = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    const place = { class: "rz-yours", x: at[0] - 6, y: at[1] - 6, width: 12, height: 12 };
    for (const [name, value] of Object.entries(place)) point.setAttribute(name, value);
    tries.append(point);
  }

  function submit(section, card, form) {
    const read = readForm(card, form);
    if (read.error) return complain(section, read);
    const sure = readConfidence(form);
    if (sure.error) return complain(section, sure);
    const marks = judge(card, read.answers);
    const right = marks.every((one) => one.right);
    feedback(section, card, marks);
    if (right) section.querySelector(".rz-derivation").open = true;
    record(card.id, right, sure.confidence, entered(form));
    keepDraft(section, card, form);
  }

  // What stands on a card survives a reload.

  const waiting = new Map(); // id -> writes the draft of its card
  const blanks = new Map(); // id -> makes its card as it was built
  let timer = 0;

  /* The texts of the fields, the letter that is chosen, or the letters in order. */
  function entered(form) {
    const steps = [...form.querySelectorAll("[data-letter]")].map((step) => step.dataset.letter);
    const chosen = [...form.querySelectorAll("input[type=radio]:checked")].map((option) => option.value);
    const fields = [...form.querySelectorAll(".rz-part input, .rz-knob select")];
    return [...steps, ...chosen, ...fields.map((field) => field.value)];
  }

  function fill(form, given) {
    form.querySelectorAll(".rz-part input").forEach((field, place) => {
      field.value = given[place] || "";
      explain(field);
    });
    form.querySelectorAll(".rz-knob select").forEach((field, place) => { field.value = given[place] || ""; });
    form.dispatchEvent(new Event("filled"));
    form.querySelectorAll("input[type=radio]").forEach((option) => { option.checked = option.value === given[0]; });
    const steps = [...form.querySelectorAll("[data-letter]")];
    const order = given.map((letter) => steps.find((step) => step.dataset.letter === letter));
    if (steps.length && order.every(Boolean)) steps[0].parentElement.append(...new Set([...order, ...steps]));
  }

  function draftOf(section, form) {
    const open = section.querySelector(".rz-derivation").open;
    return { given: entered(form), sure: form.querySelector(".rz-confidence").value, open };
  }

  function keepDraft(section, card, form) {
    const progress = load();
    const draft = draftOf(section, form);
    const { [card.id]: old, ...others } = progress.drafts || {};
    const fresh = JSON.stringify(draft) === section.dataset.blank ? others : { ...others, [card.id]: draft };
    if (JSON.stringify(old) !== JSON.stringify(fresh[card.id])) save({ ...progress, drafts: fresh });
  }

  function flush() {
    clearTimeout(timer);
    for (const write of waiting.values()) write();
    waiting.clear();
  }

  /* What all pages keep, as it is stored. */
  function stored() {
    try {
      return [KEY, WORK].map((key) => localStorage.getItem(key));
    } catch (error) {
      return [];
    }
  }

  /* A page to which the reader comes back stands there as she left it. It is read anew where another page has kept
     something since, which the next answer would overwrite. */
  let left = "";

  function leave() {
    flush();
    left = JSON.stringify(stored());
  }

  function comeBack({ persisted }) {
    if (persisted && JSON.stringify(stored()) !== left) location.reload();
  }

  /* Shows beside a field what is understood, where that is not what was typed. */
  function explain(field) {
    const part = field.closest(".rz-part");
    let place = part.querySelector(".rz-read");
    if (!place) {
      place = document.createElement("span");
      place.className = "rz-read";
      part.querySelector("label").after(place);
    }
    place.textContent = understood(field.value, unitOf(field));
    field.removeAttribute("aria-invalid");
  }

  /* The verdict on what was answered last; none where it cannot be read any more. */
  function judgeAgain(section, card, given) {
    const fields = [...section.querySelectorAll(".rz-part input")];
    const again = (text, place) => read(text, unitOf(fields[place])).value;
    const answers = fields.length ? given.slice(0, fields.length).map(again) : given;
    const choices = section.querySelectorAll(".rz-knob").length;
    const [order, numbers] = [(card.correct || []).length, fields.length];
    const wanted = { question: numbers, estimate: 1, design: choices, order, choice: 1 }[card.kind];
    if (answers.length === wanted && !answers.includes(undefined)) feedback(section, card, judge(card, answers));
  }

  const same = (one, other) => String(one) === String(other);

  /* A draft in which nothing is typed does not hide an answer: only its derivation may have been opened. */
  function showKept(section, card, form, { items, drafts = {} }) {
    const [entry = {}, draft = {}] = [items[card.id], drafts[card.id]];
    const empty = entry.given && same(draft.given, JSON.parse(section.dataset.blank).given);
    const { given = entry.given, sure = entry.confidence } = empty ? {} : draft;
    if (given) fill(form, given);
    form.querySelector(".rz-confidence").value = sure ?? "";
    if (entry.given && same(entered(form), entry.given)) judgeAgain(section, card, entry.given);
    if (draft.open !== undefined) section.querySelector(".rz-derivation").open = draft.open;
  }

  /* A question that is due is asked anew: the old answer is shown only on request, and what is typed of a new one at
     once. */
  function restore(section, card, form, kept) {
    const entry = kept.items[card.id];
    if (!isDue(entry) || !entry.given) return showKept(section, card, form, kept);
    const { [card.id]: draft } = kept.drafts || {};
    const begun = draft && !same(draft.given, entry.given);
    if (begun) {
      fill(form, draft.given);
      form.querySelector(".rz-confidence").value = draft.sure;
    }
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Show my last answer";
    button.addEventListener("click", () => {
      section.querySelector(".rz-feedback").replaceChildren();
      showKept(section, card, form, begun ? { items: kept.items } : kept);
    });
    section.querySelector(".rz-feedback").replaceChildren("You missed this question before. Answer it again. ", button);
  }

  function blank(section, form, given) {
    form.reset();
    fill(form, given);
    section.querySelector(".rz-derivation").open = false;
    section.querySelectorAll(".rz-mark, .rz-feedback, .rz-tries").forEach((node) => node.replaceChildren());
  }

  function keepAlive(section, card, form, kept) {
    const first = entered(form);
    section.dataset.blank = JSON.stringify(draftOf(section, form));
    blanks.set(card.id, () => blank(section, form, first));
    restore(section, card, form, kept);
    const later = () => {
      waiting.set(card.id, () => keepDraft(section, card, form));
      clearTimeout(timer);
      timer = setTimeout(flush, 300);
    };
    form.addEventListener("input", (event) => {
      if (event.target.matches(".rz-part input")) explain(event.target);
      later();
    });
    section.querySelector(".rz-derivation").addEventListener("toggle", later);
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
      button.dispatchEvent(new Event("input", { bubbles: true }));
    });
    return button;
  }

  /* The slider and the field of an estimate move each other; the slider gives two significant digits. */
  function enlivenScale(card, form) {
    const [slider, field] = [form.querySelector("input[type=range]"), form.querySelector(".rz-part input")];
    const [low, high] = card.scale.map(Math.log10);
    const told = () => slider.setAttribute("aria-valuetext", `${field.value || "no estimate yet"} ${card.unit}`);
    slider.addEventListener("input", () => {
      const value = 10 ** (low + (slider.value / slider.max) * (high - low));
      field.value = String(Number(value.toPrecision(2)));
      explain(field);
      told();
    });
    const follow = () => {
      const { value } = read(field.value, card.unit);
      slider.value = value > 0 ? slider.max * (Math.log10(value) - low) / (high - low) : 0;
      told();
    };
    field.addEventListener("input", follow);
    form.addEventListener("filled", follow);
    told();
  }

  function enliven(section, kept) {
    const card = JSON.parse(section.dataset.card);
    const form = section.querySelector("form");
    form.reset(); // a browser may have put back what was chosen before a reload
    for (const step of form.querySelectorAll("[data-letter]")) {
      step.append(...[["↑", "up"], ["↓", "down"]].map(([sign, text]) => mover(step, sign, text)));
    }
    if (card.kind === "estimate") enlivenScale(card, form);
    form.querySelector("fieldset").disabled = false;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      submit(section, card, form);
    });
    keepAlive(section, card, form, kept);
    return card.id;
  }

  async function forgetIfSure(button, ids) {
    flush();
    const { items, drafts = {} } = load();
    const question = "Forget your answers on this page? This cannot be undone.";
    const any = ids.some((id) => items[id] || drafts[id]);
    if (!any || !await window.rankzeroAsk.ask(button.parentElement, question, "Forget them", "Keep them")) return;
    forget(ids);
    button.focus();
  }

  function start() {
    const kept = load(); // read once for all cards
    const ids = [...document.querySelectorAll(".rz-card[data-card]")].map((section) => enliven(section, kept));
    for (const button of document.querySelectorAll(".rz-reset")) {
      button.disabled = false;
      const cells = button.closest(".rz-scorecard").querySelectorAll("[data-state]");
      const ids = [...cells].map((cell) => cell.dataset.state);
      button.addEventListener("click", () => forgetIfSure(button, ids));
    }
    window.addEventListener("pagehide", leave);
    window.addEventListener("pageshow", comeBack);
    window.addEventListener("storage", (event) => event.key === KEY && render());
    if (!ids.length) return render();
    const progress = load();
    const page = pageName(location.pathname);
    // Written only when it is news: what another tab, or this one before a reload, has just written stays.
    if (String(progress.pages[page]) === String(ids)) return render();
    progress.pages[page] = ids;
    save(progress);
  }

  window.rankzero = { judge, calibration, load, look, save, forget, reviewOf, isDue, day, markToday, enliven, stateOf };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
