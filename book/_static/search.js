/* The search of the built book. What it needs is loaded when somebody begins to search, from disk too; it finds sections.

   vendor/minisearch/index.js is the library; search-data.js holds the sections (tools/search_index.py). */
(function () {
  "use strict";

  const base = new URL(".", document.currentScript.src).href;
  const MOST = 30;
  const AROUND = 70; // characters of the text before and after what was found
  let engine = null;

  function loadScript(path) {
    return new Promise((answer, fail) => {
      const script = document.createElement("script");
      script.src = base + path;
      script.onload = answer;
      script.onerror = () => fail(new Error(`${path} could not be loaded`));
      document.head.append(script);
    });
  }

  async function startEngine() {
    await Promise.all(["vendor/minisearch/index.js", "search-data.js"].map(loadScript));
    const index = new window.MiniSearch({
      fields: ["title", "of", "text", "closed"],
      storeFields: ["page", "id", "title", "of", "text"],
      idField: "key",
      searchOptions: { boost: { title: 4, of: 2 }, combineWith: "AND", fuzzy: (word) => (word.length > 5 ? 0.15 : 0), prefix: true },
    });
    index.addAll(window.rankzeroSections.map((section, key) => ({ key, ...section })));
    return index;
  }

  function searched(words) {
    engine = engine || startEngine();
    engine.catch(() => { engine = null; }); // the next letter tries again
    return engine.then((index) => index.search(words));
  }

  /* A few words of the text around the first term, with the terms marked; the first words where the term stands only in
     what is closed: a result, an explanation, a derivation. */
  function excerpt(text, terms) {
    const escaped = terms.map((term) => term.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    const pattern = new RegExp(`\\b(${escaped.join("|")})`, "i");
    const at = Math.max(0, text.search(pattern) - AROUND);
    const start = at && text.indexOf(" ", at) + 1;
    const piece = text.slice(start, start + 2 * AROUND + 40).replace(/\s\S*$/, "");
    const line = document.createElement("p");
    piece.split(new RegExp(pattern.source, "gi")).forEach((part, number) => {
      const node = number % 2 ? document.createElement("mark") : document.createElement("span");
      node.textContent = part;
      line.append(node);
    });
    line.prepend(start ? "… " : "");
    line.append(" …");
    return line;
  }

  function entry({ page, id, title, of, text, terms }) {
    const item = document.createElement("li");
    const link = document.createElement("a");
    link.href = new URL(`../${page}.html#${id}`, base).href;
    link.textContent = title;
    item.append(link);
    if (of !== title) item.append(Object.assign(document.createElement("small"), { textContent: of }));
    item.append(excerpt(text, terms));
    return item;
  }

  const counted = (count) => `${count} section${count === 1 ? "" : "s"} found${count > MOST ? `, the first ${MOST} shown` : ""}.`;

  /* Shows what is found for the words in `field`; the latest words win. */
  async function show(field, status, list) {
    const words = field.value.trim();
    status.textContent = words && !engine ? "Loading the index …" : status.textContent;
    try {
      const found = words ? await searched(words) : [];
      if (words !== field.value.trim()) return;
      status.textContent = words ? counted(found.length) : "";
      list.replaceChildren(...found.slice(0, MOST).map(entry));
    } catch (failure) {
      status.textContent = `Nothing can be searched here: ${failure.message}.`;
    }
  }

  function enliven(form) {
    const field = form.querySelector("input[name=q]");
    const status = Object.assign(document.createElement("p"), { className: "rz-found-count" });
    const list = Object.assign(document.createElement("ol"), { className: "rz-found" });
    status.setAttribute("role", "status");
    form.after(status, list);
    const update = () => show(field, status, list);
    field.addEventListener("input", update);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      update();
    });
    return { field, update };
  }

  function start() {
    const forms = [...document.querySelectorAll("form.bd-search")].map(enliven);
    const asked = new URLSearchParams(location.search).get("q");
    if (!document.querySelector(".bd-search-container") || !asked) return;
    const { field, update } = forms[forms.length - 1];
    field.value = asked;
    update();
  }

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
