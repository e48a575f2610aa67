/* The page "Your course": what is done, how sure, what to review, and all of it as one file.

   `rankzeroCourse` (course-data.js) lists the items of the course; rankzero.js, work-store.js and hours.js hold what the
   reader did. From disk it works as well as from a server. */
(function () {
  "use strict";

  const { chapters, items, sorts } = window.rankzeroCourse;
  const { calibration, load, save, reviewOf, isDue, day, stateOf } = window.rankzero;
  const { ask, element } = window.rankzeroAsk;
  const work = window.rankzeroWork;
  const hours = window.rankzeroHours;
  const KEYS = { progress: "rankzero:progress", work: "rankzero:work", time: "rankzero:time", place: "rankzero:place" };
  const MOST = 30; // questions that are due and listed at once
  const SVG = "http://www.w3.org/2000/svg";
  const several = (count, name) => `${count} ${name}${count === 1 ? "" : "s"}`;
  const part = (name) => document.getElementById(`rz-course-${name}`);

  // What is done.

  function cell(name, ...content) {
    const node = document.createElement(name);
    node.append(...content);
    return node;
  }

  function share(done, total) {
    if (!total) return ["–"];
    const bar = element("span", "", "rz-bar");
    bar.setAttribute("aria-hidden", "true");
    bar.append(document.createElement("span"));
    bar.firstChild.style.width = `${100 * done / total}%`;
    return [`${done} of ${total}`, bar];
  }

  function lasting(minutes) {
    if (!minutes) return "–";
    const [whole, rest] = [Math.floor(minutes / 60), minutes % 60];
    return [whole && `${whole} h`, rest && `${rest} min`].filter(Boolean).join(" ");
  }

  function counts(of, state) {
    const total = (kind) => of.filter((item) => item.kind === kind);
    const right = (list, from) => list.filter(({ id }) => (from[id] || {}).right === true || (from[id] || {}).state === "right").length;
    const [questions, functions] = [total("question"), total("function")];
    return [
      [right(questions, state.progress), questions.length],
      [right(functions, state.work), functions.length],
    ];
  }

  function row(head, of, minutes, state) {
    const title = cell("th", ...head);
    title.scope = "row";
    const done = counts(of, state).map(([right, total]) => cell("td", ...share(right, total)));
    return cell("tr", title, ...done, cell("td", lasting(minutes)));
  }

  /* The items whose cards a page holds: the sidebar counts the same. */
  const on = (page) => items.filter((item) => item.page === page);

  function linked(page, text) {
    const link = element("a", text);
    link.href = `${page}.html`;
    return link;
  }

  /* What is done on the pages below the chapters, folded. */
  function deeper(state) {
    const lines = chapters.filter((chapter) => on(chapter.deeper).length).map(({ number, title, deeper: page }) => {
      const [questions, functions] = counts(on(page), state).map(([right, total]) => `${right} of ${total}`);
      const spent = state.time[page.split("/").pop()];
      const told = `: ${questions} questions and ${functions} functions right${spent ? `, ${lasting(spent)}` : ""}`;
      return cell("li", linked(page, `${number}. ${title}: deeper`), told);
    });
    const fold = cell("details", cell("summary", "The deeper pages"), cell("ul", ...lines));
    fold.open = Boolean(document.querySelector("#rz-course-done details[open]"));
    return fold;
  }

  function showDone(state) {
    const heads = ["Chapter", "Questions right", "Functions right", "Time"].map((text) => {
      const node = cell("th", text);
      node.scope = "col";
      return node;
    });
    const rows = chapters.map(({ number, title, page }) => (
      row([linked(page, `${number}. ${title}`)], on(page), state.time[page], state)));
    const minutes = Object.values(state.time).reduce((sum, one) => sum + one, 0);
    const foot = cell("tfoot", row(["The whole course"], items, minutes, state));
    const box = element("div", "", "rz-scroll");
    box.append(cell("table", cell("thead", cell("tr", ...heads)), cell("tbody", ...rows), foot));
    part("done").replaceChildren(box, deeper(state));
  }

  // By kind, in percent, and the days.

  /* How many of some items are right, with the share in percent. */
  function rightOf(of, state) {
    const right = of.filter(({ id, kind }) => (kind === "function" ? (state.work[id] || {}).state : stateOf(state.progress[id])) === "right");
    return `${right.length} of ${of.length} (${Math.floor(100 * right.length / of.length)} %)`;
  }

  function showKinds(state) {
    const rows = Object.entries(sorts).map(([sort, title]) => {
      const head = cell("th", title);
      head.scope = "row";
      return cell("tr", head, cell("td", rightOf(items.filter((item) => item.sort === sort), state)));
    });
    part("kinds").replaceChildren(cell("table", cell("tbody", ...rows)));
  }

  /* The days on which something was done, the earliest first, as whole numbers that grow by one from day to day. Those
     before days were kept are known from the answers alone: the day of a moment is another one in another time zone. */
  function daysOf({ items: entries, days = [] }) {
    const [first] = [...days].sort();
    const dates = Object.values(entries).flatMap(({ date }) => Object.values(date || {}));
    const before = dates.map((moment) => day(0, new Date(moment))).filter((one) => !first || one < first);
    const every = new Set([...before, ...days]);
    return [...every].map((text) => Date.parse(text) / 86_400_000).sort((one, other) => one - other);
  }

  /* Lengths of the runs of days in a row, with the last day of each. */
  function runsOf(days) {
    const runs = [];
    for (const one of days) {
      const run = runs.at(-1);
      if (run && run.last === one - 1) Object.assign(run, { last: one, length: run.length + 1 });
      else runs.push({ last: one, length: 1 });
    }
    return runs;
  }

  function showDays(progress) {
    const days = daysOf(progress);
    const runs = runsOf(days);
    const today = Date.parse(day()) / 86_400_000;
    const run = runs.find(({ last }) => last >= today - 1); // tomorrow, after a flight to the west
    const longest = Math.max(...runs.map(({ length }) => length));
    const told = !days.length ? "A day counts on which you answer a question or check a function. There is none yet."
      : `Days in a row: ${run ? run.length : 0}${run && run.last < today ? ", and today is still to come" : ""}. `
        + `The longest row is ${several(longest, "day")}, and ${several(days.length, "day")} count in all.`;
    part("days").replaceChildren(element("p", told));
  }

  // How sure.

  /* Answers by confidence, in steps of twenty percent: { sure, right, count }, each of the first two in percent. */
  function bins(entries) {
    const groups = [[], [], [], [], []];
    for (const entry of entries) groups[Math.min(4, Math.floor(entry.confidence / 20))].push(entry);
    const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
    return groups.filter((group) => group.length).map((group) => ({
      sure: Math.round(mean(group.map((entry) => entry.confidence))),
      right: Math.round(100 * mean(group.map((entry) => Number(entry.first)))),
      count: group.length,
    }));
  }

  function draw(name, attributes, text = "") {
    const node = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.textContent = text;
    return node;
  }

  function chart(points) {
    const [left, top, size] = [48, 14, 200];
    const x = (value) => left + size * value / 100;
    const y = (value) => top + size * (1 - value / 100);
    const told = points.map(({ sure, right, count }) => `${sure} % sure, ${right} % right (${several(count, "answer")})`);
    const svg = draw("svg", { viewBox: "0 0 330 260", width: 330, height: 260, role: "img" });
    svg.setAttribute("aria-label", `Confidence and outcome of first answers: ${told.join("; ")}.`);
    const drawn = document.createElementNS(SVG, "g");
    drawn.setAttribute("aria-hidden", "true");
    drawn.append(
      draw("line", { x1: x(0), y1: y(0), x2: x(100), y2: y(0), class: "rz-axis" }),
      draw("line", { x1: x(0), y1: y(0), x2: x(0), y2: y(100), class: "rz-axis" }),
      draw("line", { x1: x(0), y1: y(0), x2: x(100), y2: y(100), class: "rz-ideal" }),
      ...[0, 50, 100].flatMap((value) => [
        draw("text", { x: x(value), y: y(0) + 17, "text-anchor": "middle" }, `${value} %`),
        draw("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, `${value} %`),
      ]),
      draw("text", { x: x(50), y: y(0) + 38, "text-anchor": "middle" }, "how sure"),
      draw("text", { x: x(0) + 8, y: top + 2 }, "how often right"),
      ...points.flatMap(({ sure, right, count }) => {
        const radius = Math.min(12, 3 + 1.5 * Math.sqrt(count));
        return [
          draw("circle", { cx: x(sure), cy: y(right), r: radius, class: "rz-dot" }),
          draw("text", { x: x(sure) + radius + 4, y: Math.min(y(right) + 4, y(0) - 6) }, several(count, "answer")),
        ];
      }),
    );
    svg.append(drawn);
    return svg;
  }

  function showSure(state) {
    const ids = items.filter((item) => item.kind === "question").map(({ id }) => id);
    const sentence = calibration(ids, state.progress);
    if (!sentence) return part("sure").replaceChildren(element("p", "You have not said yet how sure you are of an answer."));
    const given = ids.map((id) => state.progress[id]).filter((entry) => entry && !entry.looked && typeof entry.confidence === "number");
    const meant = "On the dashed line, confidence equals outcome; a dot below it was too sure, one above it not sure enough.";
    return part("sure").replaceChildren(element("p", sentence), chart(bins(given)), element("p", meant));
  }

  // What to review.

  function dateOf(text) {
    const [year, month, date] = text.split("-").map(Number);
    return new Date(year, month - 1, date).toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric" });
  }

  function reviewLine(item, entry) {
    const link = document.createElement("a");
    link.href = `${item.page}.html#rz-${item.id}`;
    link.innerHTML = item.title; // HTML that Python has escaped
    const last = entry.date && entry.date.last ? `, last answered on ${dateOf(localDay(entry.date.last))}` : "";
    return cell("li", link, " ", element("span", `section ${item.section}${last}`));
  }

  function localDay(moment) {
    const time = new Date(moment);
    return `${time.getFullYear()}-${time.getMonth() + 1}-${time.getDate()}`;
  }

  function showReview({ progress }) {
    const missed = items.filter((item) => item.kind === "question" && reviewOf(progress[item.id]));
    const due = missed.filter((item) => isDue(progress[item.id]));
    const list = cell("ol", ...due.slice(0, MOST).map((item) => reviewLine(item, progress[item.id])));
    const shown = due.length ? [element("p", `Due now: ${several(due.length, "question")}.`), list]
      : [element("p", missed.length ? "Nothing is due today." : "Nothing is waiting for you: no question was missed.")];
    if (due.length > MOST) shown.push(element("p", `And ${due.length - MOST} more.`));
    const later = {};
    for (const item of missed.filter((one) => !due.includes(one))) {
      const when = reviewOf(progress[item.id]).due;
      later[when] = (later[when] || 0) + 1;
    }
    const days = Object.keys(later).sort().map((when) => `${several(later[when], "question")} on ${dateOf(when)}`);
    if (days.length) shown.push(element("p", `Later: ${days.join(", ")}.`));
    part("review").replaceChildren(...shown);
    if (window.setFormulas) window.setFormulas(part("review"));
  }

  // One file.

  const isRecord = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
  const every = (record, fits) => isRecord(record) && Object.values(record).every(fits);
  const isMaybe = (kind, value) => value === undefined || typeof value === kind;
  const areTexts = (value) => Array.isArray(value) && value.every((text) => typeof text === "string");
  const areDays = (value) => areTexts(value) && value.every((text) => /^\d{4}-\d\d-\d\d$/.test(text));
  const isCount = (value) => Number.isFinite(value) && value >= 0;

  function isReview(value) {
    if (value === undefined || value === null) return true;
    return isRecord(value) && [0, 1, 2, 3].includes(value.step) && /^(\d{4}-\d\d-\d\d)?$/.test(value.due);
  }

  function isEntry(entry) {
    if (isRecord(entry) && entry.looked === true && !("right" in entry)) return true;
    return isRecord(entry) && isMaybe("boolean", entry.looked) && typeof entry.right === "boolean" && typeof entry.first === "boolean"
      && (entry.confidence === null || (isCount(entry.confidence) && entry.confidence <= 100))
      && (entry.given === undefined || areTexts(entry.given)) && isReview(entry.review)
      && (entry.date === undefined || every(entry.date, (moment) => !Number.isNaN(Date.parse(moment))));
  }

  const isDraft = (draft) => isRecord(draft) && areTexts(draft.given) && typeof draft.sure === "string"
    && typeof draft.open === "boolean";

  const isWork = (entry) => isRecord(entry) && isMaybe("string", entry.source)
    && [undefined, "right", "wrong"].includes(entry.state)
    && isMaybe("number", entry.passed) && isMaybe("number", entry.total) && isMaybe("boolean", entry.seen);

  /* What a file holds, or a sentence about what is wrong with it. */
  function read(text) {
    let file = null;
    try {
      file = JSON.parse(text);
    } catch { /* said below */ }
    if (!isRecord(file) || !("rankzero" in file)) return { error: "This file was not downloaded from this page." };
    if (file.rankzero !== 1) return { error: "This file is of another version of the book, which this one cannot read." };
    const { progress, work: written, time } = file;
    const fits = [progress, written, time].every((one) => isRecord(one) && one.version === 1)
      && every(progress.items, isEntry) && every(progress.pages, areTexts) && every(progress.drafts || {}, isDraft)
      && (progress.days === undefined || areDays(progress.days))
      && every(written.items, isWork) && every(time.pages, isCount);
    return fits ? { file } : { error: "This file is damaged: something in it is not as this page wrote it." };
  }

  function everything() {
    return { rankzero: 1, saved: new Date().toISOString(), progress: load(), work: work.load(), time: hours.load() };
  }

  function download() {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([JSON.stringify(everything(), null, 1)], { type: "application/json" }));
    link.download = "rank-zero-course.json";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  }

  /* Puts all of it in place, or nothing; false where the browser does not keep it. */
  function put(values) {
    let before = null;
    try {
      before = Object.values(KEYS).map((key) => [key, localStorage.getItem(key)]);
      for (const [name, value] of Object.entries(values)) localStorage.setItem(KEYS[name], JSON.stringify(value));
    } catch {
      if (before) {
        for (const [key, value] of before) value === null ? localStorage.removeItem(key) : localStorage.setItem(key, value);
      }
      return false;
    }
    save(values.progress); // the other scripts of this page learn of it
    work.replace(values.work);
    return true;
  }

  function isEmpty() {
    const { progress, work: written } = everything();
    return ![progress.items, progress.drafts || {}, written.items, written.cells || {}].some((record) => Object.keys(record).length);
  }

  async function take(text, place, say) {
    const { file, error } = read(text);
    if (error) return say(`${error} Nothing was changed.`);
    const question = "What this browser holds of your course is replaced by the file.";
    if (!isEmpty() && !await ask(place, question, "Load the file", "Keep mine")) return say("Nothing was changed.");
    const kept = put({ progress: file.progress, work: file.work, time: file.time });
    show();
    return say(kept ? "Loaded." : "The browser has no room for this file, or keeps nothing. Nothing was changed.");
  }

  async function forgetAll(place, say) {
    const question = "Forget every answer and every function you wrote? Without a downloaded file this cannot be undone.";
    if (!await ask(place, question, "Forget everything", "Keep it")) return say("Nothing was changed.");
    save({ version: 1, items: {}, pages: {} });
    work.replace({ version: 1, items: {} });
    try {
      Object.values(KEYS).forEach((key) => localStorage.removeItem(key));
    } catch { /* nothing was kept */ }
    show();
    return say("Everything is forgotten.");
  }

  function showData() {
    const place = element("p", "", "rz-actions");
    const said = element("p", "");
    said.setAttribute("role", "status");
    const say = (text) => { said.textContent = text; };
    const file = document.createElement("input");
    Object.assign(file, { type: "file", accept: ".json,application/json" });
    file.setAttribute("aria-label", "A file with your course");
    file.addEventListener("change", async () => {
      const text = await file.files[0].text();
      file.value = "";
      await take(text, place, say);
    });
    const acts = { Download: download, "Load a file": () => file.click(), "Forget everything": () => forgetAll(place, say) };
    place.append(...Object.entries(acts).map(([text, act]) => {
      const button = element("button", text);
      button.addEventListener("click", () => {
        say("");
        act();
      });
      return button;
    }), file);
    part("data").replaceChildren(place, said);
  }

  function show() {
    const state = { progress: load().items, work: work.load().items, time: hours.load().pages };
    showDone(state);
    showKinds(state);
    showDays(load());
    showSure(state);
    showReview(state);
  }

  showData();
  show();
  document.addEventListener("rankzero:sitting", show); // practice.js
  addEventListener("storage", (event) => Object.values(KEYS).includes(event.key) && show());
  addEventListener("pageshow", (event) => event.persisted && show());
})();
