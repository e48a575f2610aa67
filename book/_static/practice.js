/* A sitting on "Your course": questions at random, or a whole list in its order, with a clock if the reader wants one. A
   question is shown with its card, which rankzero.js brings to life: an answer counts and is kept as on its page. */
(function () {
  "use strict";

  const { chapters, items, sorts, lists } = window.rankzeroCourse;
  const { load, reviewOf, stateOf, enliven } = window.rankzero;
  const { element } = window.rankzeroAsk;
  const { question, saver } = window.rankzeroFlashCards;
  const place = document.getElementById("rz-course-practice");
  const MINUTE = 60_000;
  const STATES = { right: "✓ right", wrong: "✗ not yet", open: "○ open" };
  const several = (count, name) => `${count} ${name}${count === 1 ? "" : "s"}`;
  let sitting = null; // { chosen, at, results: { id: right }, began, ends, shown, clock }

  const state = ({ id, kind }) => (kind === "function" ? (window.rankzeroWork.load().items[id] || {}).state || "open"
    : stateOf(load().items[id]));

  // What can be chosen.

  const parts = [...new Set(chapters.map(({ part }) => part))];
  const listed = new Map(lists.map(({ name, ids }) => [name, new Set(ids)]));
  const CHOICES = {
    topic: ["Topic", [["", "Everything"],
      ...parts.flatMap((part) => [[`part:${part}`, part],
        ...chapters.filter((one) => one.part === part && one.title !== part)
          .map(({ number, title }) => [`chapter:${number}`, `  ${number}. ${title}`])])]],
    sort: ["Kind", [["", "Any question"], ...Object.entries(sorts)]],
    from: ["From", [["", "All"], ["missed", "What I missed"], ["open", "What is still open"],
      ...lists.map(({ name, title }) => [name, title])]],
    many: ["How many", [["5", "5"], ["10", "10"], ["20", "20"], ["all", "All, in their order"]]],
    minutes: ["Clock", [["0", "None"], ["1", "1 minute each"], ["2", "2 minutes each"], ["5", "5 minutes each"]]],
  };

  function inTopic({ chapter }, topic) {
    const [kind, name] = topic.split(":");
    if (kind === "chapter") return chapter === Number(name);
    return kind !== "part" || chapters.find(({ number }) => number === chapter).part === name;
  }

  /* What may be asked: what a list or the reader's own answers name is taken as it is; of the rest, what stands alone. */
  function inSource(item, from) {
    if (from === "missed") return item.kind === "function" ? state(item) === "wrong" : Boolean(reviewOf(load().items[item.id]));
    if (listed.has(from)) return listed.get(from).has(item.id);
    return (item.alone || item.kind === "function") && (from !== "open" || state(item) === "open");
  }

  /* Functions are asked for by their kind or in a list: they take longer than a question. */
  const asksFor = (item, { sort, from }) => (sort ? item.sort === sort : item.kind === "question" || listed.has(from));

  function matching(wish) {
    const found = items.filter((item) => inTopic(item, wish.topic) && inSource(item, wish.from) && asksFor(item, wish)
      && (item.card || item.kind === "function"));
    const { ids } = lists.find(({ name }) => name === wish.from) || {};
    return ids ? found.sort((one, other) => ids.indexOf(one.id) - ids.indexOf(other.id)) : found;
  }

  function drawn(found, many) {
    if (many === "all") return found;
    const rest = [...found];
    for (let last = rest.length - 1; last > 0; last -= 1) {
      const other = Math.floor(Math.random() * (last + 1));
      [rest[last], rest[other]] = [rest[other], rest[last]];
    }
    return rest.slice(0, Number(many));
  }

  // The form.

  function field(name, [label, options]) {
    const select = document.createElement("select");
    select.name = name;
    select.append(...options.map(([value, text]) => Object.assign(element("option", text), { value })));
    const wrapped = element("label", `${label} `);
    wrapped.append(select);
    return wrapped;
  }

  const wishOf = (form) => Object.fromEntries(new FormData(form));

  function showForm(wish = {}) {
    sitting = null;
    const form = element("form", "", "rz-practice");
    form.append(...Object.entries(CHOICES).map(([name, choice]) => field(name, choice)));
    for (const [name, value] of Object.entries(wish)) form.elements[name].value = value;
    const [begin, show] = [element("button", "Begin"), element("button", "List them")];
    begin.type = "submit";
    const count = element("output", "");
    const line = element("p", "", "rz-actions");
    line.append(begin, show, count);
    form.append(line);
    const found = document.createElement("div");
    const told = () => {
      const { length } = matching(wishOf(form));
      count.textContent = length ? `${several(length, "item")} to choose from` : "Nothing fits: choose less narrowly.";
      begin.disabled = show.disabled = !length;
      found.replaceChildren();
    };
    form.addEventListener("change", told);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      begin.disabled = true;
      start(wishOf(form));
    });
    show.addEventListener("click", () => found.replaceChildren(listOf(matching(wishOf(form)))));
    place.replaceChildren(form, found);
    told();
    return form;
  }

  function link(item) {
    const node = document.createElement("a");
    node.href = `${item.page}.html#rz-${item.id}`;
    node.innerHTML = item.title; // HTML that Python has escaped
    return node;
  }

  function listOf(found) {
    const list = document.createElement("ul");
    list.append(...found.map((item) => {
      const line = document.createElement("li");
      line.append(link(item), " ", element("span", `section ${item.section}, ${STATES[state(item)]}`));
      return line;
    }));
    if (window.setFormulas) window.setFormulas(list);
    return list;
  }

  // The sitting.

  function start(wish) {
    const chosen = drawn(matching(wish), wish.many);
    const now = Date.now();
    const ends = Number(wish.minutes) ? now + Number(wish.minutes) * MINUTE * chosen.length : 0;
    sitting = { wish, chosen, at: 0, results: {}, began: now, ends };
    if (ends) sitting.clock = setInterval(tick, 1000);
    showNext();
  }

  const clockText = (time) => {
    const seconds = Math.max(0, Math.ceil(time / 1000));
    return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  };

  function tick() {
    if (!sitting || !sitting.ends) return;
    const left = sitting.ends - Date.now();
    if (left <= 0) return void finish(true);
    const timer = place.querySelector("[role=timer]");
    if (timer) timer.textContent = `${clockText(left)} left`;
  }

  /* A function is written on its page: here it is named, with what is known of it. */
  function functionCard(item) {
    const text = element("p", `${sorts[item.sort]} on its page, which opens beside this one: `);
    const there = link(item);
    there.target = "_blank";
    text.append(there, `. It is ${STATES[state(item)]}.`);
    return [text];
  }

  async function questionCard(item) {
    const { text, card } = await question(item);
    const asked = element("div", "", "rz-asked");
    asked.append(text);
    return [asked, card];
  }

  function source(item) {
    const line = element("p", item.alone || item.kind === "function" ? "From section " : "It speaks of what its section shows: section ", "rz-from");
    const there = Object.assign(element("a", item.section), { href: `${item.page}.html#section-${item.section.replace(".", "-")}` });
    there.target = "_blank";
    line.append(there, ".");
    return line;
  }

  async function showNext() {
    const run = sitting;
    const item = run.chosen[run.at];
    const head = element("p", "", "rz-actions");
    const title = element("b", `${run.at + 1} of ${run.chosen.length}`);
    title.tabIndex = -1;
    const timer = element("span", "");
    timer.setAttribute("role", "timer");
    head.append(title, timer);
    const last = run.at === run.chosen.length - 1;
    const [next, end] = [element("button", last ? "Finish" : "Next"), element("button", "End here")];
    next.addEventListener("click", () => {
      if (last) return finish();
      run.at += 1;
      return showNext();
    });
    end.addEventListener("click", () => finish());
    const foot = element("p", "", "rz-actions");
    foot.append(next, ...(last ? [] : [end]));
    let body = [];
    try {
      body = item.kind === "function" ? functionCard(item) : await questionCard(item);
    } catch (failure) {
      body = [element("p", `This question cannot be shown: ${failure.message}.`)];
    }
    if (run !== sitting || run.chosen[run.at] !== item) return;
    run.shown = new Date().toISOString();
    place.replaceChildren(head, ...body, source(item), foot);
    tick();
    const card = place.querySelector(".rz-card");
    if (card) enliven(card, { items: {}, drafts: {} });
    if (window.setFormulas) window.setFormulas(place);
    title.focus({ preventScroll: true });
    place.scrollIntoView({ block: "start" });
  }

  /* The first answer to a question in this sitting counts. */
  function answered() {
    if (!sitting || !sitting.shown) return;
    const { id, kind } = sitting.chosen[sitting.at] || {};
    const entry = load().items[id];
    if (kind !== "question" || id in sitting.results || !entry || !entry.date || entry.date.last < sitting.shown) return;
    sitting.results[id] = entry.right;
  }

  function finish(late = false) {
    const run = sitting;
    const note = (item) => { if (item.kind === "function") run.results[item.id] = state(item) === "right"; };
    sitting = null;
    clearInterval(run.clock);
    const reached = run.chosen.slice(0, run.at + 1);
    reached.forEach(note);
    const [right, missed] = [true, false].map((wanted) => reached.filter(({ id }) => Boolean(run.results[id]) === wanted));
    const share = Math.floor(100 * right.length / reached.length);
    const took = clockText(Date.now() - run.began);
    const rest = run.chosen.length - reached.length;
    const told = `${late ? "Time is up. " : ""}${right.length} of ${reached.length} right at the first answer (${share} %), in `
      + `${took}.${rest ? ` ${several(rest, "item")} of ${run.chosen.length} were not reached.` : ""}`;
    const again = element("button", "Another sitting");
    again.addEventListener("click", () => showForm(run.wish).querySelector("button").focus());
    const foot = element("p", "", "rz-actions");
    foot.append(again);
    const said = element("p", told);
    said.setAttribute("role", "status");
    document.dispatchEvent(new CustomEvent("rankzero:sitting")); // your-course.js
    place.replaceChildren(said, ...(missed.length ? [element("p", "Wrong, or not answered:"), listOf(missed), saver(() => missed)] : []), foot);
    said.tabIndex = -1;
    said.focus();
  }

  document.addEventListener("rankzero:progress", answered);
  addEventListener("focus", () => {
    const item = sitting && sitting.chosen[sitting.at];
    if (item && item.kind === "function") place.querySelector(":scope > p:nth-child(2)").replaceWith(...functionCard(item));
  });
  showForm();
})();
