/* Formulas are set at build, those in the data of cards included. What Python writes while a page is read may hold more:
   `setFormulas(node)` sets those, and loads what it needs for it then. */
(function () {
  "use strict";

  const base = new URL(".", document.currentScript.src).href;
  const TEX = /^\s*\\([([])([^]*)\\[)\]]\s*$/;
  let katex = null;

  function loadScript(path) {
    return new Promise((answer, fail) => {
      const script = document.createElement("script");
      script.src = base + path;
      script.onload = () => answer(window.katex);
      script.onerror = () => fail(new Error(`${path} could not be loaded`));
      document.head.append(script);
    });
  }

  function loadStyle(path) {
    if (document.querySelector(`link[href*="${path}"]`)) return;
    document.head.append(Object.assign(document.createElement("link"), { rel: "stylesheet", href: base + path }));
  }

  window.setFormulas = async function (node) {
    const places = [...node.querySelectorAll(".math")].filter((place) => TEX.test(place.textContent));
    if (!places.length) return;
    if (window.MathJax) return void (await window.MathJax.typesetPromise([node])); // a page that was built without node
    loadStyle("vendor/katex/katex.min.css");
    katex = katex || loadScript("vendor/katex/katex.min.js");
    katex.catch(() => { katex = null; });
    const { render } = await katex;
    for (const place of places) {
      const [, opening, tex] = TEX.exec(place.textContent);
      render(tex, place, { displayMode: opening === "[", throwOnError: false });
    }
  };
})();
