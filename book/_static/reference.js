// Find corrections by words: all words of the query must occur in a correction or in its title.
"use strict";
(() => {
  const entries = [...document.querySelectorAll(".rz-correction")].map((node) => ({
    node,
    text: `${node.closest("section").querySelector("h3").textContent} ${node.textContent}`.toLowerCase(),
  }));
  if (!entries.length) return;

  const form = Object.assign(document.createElement("div"), { className: "rz-find" });
  const label = Object.assign(document.createElement("label"), { textContent: "Find corrections" });
  const field = Object.assign(document.createElement("input"), { type: "search", placeholder: "NVLink, ZeRO, bubble" });
  const found = document.createElement("output");
  label.append(field);
  form.append(label, found);

  const show = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const { node, text } of entries) {
      node.hidden = !words.every((word) => text.includes(word));
      shown += node.hidden ? 0 : 1;
    }
    for (const section of document.querySelectorAll("article section section")) {
      section.hidden = !section.querySelector(".rz-correction:not([hidden])");
    }
    found.textContent = words.length ? `${shown} of ${entries.length} corrections` : "";
  };
  field.addEventListener("input", show);
  // A link to a correction or a section that is filtered out shows everything again.
  window.addEventListener("hashchange", () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target || !target.closest("[hidden]")) return;
    field.value = "";
    show();
    target.scrollIntoView();
  });
  document.querySelector("article section section").before(form);
})();
