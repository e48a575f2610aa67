/* The questions of the book away from their pages (practice-NN.js, written by tools/course/questions.py), and flash cards of them
   as a text file that Anki imports: front, back, tags and a name that stays, so that a second import changes the cards of
   the first. */
(function () {
  "use strict";

  const base = new URL(".", document.currentScript.src).href;
  const { items } = window.rankzeroCourse;
  const { load, reviewOf } = window.rankzero;
  const { element } = window.rankzeroAsk;
  const HEAD = [
    "#separator:tab", "#html:true", "#notetype:Basic", "#deck:Rank Zero", "#columns:Front\tBack\tTags\tName", "#tags column:3",
    "#guid column:4",
  ];
  const loading = new Map(); // chapter -> its questions

  /* The questions of a chapter by id: { ask, card }, both HTML. */
  function questionsOf(chapter) {
    if (!loading.has(chapter)) {
      const wanted = new Promise((answer, fail) => {
        const script = document.createElement("script");
        script.src = `${base}practice-${String(chapter).padStart(2, "0")}.js`;
        script.onload = () => answer(window.rankzeroQuestions[chapter]);
        script.onerror = () => fail(new Error("the questions could not be loaded"));
        document.head.append(script);
      });
      wanted.catch(() => loading.delete(chapter));
      loading.set(chapter, wanted);
    }
    return loading.get(chapter);
  }

  /* One question: its text and its card, as nodes that are not on the page yet. */
  async function question(item) {
    const { ask, card } = (await questionsOf(item.chapter))[item.id];
    const [text, frame] = [ask, card].map((html) => Object.assign(document.createElement("template"), { innerHTML: html }));
    return { text: text.content, card: frame.content.querySelector(".rz-card") };
  }

  // What stands on a flash card.

  const list = (lines) => lines.join("<br>");

  /* What can be chosen or put into order, as the card shows it. */
  function options(card) {
    const letters = [...card.querySelectorAll("[data-letter]")].map((step) => `${step.dataset.letter}) ${step.innerHTML}`);
    return [...[...card.querySelectorAll(".rz-option label > span")].map((option) => option.innerHTML), ...letters];
  }

  /* What is right, as HTML. */
  function answer(card, data) {
    if (data.kind === "estimate") return data.shown;
    if (data.kind === "choice") return card.querySelector(`input[value="${data.correct}"]`).parentElement.querySelector("span").innerHTML;
    if (data.kind === "order") {
      return list(data.correct.map((letter) => card.querySelector(`[data-letter="${letter}"]`).innerHTML));
    }
    return list(data.parts.map(({ label, shown }) => (label ? `${label}: ${shown}` : shown)));
  }

  function derivation(card) {
    const fold = card.querySelector(".rz-derivation").cloneNode(true);
    fold.querySelector("summary").remove();
    return fold.innerHTML;
  }

  /* HTML on one line and without tabs; the lines of a program stay lines. */
  function flat(html) {
    const pieces = html.split(/(<pre\b[^]*?<\/pre>)/); // every second one is a program
    const program = (text) => text.replace(/\n(?=(<\/\w+>)+$)/, "").replaceAll("\n", "<br>").replaceAll("\t", "    ");
    return pieces.map((text, at) => (at % 2 ? program(text) : text.replace(/\s*[\n\t]\s*/g, " "))).join("");
  }

  const quoted = (html) => `"${flat(html).replace("<p></p>", "").replaceAll('"', '""').trim()}"`;

  async function line(item) {
    const { text, card } = await question(item);
    const data = JSON.parse(card.dataset.card);
    const holder = document.createElement("div");
    holder.append(text);
    const units = (data.parts || []).filter(({ unit }) => unit).map(({ unit }) => unit);
    const unit = data.unit || [...new Set(units)].join(", ");
    const front = `${holder.innerHTML}<p>${list(options(card))}</p>${unit ? `<p>In ${unit}.</p>` : ""}`;
    const back = `<p><b>${answer(card, data)}</b></p>${derivation(card)}<p>Rank Zero, section ${item.section}</p>`;
    return [front, back, `rank-zero section-${item.section} ${item.sort}`, `rank-zero-${item.id}`].map(quoted).join("\t");
  }

  /* The file for some items; those without a card here, functions and designs, have none there. */
  async function file(chosen) {
    const lines = await Promise.all(chosen.filter(({ card }) => card).map(line));
    return `${[...HEAD, ...lines].join("\n")}\n`;
  }

  async function save(chosen) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([await file(chosen)], { type: "text/plain" }));
    link.download = "rank-zero-missed.txt";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  }

  /* A line with a button that saves flash cards of what `chosen()` returns when it is pressed. */
  function saver(chosen) {
    const place = element("p", "", "rz-actions");
    const button = element("button", "Flash cards for Anki");
    const said = element("span", "");
    said.setAttribute("role", "status");
    button.addEventListener("click", async () => {
      const cards = chosen().filter(({ card }) => card);
      said.textContent = cards.length ? "" : "No question was missed, so there is no card to make.";
      try {
        if (cards.length) await save(cards);
      } catch (failure) {
        said.textContent = `No file was made: ${failure.message}.`;
      }
    });
    place.append(button, said);
    return place;
  }

  const missed = () => {
    const { items: entries } = load();
    return items.filter(({ id }) => reviewOf(entries[id]));
  };

  window.rankzeroFlashCards = { question, file, saver };
  document.getElementById("rz-course-cards").replaceChildren(
    element("p", "What you missed and have not got right often enough since, as flash cards: a text file to import in Anki."),
    saver(missed),
  );
})();
