/* What a run of ranks sent, and its picture by order: `rankzeroRunPictures.ledger(world)` and `.picture(world)`, folded.

   A world is { ranks, events, ledger, ... } as autograder/page/world.py tells it. The events stand by rank and then in the
   order of the calls; their `step` grows with the order in which they were carried out, and is null for one that never was.
   The picture shows order and never time: the ranks of a page keep no real time. */
(function () {
  "use strict";

  const { element } = window.rankzeroAsk;
  const FIELDS = ["rank", "operation", "peers", "sent", "received", "start", "step", "root", "where"];

  const OBJECTS = { send_object_list: "send", recv_object_list: "recv" }; // messages that are called otherwise

  /* The events of a world by the names of their fields, and the name by which each was `called`. */
  const eventsOf = ({ events }) => events.map((row) => {
    const event = Object.fromEntries(FIELDS.map((name, place) => [name, row[place]]));
    return { ...event, called: event.operation, operation: OBJECTS[event.operation] || event.operation };
  });

  // What was sent.

  const MESSAGES = ["send", "recv"];
  const count = (number, name) => `${number.toLocaleString("en-US")} ${name}${number === 1 ? "" : "s"}`;

  function table(head, rows) {
    const made = element("table", "");
    const line = (cells, name) => {
      const row = element("tr", "");
      row.append(...cells.map((text) => element(name, String(text))));
      return row;
    };
    made.append(element("thead", ""), element("tbody", ""));
    made.tHead.append(line(head, "th"));
    made.tBodies[0].append(...rows.map((cells) => line(cells, "td")));
    return made;
  }

  /* Messages and bytes from each rank to each other, in the order of the ranks. */
  function pairs(events) {
    const found = new Map();
    for (const { rank, operation, peers, sent } of events) {
      if (operation !== "send") continue;
      const key = `${rank} ${peers[0]}`;
      const [messages, bytes] = found.get(key) || [0, 0];
      found.set(key, [messages + 1, bytes + sent]);
    }
    return [...found].sort().map(([key, numbers]) => [...key.split(" "), ...numbers.map((n) => n.toLocaleString("en-US"))]);
  }

  /* What the ranks sent as one line, for the fold that holds it. */
  function sum(events) {
    if (!events.length) return "nothing";
    const messages = events.filter(({ operation }) => operation === "send");
    const bytes = messages.reduce((all, { sent }) => all + sent, 0);
    const collectives = events.filter(({ operation }) => !MESSAGES.includes(operation)).length;
    const parts = [messages.length ? `${count(messages.length, "message")}, ${count(bytes, "byte")}` : "",
      collectives ? count(collectives, "call") + " of collectives" : ""];
    return parts.filter(Boolean).join(", ");
  }

  /* What never met anybody sent nothing, though the book of the run counts its call. */
  function bookOf({ ledger }, waiting) {
    if (waiting) return element("p", `Not counted: ${count(waiting, "call")} that met nobody.`);
    const book = element("pre", ledger);
    book.tabIndex = 0;
    book.setAttribute("aria-label", "Calls and bytes by rank and operation");
    return book;
  }

  function ledger(world) {
    const fold = element("details", "", "rz-ledger");
    const events = eventsOf(world).filter(({ step }) => step !== null);
    const rows = pairs(events);
    fold.append(element("summary", `What was sent: ${sum(events)}`));
    if (rows.length) fold.append(table(["from rank", "to rank", "messages", "bytes"], rows));
    fold.append(bookOf(world, world.events.length - events.length));
    return fold;
  }

  // The picture: a row for each rank, and columns in which ranks meet.

  const MOST = 400; // events in a picture
  const [LEFT, TOP, COLUMN, ROW, BAR] = [58, 10, 46, 46, 18];
  const KINDS = { send: "send", recv: "receive", all: "collective", waits: "still waits, for the rank that its dashed arrow points to" };

  const kind = (operation) => (MESSAGES.includes(operation) ? operation : "all");

  /* What a call meets in: the messages between two ranks and the calls of a collective have numbers in their order. */
  function meetingOf({ rank, operation, peers }, counted) {
    const between = operation === "send" ? `${rank}>${peers[0]}` : operation === "recv" ? `${peers[0]}>${rank}`
      : `${operation} ${[...peers].sort()}`;
    const key = `${rank} ${operation} ${between}`;
    counted.set(key, (counted.get(key) || 0) + 1);
    return `${between} ${counted.get(key)}`;
  }

  /* The meetings of a run in the order in which they were carried out, each with its events; a call that was never
     carried out is one by itself, at the end. */
  function meetings(events) {
    const counted = new Map();
    const found = new Map();
    events.forEach((event, place) => {
      const key = event.step === null ? `alone ${place}` : meetingOf(event, counted);
      found.set(key, [...(found.get(key) || []), event]);
    });
    const step = (group) => (group[0].step === null ? Infinity : Math.max(...group.map((event) => event.step)));
    return [...found.values()].map((group) => ({ events: group, step: step(group) })).sort((a, b) => a.step - b.step || 0);
  }

  /* The column of each meeting: after all that its ranks did in earlier steps. In one column a rank sends once, receives
     once, or takes part in one collective. */
  function placed(events) {
    const ranks = new Map(); // rank -> { column, step, taken } of its last meeting
    const found = meetings(events);
    for (const meeting of found) {
      const last = meeting.events.map(({ rank }) => ranks.get(rank)).filter(Boolean);
      const after = (one) => one.column + (one.step < meeting.step || meeting.step === Infinity ? 1 : 0);
      const busy = (column) => meeting.events.some(({ rank, operation }) => {
        const one = ranks.get(rank);
        return one && one.column === column && (one.taken.has(operation) || one.taken.has("all") || kind(operation) === "all");
      });
      meeting.column = Math.max(0, ...last.map(after));
      while (busy(meeting.column)) meeting.column += 1;
      for (const { rank, operation } of meeting.events) {
        const before = ranks.get(rank);
        const taken = before && before.column === meeting.column ? before.taken : new Set();
        ranks.set(rank, { column: meeting.column, step: meeting.step, taken: taken.add(kind(operation)) });
      }
    }
    return found;
  }

  function svg(name, attributes, text = "") {
    const node = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (text) node.textContent = text;
    return node;
  }

  /* The other side of a message in words; a receive from any rank has none before it is carried out. */
  function otherOf({ operation, peers }) {
    if (!MESSAGES.includes(operation)) return "";
    return ` ${operation === "send" ? "to" : "from"} ${peers.length ? `rank ${peers[0]}` : "any rank"}`;
  }

  const said = (event) => {
    const { rank, called, sent, received, where } = event;
    return `rank ${rank}: ${called}${otherOf(event)}, ${count(Math.max(sent, received), "byte")}${where ? `, ${where}` : ""}`;
  };

  const middle = (rank) => TOP + ROW * rank + ROW / 2;

  /* Where the box of an event stands: a send in the left half of its column, a receive in the right half. */
  function box({ operation }, column) {
    const half = (COLUMN - 6) / 2;
    const left = LEFT + COLUMN * column;
    if (operation === "send") return { x: left, width: half - 1 };
    return operation === "recv" ? { x: left + half + 1, width: half - 1 } : { x: left, width: 2 * half };
  }

  function bar(event, column) {
    const name = `rz-${kind(event.operation)}${event.step === null ? " rz-waits" : ""}`;
    const made = svg("rect", { ...box(event, column), y: middle(event.rank) - BAR / 2, height: BAR, rx: 2, class: name });
    made.append(svg("title", {}, said(event)));
    return made;
  }

  const centre = ({ x, width }) => x + width / 2;

  /* An arrow between the rows of two ranks, with its head. */
  function arrow([x, from], [toX, to], name) {
    const down = Math.sign(to - from);
    const [y, toY] = [middle(from) + (down * BAR) / 2, middle(to) - (down * BAR) / 2];
    const turned = (Math.atan2(toY - y, toX - x) * 180) / Math.PI;
    const made = svg("g", { class: name });
    made.append(svg("path", { d: `M${x} ${y}L${toX} ${toY}` }));
    made.append(svg("path", { d: "M0 0L-8 -4L-8 4z", transform: `translate(${toX} ${toY}) rotate(${turned})`, class: "rz-head" }));
    return made;
  }

  const message = (sent, received, column) => arrow(
    [centre(box(sent, column)), sent.rank], [centre(box(received, column)), received.rank], "rz-message");

  /* Whom a rank waits for; the arrows of several ranks stand beside each other. */
  function wait({ rank, operation, peers }, column) {
    const x = centre(box({ operation }, column)) + 5 * (rank - 1.5);
    return arrow([x, rank], [x, peers[0]], "rz-message rz-waiting");
  }

  /* The line through the ranks that meet in a collective. */
  function line(events, column) {
    const ranks = events.map(({ rank }) => rank);
    const x = LEFT + COLUMN * column + (COLUMN - 6) / 2;
    return svg("line", { x1: x, x2: x, y1: middle(Math.min(...ranks)), y2: middle(Math.max(...ranks)), class: "rz-meeting" });
  }

  function joined({ events, column }) {
    const sent = events.find(({ operation }) => operation === "send");
    const received = events.find(({ operation }) => operation === "recv");
    if (sent && received) return [message(sent, received, column)];
    const [event] = events;
    if (event.step === null && MESSAGES.includes(event.operation) && event.peers.length) return [wait(event, column)];
    return events.length > 1 ? [line(events, column)] : [];
  }

  function drawn(found, ranks) {
    const width = LEFT + COLUMN * (1 + Math.max(0, ...found.map(({ column }) => column)));
    const height = 2 * TOP + ROW * ranks;
    const picture = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
    for (let rank = 0; rank < ranks; rank += 1) {
      picture.append(svg("line", { x1: LEFT, x2: width, y1: middle(rank), y2: middle(rank), class: "rz-lane" }));
      picture.append(svg("text", { x: 0, y: middle(rank) + 4 }, `rank ${rank}`));
    }
    for (const { events, column } of found) picture.append(...events.map((event) => bar(event, column)));
    for (const meeting of found) picture.append(...joined(meeting));
    return picture;
  }

  /* A meeting in words. */
  function inWords({ events }) {
    const [{ rank, operation, called, peers, step }] = events;
    const other = otherOf(events[0]);
    if (step === null) return `rank ${rank} waits in ${called}${other}`;
    if (!other) return `ranks ${[...peers].sort().join(", ")} meet in ${operation}`;
    return operation === "send" ? `rank ${rank} sends${other}` : `rank ${peers[0]} sends to rank ${rank}`;
  }

  const SPOKEN = 12; // meetings that the name of a picture tells

  function description(found) {
    const more = found.length - SPOKEN;
    return `In order: ${found.slice(0, SPOKEN).map(inWords).join("; ")}${more > 0 ? `; and ${more} more` : ""}.`;
  }

  function legend(events) {
    const kinds = new Set(events.map(({ operation, step }) => (step === null ? "waits" : kind(operation))));
    const made = element("p", "", "rz-legend");
    for (const name of Object.keys(KINDS).filter((one) => kinds.has(one))) made.append(element("span", KINDS[name], `rz-${name}`));
    return made;
  }

  /* Of a long run, what was carried out first. */
  const first = (events) => [...events].sort((a, b) => (a.step ?? Infinity) - (b.step ?? Infinity) || 0).slice(0, MOST);

  function picture(world) {
    const events = eventsOf(world);
    const kept = first(events);
    const found = placed(kept);
    const fold = element("details", "", "rz-order-fold");
    const named = element("div", "", "rz-scroll");
    named.setAttribute("role", "img");
    named.setAttribute("aria-label", description(found));
    named.tabIndex = 0; // on a narrow screen it scrolls
    named.append(drawn(found, world.ranks));
    const cut = kept.length < events.length ? ` Only the first ${MOST} of ${events.length} operations are drawn.` : "";
    const sentence = `From left to right: what had to come before what. It shows order, not time.${cut}`;
    fold.append(element("summary", "The run in order, as a picture"), named, legend(kept), element("p", sentence));
    return fold;
  }

  window.rankzeroRunPictures = { ledger, picture };
})();
