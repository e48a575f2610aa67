/* The page's side of ranks-worker.js: `window.rankzeroRanks` runs cells and checks on real ranks in this browser.

   The workers, one for the broker and one for each rank, start at the first press and stay for the next; nothing of them is
   loaded before. The broker's worker finds or makes the picture of Python's memory from which the ranks start. One request
   runs after another. A cell whose own code does not end is interrupted, and its worker ended if that does not help; a
   rank that does not end is ended by the broker, which asks for a fresh one.

   state(): { able, why, mend, ranks }, whether this page can have ranks now, why not (or what to know) in one sentence,
   whether mend() may help, and how many. mend() has the site's service worker send the headers that ranks need, and loads
   the page once more. run, check and stop: see below. */
(function () {
  "use strict";

  const base = new URL(".", document.currentScript.src).href;
  const RING = (1 << 18) + 8; // as in ranks-worker.js
  const MOST = 4, FEW = 2; // ranks, and ranks on a device with little memory
  const SMALL = 4; // GB of memory of a device that is small
  const LIMIT = 10_000; // ms for a cell's own code, without its ranks
  const ENDING = 3_000; // ms that an interrupted cell may take to end
  const IDLE = 300_000; // ms after which workers that nobody uses are ended
  const TRIED = "rankzero:isolated"; // whether this visit has been loaded once more for the headers
  const STOPPED = "It did not come to its end in time and was stopped.";
  const LOST = "Python could not be loaded";

  // Whether there can be ranks.

  const isSafari = () => /safari/i.test(navigator.userAgent) && !/chrom|crios|android|edg|fxios/i.test(navigator.userAgent);
  const isFramed = () => window.top !== window;
  const isolated = () => Boolean(window.crossOriginIsolated && window.SharedArrayBuffer);
  const places = () => ((navigator.deviceMemory || SMALL) < SMALL || navigator.hardwareConcurrency === 1 ? FEW : MOST);

  function tried() {
    try {
      return sessionStorage.getItem(TRIED) === "yes";
    } catch (error) {
      return false;
    }
  }

  /* Why there are no ranks here, where loading the page once more would not help; empty if it might. */
  function hindrance() {
    if (location.protocol === "file:") return "A page that is opened from disk cannot start ranks. Serve the book (make serve), and it can.";
    if (!window.Worker || !window.WebAssembly) return "This browser cannot start ranks: it has no workers or no WebAssembly.";
    if (isFramed()) return "Inside a frame of another page no ranks can start; open this page by itself.";
    if (!window.isSecureContext || !navigator.serviceWorker) return "Ranks need a secure address (https), and this page has none.";
    if (tried()) return "This browser does not let the page start ranks, although it was loaded once more for that.";
    return "";
  }

  function state() {
    const ranks = places();
    if (!isolated()) {
      const why = hindrance();
      return { able: false, mend: !why, ranks, why: why || "The page has to be loaded once more before ranks can start." };
    }
    const notes = [isSafari() ? "Nobody has seen ranks run in Safari yet: tell us whether they do." : "",
      ranks < MOST ? `This device has little memory, so at most ${ranks} ranks start here.` : ""];
    return { able: true, mend: false, ranks, why: notes.filter(Boolean).join(" ") };
  }

  async function mend() {
    if (isolated()) return;
    await navigator.serviceWorker.register(new URL("../offline-worker.js", base));
    const { active } = await navigator.serviceWorker.ready;
    await new Promise((answer) => {
      const channel = new MessageChannel();
      channel.port1.onmessage = answer;
      active.postMessage({ isolate: true }, [channel.port2]);
    });
    sessionStorage.setItem(TRIED, "yes");
    location.reload();
    await new Promise(() => {}); // the page goes
  }

  // The workers.

  const shared = (bytes) => new SharedArrayBuffer(bytes);
  const newRing = () => ({ inbox: shared(RING), outbox: shared(RING), bell: shared(4), signal: shared(4) });
  const startWorker = () => new Worker(`${base}ranks-worker.js`);

  /* The broker and its ranks. `told` hears how far a start is: { stage, done, total, kept, megabytes }. */
  class Crew {
    constructor(size) {
      this.rings = Array.from({ length: size }, newRing);
      this.bell = shared(4);
      this.signal = shared(4);
      this.ranks = [];
      this.found = {}; // what the broker shares with the ranks
      this.bytes = new Map(); // of each Python's memory
      this.told = () => {};
      this.heard = () => {}; // what the broker answers
      this.wanted = 0;
      this.waiting = null; // { answer, fail } of whoever waits for the ranks
      this.failure = null;
      this.broker = startWorker();
      this.broker.onmessage = ({ data }) => this.hear(data);
      this.broker.onerror = (event) => this.lose(event);
      this.broker.postMessage({ role: "broker", rings: this.rings, brokerBell: this.bell, signal: this.signal });
    }

    hear(data) {
      if (data.progress) this.tell("Starting Python", data.progress);
      else if (data.share) this.share(data.share);
      else if (data.fresh) this.replace(data.fresh);
      else if (data.need) this.need(data.need);
      else if (data.ready) this.ready("broker", data.bytes);
      else if (data.dead) this.fail(new Error(LOST));
      else this.heard(data);
    }

    /* The ranks start as soon as it is known from what: the compiled module, and a picture if there is one. */
    share(found) {
      Object.assign(this.found, found);
      if (!("module" in found)) this.found.settled = true;
      this.startRanks();
    }

    /* So many ranks are needed by now. The broker asks for what was not foreseen. */
    need(count) {
      this.wanted = Math.min(Math.max(this.wanted, count), this.rings.length);
      this.startRanks();
    }

    startRanks() {
      if (!this.found.module || !this.found.settled) return;
      for (let place = 0; place < this.wanted; place += 1) {
        if (!this.ranks[place]) this.startRank(place);
      }
    }

    startRank(place) {
      const worker = this.ranks[place] = startWorker();
      const { module, picture } = this.found;
      this.bytes.delete(place);
      const current = () => this.ranks[place] === worker;
      worker.onmessage = ({ data }) => {
        if (data.ready) this.ready(place, data.bytes);
        else if (current() && !this.bytes.has(place)) this.fail(new Error(LOST));
      };
      worker.onerror = (event) => current() && this.lose(event);
      worker.postMessage({ role: "rank", ring: this.rings[place], brokerBell: this.bell, module, picture });
    }

    replace({ place, ring }) {
      if (this.ranks[place]) this.ranks[place].terminate();
      this.rings[place] = ring;
      this.startRank(place);
    }

    get there() {
      return this.rings.filter((_, place) => this.bytes.has(place)).length;
    }

    ready(who, bytes) {
      this.bytes.set(who, bytes);
      if (this.waiting) this.tell(`Starting ranks: ${this.there} of ${this.wanted}`, {});
      this.look();
    }

    /* Kept when the broker and all ranks that are needed by now are up. */
    up() {
      return new Promise((answer, fail) => {
        this.waiting = { answer, fail };
        this.look();
      });
    }

    look() {
      if (this.failure) this.settle("fail", this.failure);
      else if (this.bytes.has("broker") && this.there >= this.wanted) this.settle("answer");
    }

    settle(how, value) {
      if (this.waiting) this.waiting[how](value);
      this.waiting = null;
    }

    fail(error) {
      this.failure = error;
      this.look();
    }

    tell(stage, progress) {
      const megabytes = [...this.bytes.values()].reduce((sum, bytes) => sum + bytes, 0) / 1e6;
      this.told({ stage, megabytes, ...progress });
    }

    lose(event) {
      event.preventDefault();
      this.fail(new Error(LOST));
      this.heard({ dead: true, error: LOST });
    }

    interrupt() {
      new Uint8Array(this.signal)[0] = 2;
    }

    end() {
      [this.broker, ...this.ranks].forEach((worker) => worker && worker.terminate());
      this.fail(new Error("the ranks were ended"));
    }
  }

  // Requests, one after another.

  let crew = null;
  let busy = null; // ends the request that runs
  let tickets = 0;
  let idle = 0;
  let line = Promise.resolve();
  const waiting = []; // for each cell that waits in the line: what takes it out

  function endCrew() {
    if (crew) crew.end();
    crew = null;
  }

  const stopped = () => Object.assign(new Error("it was stopped"), { stopped: true });
  const nobody = { progress() {}, began() {}, say() {} };

  /* How many ranks a request will need, as far as that can be seen. */
  function foreseen({ ranks, cell }) {
    const written = cell ? [...cell.code.matchAll(/\branks=(\d+)/g)].map(([, number]) => Number(number)) : [];
    return ranks || (written.length ? Math.max(...written) : MOST);
  }

  /* Ends what takes too long of a cell's own code: first by an interrupt, then with all workers. */
  function watchdog(limit, late) {
    let timer = 0;
    const stop = () => clearTimeout(timer);
    const start = () => {
      stop();
      timer = setTimeout(() => {
        crew.interrupt();
        timer = setTimeout(late, ENDING);
      }, limit);
    };
    return { start, stop };
  }

  async function send(request, given, limit) {
    const told = { ...nobody, ...given };
    clearTimeout(idle);
    window.rankzeroCheck?.giveWay();
    crew = crew || new Crew(places());
    const mine = crew;
    const ticket = (tickets += 1);
    mine.told = told.progress;
    return new Promise((answer, fail) => {
      const close = (act) => (value) => {
        if (busy !== stopThis) return;
        busy = null;
        watch.stop();
        idle = setTimeout(endCrew, IDLE);
        act(value);
      };
      const [done, failed] = [close(answer), close(fail)];
      const lose = (error) => {
        if (busy !== stopThis) return;
        endCrew();
        failed(error);
      };
      const stopThis = () => lose(stopped());
      const watch = watchdog(limit, () => {
        endCrew();
        done({ why: STOPPED, charts: [], world: null });
      });
      busy = stopThis;
      mine.heard = (data) => {
        if (data.dead) return lose(new Error(data.error));
        if ("ended" in data) return lose(Object.assign(new Error(`your program ended Python (${data.ended})`), { ended: true }));
        if (data.ticket !== ticket) return undefined;
        if ("began" in data) {
          if (request.cell) watch.start();
          return told.began(data.began);
        }
        if ("playing" in data) return data.playing ? watch.stop() : watch.start();
        if ("line" in data) return told.say(data.line, data.rank);
        return done(JSON.parse(data.reply));
      };
      mine.need(foreseen(request));
      mine.up().then(() => busy === stopThis && mine.broker.postMessage({ ticket, ...request }), lose);
    });
  }

  function queued(request, told, limit = LIMIT) {
    const answer = line.then(() => send(request, told, limit));
    line = answer.catch(() => {});
    return answer;
  }

  /* The same for a cell, which can be taken out of the line. */
  function queuedCell(request, told, limit = LIMIT) {
    return new Promise((answer, fail) => {
      const leave = () => fail(stopped());
      waiting.push(leave);
      line = line.then(() => {
        const place = waiting.indexOf(leave);
        if (place < 0) return undefined;
        waiting.splice(place, 1);
        return send(request, told, limit).then(answer, fail);
      });
    });
  }

  window.addEventListener("pagehide", () => (busy ? busy() : endCrew()));

  window.rankzeroRanks = {
    state,
    mend,
    /* { cell, own, others, ranks }: runs a cell; gives { why, charts, world } (autograder/page/cells.py). What is stopped
       fails with { stopped: true }. `told` may hear { progress, began, say }. */
    run: queuedCell,
    /* { id, source, others }: checks a function; gives { html, state, passed, total }. */
    check: queued,
    /* Takes the cell that was asked for last out of the line, if it waits there; else ends what runs, and the next run
       starts fresh workers. */
    async stop() {
      const leave = waiting.pop();
      if (leave) leave();
      else if (busy) busy();
    },
  };
})();
