/* Download and load what was written in the page, from the scorecard: a notebook, and the labs as an archive. */
(function () {
  "use strict";

  const { change, notebook, read, sources } = window.rankzeroWork;
  const { benches } = window.rankzeroBenches;
  const { ask, element } = window.rankzeroAsk;
  const several = (count) => `${count} function${count === 1 ? "" : "s"}`;

  function save(name, parts, type) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob(parts, { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  }

  const saveNotebook = () => save("rank-zero.ipynb", [notebook()], "application/x-ipynb+json");

  async function saveLabs(say, said) {
    window.rankzeroWait.show(said, "Packing the labs (Python starts for it) …");
    try {
      const text = atob(await window.rankzeroCheck.archive(sources()));
      save("rank-zero-labs.zip", [Uint8Array.from(text, (letter) => letter.charCodeAt(0))], "application/zip");
      say("");
    } catch (failure) {
      say(`The labs were not packed: ${window.rankzeroWait.why(failure)}.`);
    }
  }

  /* Takes the programs of a notebook over; asks first where that would replace another one. */
  async function take(text, place, say) {
    let found = {};
    try {
      found = read(text);
    } catch (error) {
      return say(error.message);
    }
    const mine = sources();
    const replaced = Object.keys(found).filter((id) => id in mine && mine[id] !== found[id]);
    const question = `${several(replaced.length)} that you wrote here would be replaced.`;
    if (replaced.length && !await ask(place, question, "Load the file", "Keep mine")) return say("Nothing was loaded.");
    for (const [id, source] of Object.entries(found)) {
      if (mine[id] === source) continue;
      change(id, { source, state: undefined, passed: undefined, total: undefined });
      if (benches.has(id)) benches.get(id).set(source);
    }
    return say(`Loaded ${several(Object.keys(found).length)}. A check says whether each is right.`);
  }

  function panel(card) {
    const place = element("p", "", "rz-actions rz-work");
    const said = element("span", "", "rz-said");
    said.setAttribute("role", "status");
    const say = (text) => { said.textContent = text; };
    const file = document.createElement("input");
    [file.type, file.accept] = ["file", ".ipynb"];
    file.setAttribute("aria-label", "A notebook with your work");
    file.addEventListener("change", async () => {
      await take(await file.files[0].text(), place, say);
      file.value = "";
    });
    const buttons = [
      ["Download my work", () => (Object.keys(sources()).length ? saveNotebook() : say("Nothing is written yet."))],
      ["Download my labs", () => (Object.keys(sources()).length ? saveLabs(say, said) : say("Nothing is written yet."))],
      ["Load my work", () => file.click()],
    ].map(([text, act]) => {
      const button = element("button", text);
      button.addEventListener("click", act);
      return button;
    });
    place.append(...buttons, file, said);
    card.querySelector(".rz-actions").after(place);
  }

  function start() {
    if (/^https?:$/.test(location.protocol)) document.querySelectorAll(".rz-scorecard").forEach(panel);
  }

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
