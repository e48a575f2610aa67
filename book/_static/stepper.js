/* Steps through the pictures of a stepper (rankzero/explore/steppers.py): by slider, buttons and keys, or by themselves.
   Everything stands in the page already, so it works from file:// too. Without this script all pictures are a list. */
(function () {
  "use strict";

  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const KEYS = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, Home: -Infinity, End: Infinity };

  function enliven(figure) {
    const frames = [...figure.querySelectorAll(".rz-frames > li")];
    const fields = figure.querySelector("fieldset");
    const slider = fields.querySelector("input");
    const heard = figure.querySelector(".rz-heard");
    const [back, next, play] = ["back", "next", "play"].map((move) => fields.querySelector(`[data-move="${move}"]`));
    const last = frames.length - 1;
    const sentences = frames.map((frame) => frame.querySelector("p"));
    let step = 0;
    let timer = null;

    /* aria-disabled and not disabled, so that the last press does not take the focus away. */
    function show(wanted) {
      step = Math.min(Math.max(wanted, 0), last);
      frames.forEach((frame, place) => frame.toggleAttribute("data-shown", place === step));
      figure.dataset.step = step;
      slider.value = step;
      slider.setAttribute("aria-valuetext", `step ${step} of ${last}`);
      slider.parentElement.querySelector(".rz-value").textContent = `${step} of ${last}`;
      back.setAttribute("aria-disabled", String(step === 0));
      next.setAttribute("aria-disabled", String(step === last));
    }

    function say() {
      heard.textContent = sentences[step].textContent;
    }

    function stop() {
      clearInterval(timer);
      timer = null;
      play.textContent = "Play";
    }

    /* While it plays nothing is read aloud: a picture is gone before its sentence ends. Where it stops, that one is. */
    function advance() {
      show(step + 1);
      if (step < last) return;
      stop();
      say();
    }

    function start() {
      show(step === last ? 0 : step + 1);
      play.textContent = "Pause";
      timer = setInterval(advance, 1000 * Number(figure.dataset.pause));
      if (step === last) advance();
    }

    function go(wanted) {
      stop();
      show(wanted);
      say();
    }

    slider.addEventListener("input", () => go(Number(slider.value)));
    back.addEventListener("click", () => go(step - 1));
    next.addEventListener("click", () => go(step + 1));
    play.addEventListener("click", () => {
      if (timer === null) return start();
      stop();
      say();
    });
    /* The slider has these keys from the browser; on the buttons they do the same. */
    fields.addEventListener("keydown", (event) => {
      if (event.target === slider || !(event.key in KEYS) || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      go(step + KEYS[event.key]);
    });
    /* Who asks for less motion steps by hand. */
    function settle() {
      if (calm.matches) stop();
      play.hidden = calm.matches;
    }
    calm.addEventListener("change", settle);
    settle();
    for (const sentence of sentences) sentence.setAttribute("aria-hidden", "true");
    show(0);
    fields.hidden = false;
  }

  const begin = () => document.querySelectorAll(".rz-stepper").forEach(enliven);
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
  else begin();
})();
