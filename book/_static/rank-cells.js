/* Runs a cell of the page on real ranks in this browser (ranks-engine.js): Run, Edit, Ranks and Stop below the cell.

   The build says which cells can (`data-ranks`, tools/world_runs.py). The built output stays; what a run prints, why it
   stopped, what was sent and the run in order (rank-pictures.js) stand below it until the reader closes them. While a
   cell is edited, the editor stands in the place of the built one: what is seen is what runs. What the reader has changed
   is kept (work-store.js). */
(function () {
  "use strict";

  const { ask, element } = window.rankzeroAsk;
  const { written, others, label, show } = window.rankzeroOwn;
  const { dress, plainField, whenNear, colab } = window.rankzeroBenches;
  const { cell: keptCell, changeCell } = window.rankzeroWork;
  const { ledger, picture } = window.rankzeroRunPictures;
  const WISH = "rankzero:run"; // what runs once the page was loaded again: { id, code, ranks } of a cell, { id } of a function
  const WHAT = "Each rank is a Python of its own in this browser: they run at the same time, and their messages are real. "
    + "Tensors are a small stand-in for torch, and a measured time would mean nothing.";
  const RANKS = [2, 3, 4];
  const BUSY = "Another cell of this page is running: stop it, or wait until it has ended.";
  const EDITED = ".rz-edited"; // a place whose cell is edited
  let active = false; // whether a cell runs

  // Whether there can be ranks, and the wait for them.

  const unable = () => window.rankzeroRanks.state().why;

  /* A way to a cell in Colab, or nothing where the page has none. */
  function way(cell) {
    const link = element("a", "Open this cell in Colab");
    link.href = colab(cell);
    return colab(cell) ? [" ", link, "."] : [];
  }

  /* Whether ranks can start now. If they can after the page was loaded once more, it is, and `wish` ({ id, ... }) is
     granted then. */
  async function ready(wish, status, cell = "") {
    const { able, mend } = window.rankzeroRanks.state();
    if (able) return true;
    if (!mend) {
      status.replaceChildren(unable(), ...(cell ? way(cell) : []));
      return false;
    }
    status.textContent = "The page is loaded once more, so that ranks can start …";
    keepWish(wish);
    try {
      await window.rankzeroRanks.mend();
    } catch (failure) {
      keepWish(null);
      status.replaceChildren(`Ranks cannot start here: ${window.rankzeroWait.why(failure)}.`, ...(cell ? way(cell) : []));
    }
    return false;
  }

  function keepWish(wish) {
    try {
      if (wish) sessionStorage.setItem(WISH, JSON.stringify(wish));
      else sessionStorage.removeItem(WISH);
    } catch (error) { /* nothing is stored here: the reader presses again */ }
  }

  function takeWish() {
    try {
      const wish = JSON.parse(sessionStorage.getItem(WISH));
      keepWish(null);
      return wish;
    } catch (error) {
      return null;
    }
  }

  /* How far a start is. */
  function wait(status, { stage, megabytes, ...progress }) {
    const parts = [...(progress.total ? window.rankzeroWait.arrived(progress) : []),
      megabytes ? `${megabytes.toFixed(0)} MB of memory` : ""];
    window.rankzeroWait.show(status, stage ? `${stage} …` : undefined, parts);
  }

  // One cell.

  /* What the ranks printed, each line with its rank; open while they run. */
  function rankLines() {
    const fold = element("details", "", "rz-rank-lines");
    const lines = element("pre", "");
    fold.append(element("summary", "What the ranks printed"), lines);
    [fold.hidden, fold.open, lines.tabIndex] = [true, true, 0];
    lines.setAttribute("aria-label", "What the ranks printed");
    const say = (text, rank) => {
      fold.hidden = false;
      lines.append(`rank ${rank} | ${text}\n`);
    };
    /* All lines, where none came while they ran. */
    const fill = (printed) => fold.hidden && printed.forEach((all, rank) => all.forEach((text) => say(text, rank)));
    return { fold, say, fill };
  }

  /* The choice of ranks, where they may vary; `chosen()` is null for the number that stands in the cell. */
  function rankChoice(cell, group) {
    if (!cell.ranks) return { node: null, chosen: () => null };
    const node = element("span", "", "rz-choice");
    node.setAttribute("role", "group");
    node.setAttribute("aria-label", "Number of ranks");
    node.append("Ranks:");
    const most = window.rankzeroRanks.state().ranks || Math.max(...RANKS);
    const begins = Math.min(cell.ranks, most);
    for (const number of RANKS.filter((one) => one <= most)) {
      const radio = document.createElement("input");
      const line = element("label", "");
      Object.assign(radio, { type: "radio", name: `rz-ranks-${group}`, value: number, checked: number === begins, autocomplete: "off" });
      line.append(radio, ` ${number}`);
      node.append(" ", line);
    }
    const number = () => Number(node.querySelector(":checked").value);
    const choose = (value) => { node.querySelector(`[value="${value}"]`).checked = true; };
    return { node, choose, chosen: () => (number() === cell.ranks ? null : number()) };
  }

  /* The name under which the reader's version of a cell is kept: cells of other pages may be called the same. */
  const nameOf = (cell) => `${location.pathname.split("/").pop().replace(/\.html$/, "")}#${cell.id}`;

  /* The cell's code to edit: `get()` is what runs, and nothing of it is made before it is wanted. What is changed is kept. */
  function codeEditor(cell, submit) {
    let view = null;
    const box = element("div", "", "rz-editor");
    const keep = (code) => !box.hidden && changeCell(nameOf(cell), code === cell.code ? undefined : code);
    box.hidden = true;
    function make(code) {
      const field = element("textarea", "");
      Object.assign(field, { value: code, rows: code.split("\n").length + 1, spellcheck: false });
      field.setAttribute("aria-label", "The code of this cell");
      box.append(field);
      view = plainField(field, keep, submit);
      return new Promise((made) => whenNear(box, () => dress(field, keep, submit).then((it) => { view = it; }, () => {}).then(made)));
    }
    return {
      box,
      get: () => (view && !box.hidden ? view.get() : cell.code),
      /* Shows the code; kept when it can be written in. */
      async open(code) {
        box.hidden = false;
        if (!view) return make(code);
        return view.set(code);
      },
      focus: () => view.focus(),
      close: () => {
        box.hidden = true;
        changeCell(nameOf(cell), undefined);
      },
    };
  }

  /* What came out of a cell, in `node`: open() makes room for it, finish() shows all that is known at the end. */
  function results(cell, node, back) {
    let of = null; // the reader's functions with which it was made

    function close() {
      of = null;
      node.replaceChildren();
    }

    function title({ own, edited }, ranks) {
      const what = `${edited ? "Your version of this cell" : "This cell"}${ranks ? `, on ${ranks} ranks` : ""}`;
      return what + (Object.keys(own).length ? `. ${label(cell, own)}` : "");
    }

    function heading(name) {
      const button = element("button", "Hide this run");
      const line = element("p", "", "rz-own-head");
      button.addEventListener("click", () => {
        close();
        back();
      });
      line.append(name, " ", button);
      return line;
    }

    function open(run) {
      const printed = element("pre", "");
      const ofRanks = rankLines();
      const name = element("strong", title(run, run.ranks));
      printed.tabIndex = 0;
      printed.setAttribute("aria-label", "What the cell printed");
      node.replaceChildren(heading(name), printed, ofRanks.fold);
      of = JSON.stringify(run.own);
      const say = (text, rank) => (Number.isInteger(rank) ? ofRanks.say(text, rank) : printed.append(`${text}\n`));
      return { run, name, printed, ofRanks, say };
    }

    /* Why a run failed; what a report says of each rank has a line of its own. */
    function reason(why) {
      const error = element("pre", why.replace(/; (?=rank \d+ )/g, ";\n"), "rz-ranks-why");
      error.tabIndex = 0;
      error.setAttribute("role", "alert");
      return error;
    }

    async function finish({ why, charts, world }, { run, name, printed, ofRanks }) {
      if (world) {
        name.textContent = title(run, world.ranks);
        ofRanks.fill(world.printed);
      }
      ofRanks.fold.open = false;
      if (why) printed.after(reason(why));
      else if (cell.picture && !node.parentElement.matches(EDITED)) node.append(element("p", "The picture above is the built one."));
      for (const chart of charts || []) await show(chart, printed);
      if (world && world.events.length) {
        const drawn = picture(world);
        drawn.open = Boolean(why);
        node.append(ledger(world), drawn);
      }
      node.append(element("p", [WHAT, window.rankzeroRanks.state().why].filter(Boolean).join(" "), "rz-what"));
    }

    /* Her functions have changed: what was made with the old ones goes. */
    const renew = () => of !== null && of !== JSON.stringify(written(cell)) && close();
    return { open, finish, renew, close };
  }

  /* Shows what came out to a reader who has not gone elsewhere meanwhile. */
  function bring(place, room) {
    if (!place.contains(document.activeElement)) return;
    room.scrollIntoView({ block: room.offsetHeight < innerHeight / 2 ? "nearest" : "start" });
  }

  function enliven(place, group) {
    const cell = JSON.parse(place.dataset.ranks);
    const buttons = element("p", "", "rz-actions");
    const [runButton, edit, stop] = ["Run", "Edit", "Stop"].map((name) => element("button", name));
    const status = element("span", "", "rz-status");
    const room = element("div", "", "rz-own-result");
    const choice = rankChoice(cell, group);
    const editor = codeEditor(cell, () => run());
    const result = results(cell, room, () => runButton.focus());
    status.setAttribute("role", "status");
    stop.hidden = true;
    buttons.append(...[runButton, edit, choice.node, stop, status].filter(Boolean));
    place.prepend(editor.box, buttons);
    place.append(room);

    function running(yes) {
      active = yes;
      runButton.setAttribute("aria-disabled", String(yes));
      if (!yes && document.activeElement === stop) runButton.focus();
      stop.hidden = !yes;
    }

    async function run() {
      if (runButton.getAttribute("aria-disabled") === "true") return;
      if (active) {
        status.textContent = BUSY;
        return;
      }
      const [own, code, ranks] = [written(cell), editor.get(), editor.box.hidden ? choice.chosen() : null];
      if (!await ready({ id: cell.id, code, ranks }, status, cell.id)) return;
      const parts = result.open({ own, edited: code !== cell.code, ranks: code === cell.code && (ranks || cell.ranks) });
      const told = {
        progress: (progress) => wait(status, progress),
        began: () => { status.textContent = "Running …"; },
        say: parts.say,
      };
      running(true);
      window.rankzeroWait.show(status);
      try {
        const request = { cell: { ...cell, code }, own, others: others(), ranks };
        await result.finish(await window.rankzeroRanks.run(request, told), parts);
        status.textContent = "";
        bring(place, room);
      } catch (failure) {
        status.textContent = failure.stopped ? "Stopped." : window.rankzeroWait.failed("Not run", failure, "Press Run");
      }
      running(false);
    }

    /* While the code can be edited, it says how many ranks there are, and the built cell is out of sight. */
    async function toggle(opens, code = cell.code) {
      edit.textContent = opens ? "Back to the built cell" : "Edit";
      edit.setAttribute("aria-expanded", String(opens));
      place.classList.toggle("rz-edited", opens);
      if (choice.node) choice.node.hidden = opens;
      if (opens) await editor.open(code);
      else editor.close();
    }

    /* The reader goes to the editor, which stands where the cell was. */
    async function write() {
      await toggle(true);
      editor.focus();
      editor.box.scrollIntoView({ block: "nearest" });
    }

    async function leave() {
      const sure = editor.get() === cell.code || await ask(buttons, "Throw away what you changed?", "Throw it away", "Keep it");
      if (!sure) return;
      toggle(false);
      result.close();
      edit.focus();
      return edit.scrollIntoView({ block: "nearest" });
    }

    /* Runs what the reader had asked for before the page was loaded once more. */
    function resume({ code, ranks }) {
      if (code !== cell.code) toggle(true, code);
      if (ranks) choice.choose(ranks);
      place.scrollIntoView({ block: "center" });
      run();
    }

    runButton.addEventListener("click", run);
    edit.addEventListener("click", () => (editor.box.hidden ? write() : leave()));
    stop.addEventListener("click", () => window.rankzeroRanks.stop());
    document.addEventListener("rankzero:work", result.renew);
    place.hidden = false;
    const kept = keptCell(nameOf(cell));
    if (kept !== undefined) toggle(true, kept);
    return { id: cell.id, resume };
  }

  /* The line below a cell that stays as it is built, with the way to it in Colab. */
  function point(line) {
    line.append(...way(line.dataset.cell));
    line.hidden = false;
  }

  function grant(wish, cells) {
    if (!wish || !window.rankzeroRanks.state().able) return;
    const cell = cells.find((one) => one.id === wish.id);
    const bench = window.rankzeroBenches.benches.get(wish.id);
    if (cell) cell.resume(wish);
    else if (bench) bench.check();
  }

  function start() {
    if (!window.rankzeroRanks) return;
    const cells = [...document.querySelectorAll(".rz-ranks")].map(enliven);
    document.querySelectorAll(".rz-stays").forEach(point);
    grant(takeWish(), cells);
  }

  window.rankzeroRankCells = { ready, wait };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
