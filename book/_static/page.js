/* Where the reader is: the section in the bar above the page, a way back to where she stopped, and tab stops that lead
   from task to task. It works from file:// too; without storage it only does not remember. */
(function () {
  "use strict";

  const KEY = "rankzero:place";
  const page = location.pathname.split("/book/").pop();

  function stored() {
    try {
      return JSON.parse(localStorage.getItem(KEY)) || {};
    } catch {
      return {};
    }
  }

  function remember(place) {
    try {
      localStorage.setItem(KEY, JSON.stringify({ ...stored(), [page]: place, last: page }));
    } catch { /* storage is off or full: nothing is remembered */ }
  }

  const titleOf = (heading) => [...heading.childNodes]
    .filter((node) => !node.classList?.contains("headerlink")).map((node) => node.textContent).join("").trim();

  /* "5.2 What the DDP wrapper really does", or that with the task in it: "5.2 What ... › Build assign_buckets". */
  function pathOf(heading) {
    const above = heading.tagName === "H3" && heading.closest("section").parentElement.querySelector("h2");
    return above ? `${titleOf(above)} › ${titleOf(heading)}` : titleOf(heading);
  }

  // The section in view.

  /* The last heading above the upper third of the window; none above the first section. */
  function current(headings) {
    const line = innerHeight / 3;
    let low = 0;
    let high = headings.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (headings[middle].getBoundingClientRect().top <= line) low = middle + 1;
      else high = middle;
    }
    return headings[low - 1];
  }

  function marker() {
    const bar = document.querySelector(".header-article__inner .header-article-items__start");
    const mark = document.createElement("span");
    mark.className = "rz-place";
    bar?.after(mark);
    return mark;
  }

  function follow(headings) {
    const mark = marker();
    let shown;
    let waiting = false;
    function update() {
      waiting = false;
      const heading = current(headings);
      if (heading === shown) return;
      shown = heading;
      const title = heading ? pathOf(heading) : "";
      mark.textContent = title;
      if (heading) remember({ id: heading.closest("section").id, title });
    }
    addEventListener("scroll", () => {
      if (!waiting) requestAnimationFrame(update);
      waiting = true;
    }, { passive: true });
  }

  // Back to where the reader stopped.

  function offer(after, place, address) {
    const link = document.createElement("a");
    link.href = address;
    link.textContent = place.title;
    const line = document.createElement("p");
    line.className = "rz-continue";
    line.append("Continue where you were: ", link);
    after.after(line);
  }

  function goOn() {
    const title = document.querySelector("article h1");
    const places = stored();
    const here = places[page];
    if (!title || location.hash) return;
    if (here && document.getElementById(here.id)) offer(title, here, `#${here.id}`);
    else if (page === "intro.html" && places[places.last]) {
      const place = places[places.last];
      offer(title, place, `${places.last}#${place.id}`);
    }
  }

  // Tab stops: a box that scrolls can be reached, links to headings and buttons that copy need not be.

  function boxes() {
    const wide = [...document.querySelectorAll("article pre, article .rz-figure, article .rz-chart, article .rz-scroll, article table.table, article .katex-display")]
      .map((box) => [box, box.scrollWidth > box.clientWidth + 1]);
    for (const [box, scrolls] of wide) {
      if (scrolls) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  }

  function quiet() {
    for (const node of document.querySelectorAll("article .headerlink, article .copybtn")) node.tabIndex = -1;
    // Buttons of the theme: one name each, the one that is read.
    for (const node of document.querySelectorAll(".theme-switch")) node.removeAttribute("title");
    for (const node of document.querySelectorAll(".search-button-field")) node.removeAttribute("aria-label");
    // They drop the focus when they are pressed. Whoever presses them with a key wants to press again.
    for (const node of document.querySelectorAll(".theme-switch-button, .primary-toggle, .secondary-toggle")) {
      node.addEventListener("click", (event) => {
        if (event.detail === 0 && !document.querySelector("dialog[open]")) node.focus();
      });
    }
  }

  /* On a narrow screen the menus lie over the page: a link to a place on it closes them. */
  function closeMenus() {
    for (const menu of document.querySelectorAll("#pst-primary-sidebar-modal, #pst-secondary-sidebar-modal")) {
      menu.addEventListener("click", ({ target }) => {
        if (target.closest("a[href^='#']")) menu.close();
      });
    }
  }

  function start() {
    goOn();
    closeMenus();
    const headings = [...document.querySelectorAll("article section h2, article section h3")];
    if (headings.length) follow(headings);
    boxes();
    quiet();
    addEventListener("resize", boxes);
    document.addEventListener("rankzero:shown", boxes); // what a veil hid had no width (veil.js)
  }

  if (document.readyState === "complete") start();
  else addEventListener("load", start);
})();
