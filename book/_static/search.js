/* The search of the built book. What it needs is loaded when somebody begins to search, from disk too; it finds sections,
   and the terms of the glossary.

   vendor/minisearch/index.js is the library; search-data.js holds what is found (tools/search_index.py). How a word is
   spelled does not matter: all-reduce, all_reduce, allreduce and "all reduce" are one, and so are batch and batches. Capitals
   inside a word do: who types ZeRO does not mean zero. */
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

  // Words.

  const CHUNK = /\p{N}+(?:\.\p{N}+)+|[\p{L}\p{N}]+(?:[-_–][\p{L}\p{N}]+)*/gu; // 5.6, rank, all-reduce, all_reduce
  const STOP = new Set("a about an and are do does explain for how i in is it mean of on or the to what when where which who why with work".split(" "));
  const LONG = 4; // parts of a name that is looked for in all its spellings
  const compounds = new Map(); // a name in one word, allreduc: its parts, all and reduce
  const names = new Set(); // what terms are called by several words, in one
  let terms = [];
  const capitals = new Set(); // words with capitals inside, as the book spells them

  const chunksOf = (text) => text.replace(/['’]s\b/g, "").match(CHUNK) || [];
  const partsOf = (chunk) => chunk.split(/[-_–]/);
  const hasCapitals = (word) => /.\p{Lu}/u.test(word);
  const single = (word) => word.replace(/(\p{Lu})s$/u, "$1"); // GPU of GPUs

  /* One form for batch and batches, cache and caching. */
  function stem(word) {
    const one = word.toLowerCase().replace(/^(.{2,}[^sui])s$/, "$1").replace(/^(.{4,})ing$/, "$1");
    return one.length > 4 ? one.replace(/e$/, "") : one;
  }

  /* The words of a text as the index has them: a name of several parts is there in one word too, and so are two words that
     stand side by side in a title. */
  function tokens(text, field) {
    const chunks = chunksOf(text);
    const pairs = field === "title" ? chunks.slice(1).map((chunk, at) => chunks[at] + chunk) : [];
    return pairs.concat(chunks.flatMap((chunk) => {
      const parts = partsOf(chunk);
      if (parts.length === 1) return parts;
      const whole = parts.join("");
      if (parts.length <= LONG) compounds.set(stem(whole), parts);
      return [...parts, whole];
    }));
  }

  /* A word with capitals inside is there as it is spelled, too. */
  function indexed(word) {
    if (!hasCapitals(word)) return stem(word);
    capitals.add(single(word));
    return [stem(word), `=${single(word)}`];
  }

  // What is asked.

  const exact = (word) => (hasCapitals(word) && capitals.has(single(word)) ? `=${single(word)}` : stem(word));
  const all = (words) => ({ combineWith: "AND", queries: words.map(exact) });

  /* A name in one word, or its parts; the first counts more. */
  const named = (parts) => ({ combineWith: "OR", queries: [stem(parts.join("")), all(parts)] });

  /* The names and words that were typed; words that stand side by side are a name if the book has one of them. */
  function unitsOf(text) {
    const chunks = chunksOf(text);
    const isName = (some) => compounds.has(keyOf(some)) || names.has(keyOf(some));
    const units = [];
    for (let at = 0; at < chunks.length;) {
      const parts = partsOf(chunks[at]);
      const size = [LONG, 3, 2].find((count) => at + count <= chunks.length && isName(chunks.slice(at, at + count)));
      const known = parts.length === 1 && compounds.get(stem(chunks[at]));
      if (size) units.push(chunks.slice(at, at + size));
      else units.push(known && !capitals.has(single(chunks[at])) ? known : parts);
      at += size || 1;
    }
    const telling = units.filter((parts) => parts.length > 1 || !STOP.has(parts[0].toLowerCase()));
    return telling.length ? telling : units;
  }

  /* The names of the term that was asked for, or of the only one that begins so. */
  function otherNames(units, asked) {
    const key = keyOf(units.flat());
    const at = (place) => terms.filter((term) => front(term, key, asked) === place);
    const [term, more] = at(DEFINITION).length ? at(DEFINITION) : at(BEGINNING);
    return term && !more ? namesOf(term) : [];
  }

  const queryOf = (units, combineWith) => ({ combineWith, queries: units.map((parts) => (parts.length > 1 ? named(parts) : exact(parts[0]))) });

  // Ranks.

  const WEIGHT = { chapter: 1, task: 0.7, deeper: 0.7, term: 0.35, closing: 0.4, table: 1.5, other: 0.3, program: 1, optional: 1, sources: 1 };
  const MORE = { title: 4, also: 4, of: 2 }; // than a word of the text
  const LESS = { title: 1, also: 1, of: 0.5, text: 0.25, closed: 0.25 }; // for another name of what was asked
  const LATE = { program: 1, optional: 1, sources: 2 }; // after all others
  const keyOf = (words) => stem(words.join(""));
  const namesOf = ({ title, also }) => [title, ...(also ? also.split(", ") : [])];

  /* What a section is called: a term by its name and its other names, a function or a program by its own. */
  function keysOf({ kind, title, also }) {
    if (kind === "term") return namesOf({ title, also }).map((one) => keyOf(chunksOf(one).flatMap(partsOf)));
    const name = /^(?:(?:Build|Debug) )?(\w+_\w+|\w+)(?: \(optional\))?$/.exec(title);
    return name ? [keyOf(partsOf(name[1]))] : [];
  }

  /* How far to the front: the definition of what was asked and the function of that name, the section that introduces the
     term, terms that begin so, and the rest. */
  const [DEFINITION, SECTION, BEGINNING, REST] = [0, 1, 2, 3];

  function front(section, key, asked) {
    const keys = keysOf(section);
    if (keys.includes(key) && (section.kind === "term" || asked.includes("_"))) return DEFINITION;
    if (section.kind === "term") return key.length > 2 && keys[0].startsWith(key) ? BEGINNING : REST;
    const introduced = terms.filter((term) => keysOf(term).includes(key)).map((term) => `${term.section} `);
    const shown = ["chapter", "deeper"].includes(section.kind);
    return shown && introduced.some((number) => section.title.startsWith(number)) ? SECTION : REST;
  }

  function ranked(found, units, asked) {
    const key = keyOf(units.flat());
    const place = (section) => [front(section, key, asked), LATE[section.kind] || 0, -section.score];
    return found.map((section) => ({ section, at: place(section) }))
      .sort((one, other) => one.at.map((value, number) => value - other.at[number]).find(Boolean) || 0)
      .map(({ section }) => section);
  }

  async function startEngine() {
    await Promise.all(["vendor/minisearch/index.js", "search-data.js"].map(loadScript));
    const index = new window.MiniSearch({
      fields: ["title", "also", "of", "text", "closed"],
      storeFields: ["page", "id", "kind", "title", "also", "of", "text"],
      idField: "key",
      tokenize: tokens,
      processTerm: indexed,
      searchOptions: {
        tokenize: (word) => [word],
        processTerm: (word) => word,
        boost: MORE,
        boostDocument: (_, __, { kind }) => WEIGHT[kind],
        boostTerm: (word) => (compounds.has(word) || names.has(word) ? 3 : 1),
        fuzzy: (word) => (word.length > 5 && !word.startsWith("=") ? 0.15 : 0),
        prefix: (word) => word.length > 2,
      },
    });
    terms = window.rankzeroSections.filter(({ kind }) => kind === "term");
    terms.flatMap(namesOf).map((name) => chunksOf(name).flatMap(partsOf)).filter((words) => words.length > 1)
      .forEach((words) => names.add(keyOf(words)));
    index.addAll(window.rankzeroSections.map((section, key) => ({ key, ...section })));
    return index;
  }

  /* What has all of the words; what has some of them where nothing has all. */
  async function searched(words) {
    engine = engine || startEngine();
    engine.catch(() => { engine = null; }); // the next letter tries again
    const index = await engine;
    const units = unitsOf(words);
    if (!units.length) return [];
    const others = otherNames(units, words).map((name) => ({ ...queryOf(unitsOf(name), "AND"), boost: LESS }));
    const found = index.search({ combineWith: "OR", queries: [queryOf(units, "AND"), ...others] });
    return ranked(found.length ? found : index.search(queryOf(units, "OR")), units, words);
  }

  // What is shown.

  /* A term of the index as it may be spelled in a text. */
  function spelled(term) {
    const parts = compounds.get(term) || [term.replace(/^=/, "")];
    return parts.map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("[\\s_–-]?");
  }

  /* What finds any of the terms in a text. */
  function patternOf(terms) {
    const longest = terms.map(spelled).sort((one, other) => other.length - one.length);
    return new RegExp(`\\b((?:${longest.join("|")})\\w*)`, "i");
  }

  /* A few words of the text around the first term, with the terms marked; the first words where the term stands only in
     what is closed: a result, an explanation, a derivation. A name of several parts is marked as a whole where it stands
     in the text: who asks for all-gather does not look for every "all". */
  function excerpt(text, terms, asked) {
    const whole = terms.filter((term) => asked.includes(term) && compounds.has(term));
    const pattern = [whole, terms].filter((some) => some.length).map(patternOf).find((one) => one.test(text)) || patternOf(terms);
    const at = Math.max(0, text.search(pattern) - AROUND);
    const start = at && text.indexOf(" ", at) + 1;
    const end = start + 2 * AROUND + 40;
    const piece = end < text.length ? text.slice(start, end).replace(/\s\S*$/, "") : text.slice(start);
    const line = document.createElement("p");
    piece.split(new RegExp(pattern.source, "gi")).forEach((part, number) => {
      const node = number % 2 ? document.createElement("mark") : document.createElement("span");
      node.textContent = part;
      line.append(node);
    });
    line.prepend(start ? "… " : "");
    line.append(end < text.length ? " …" : "");
    return line;
  }

  function entry({ page, id, kind, title, of, text, terms, queryTerms }) {
    const item = document.createElement("li");
    const link = document.createElement("a");
    link.href = new URL(`../${page}.html#${id}`, base).href;
    link.textContent = title;
    item.append(link);
    if (of !== title) item.append(Object.assign(document.createElement("small"), { textContent: of }));
    item.append(kind === "term" ? Object.assign(document.createElement("p"), { textContent: text }) : excerpt(text, terms, queryTerms));
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
      status.textContent = navigator.onLine ? `Nothing can be searched here: ${failure.message}.`
        : "There is no network, and the index of the search has not been loaded on this device before.";
    }
  }

  function enliven(form) {
    const field = form.querySelector("input[name=q]");
    const status = Object.assign(document.createElement("p"), { className: "rz-found-count" });
    const list = Object.assign(document.createElement("ol"), { className: "rz-found" });
    status.setAttribute("role", "status");
    form.after(status, list);
    list.addEventListener("click", (event) => { // a result may lie on the page that the dialog covers
      const dialog = list.closest("dialog");
      if (dialog && event.target.closest("a") && !event.ctrlKey && !event.metaKey && !event.shiftKey) dialog.close();
    });
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
