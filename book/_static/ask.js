/* Asks in the page before something is thrown away; every script of the book asks in this way. */
(function () {
  "use strict";

  function element(name, text, className = "") {
    const node = document.createElement(name);
    node.textContent = text;
    node.className = className;
    if (name === "button") node.type = "button";
    return node;
  }

  /* Asks in the page, below `place`; true if the reader says yes. One question takes the place of another, whose answer
     is no then; after a no the reader is where she was. */
  function ask(place, sentence, yes, no) {
    const before = document.activeElement;
    const old = place.parentElement.querySelector(":scope > .rz-ask");
    if (old) old.lastElementChild.click();
    const line = element("p", `${sentence} `, "rz-ask rz-actions");
    const buttons = [element("button", yes), element("button", no)];
    line.append(...buttons);
    line.setAttribute("role", "group");
    place.after(line);
    buttons[0].focus();
    return new Promise((answer) => {
      const end = (said) => () => {
        line.remove();
        if (!said) before.focus();
        answer(said);
      };
      buttons.forEach((button, index) => button.addEventListener("click", end(index === 0)));
      line.addEventListener("keydown", (event) => event.key === "Escape" && end(false)());
    });
  }

  window.rankzeroAsk = { ask, element };
})();
