/* What a reader wrote, kept in this browser: { version, items: { id: { source, state, passed, total, seen } }, cells:
   { place: code } }. Cells are those of ranks that the reader has changed; there may be none.

   It can be downloaded as a notebook, whose cells carry the ids of their items, and is loaded again from there. */
(function () {
  "use strict";

  const KEY = "rankzero:work";
  let memory = null; // the latest, while the browser does not keep it

  function load() {
    let stored = memory;
    try {
      stored = memory || JSON.parse(localStorage.getItem(KEY));
    } catch (error) { /* storage is forbidden or holds something else: begin anew */ }
    return stored && stored.version === 1 && stored.items ? stored : { version: 1, items: {} };
  }

  function save(work) {
    try {
      localStorage.setItem(KEY, JSON.stringify(work));
      memory = null;
    } catch (error) {
      memory = work; // kept until the page is left
    }
    document.dispatchEvent(new Event("rankzero:work"));
  }

  function change(id, entry) {
    const work = load();
    work.items[id] = { ...work.items[id], ...entry };
    save(work);
  }

  function forget(id) {
    const work = load();
    delete work.items[id];
    save(work);
  }

  /* The reader's version of a cell, if there is one. */
  function cell(place) {
    const code = (load().cells || {})[place];
    return typeof code === "string" ? code : undefined;
  }

  /* Keeps the reader's version of a cell; without one, the cell is the built one again. */
  function changeCell(place, code) {
    const work = load();
    const { [place]: old, ...cells } = work.cells || {};
    if (old !== code) save({ ...work, cells: code === undefined ? cells : { ...cells, [place]: code } });
  }

  /* Whether the browser keeps it. */
  const kept = () => memory === null;

  /* Puts other work in the place of all of it. */
  const replace = (work) => save(work);

  /* The programs by id; what was only looked at has none. */
  function sources() {
    const written = Object.entries(load().items).filter(([, entry]) => typeof entry.source === "string");
    return Object.fromEntries(written.map(([id, entry]) => [id, entry.source]));
  }

  function notebook() {
    const cells = Object.entries(sources()).sort(([a], [b]) => (a < b ? -1 : 1)).map(([id, source]) => ({
      cell_type: "code", execution_count: null, id: `b-${id}`, metadata: { rankzero: { id } }, outputs: [], source,
    }));
    const title = "# My work in Rank Zero\n\nEach cell is what stood in an editor of the book. "
      + "`python -m autograder grade` takes this file; the book loads it again.";
    cells.unshift({ cell_type: "markdown", id: "intro", metadata: {}, source: title });
    const kernelspec = { display_name: "Python 3", language: "python", name: "python3" };
    return JSON.stringify({ cells, metadata: { kernelspec }, nbformat: 4, nbformat_minor: 5 }, null, 1) + "\n";
  }

  /* The programs of a notebook: of one that was downloaded here, or of a chapter that was filled in. A stub is none. */
  function read(text) {
    let cells = null;
    try {
      cells = JSON.parse(text).cells;
    } catch (error) { /* said below */ }
    if (!Array.isArray(cells)) throw new Error("This file is not a notebook (.ipynb).");
    const found = {};
    for (const { cell_type: type, metadata, source } of cells) {
      const id = metadata && metadata.rankzero && metadata.rankzero.id;
      const program = Array.isArray(source) ? source.join("") : source;
      if (type !== "code" || typeof id !== "string" || typeof program !== "string") continue;
      const stub = (metadata.tags || []).includes("exercise") && program.includes(`"${id}: not written yet"`);
      if (program.trim() && !stub) found[id] = program;
    }
    if (!Object.keys(found).length) throw new Error("This notebook holds no function of the course.");
    return found;
  }

  window.rankzeroWork = { load, change, forget, cell, changeCell, kept, replace, sources, notebook, read };
})();
