/* The page's side of check-worker.js: one worker at a time, a spare when a check takes long, and a deadline for each case.
   Once nobody waits for a check, another worker makes what the next page starts from (house-worker.js). */
(function () {
  "use strict";

  const base = new URL(".", document.currentScript.src).href;
  /* Python ends a case by itself after 3 s (autograder/learner/checking.py). A call into C may not let it: then the
     worker is ended, and another says so. */
  const LIMIT = 6000;
  const CELL_LIMIT = 20000; // of a cell, which ends by itself after 15 s (autograder/learner/own_run.py)
  const LONG = 1000; // a check that takes longer may have to be ended: a spare worker starts
  const JUDGING = -2;
  const TRUSTED = 180_000; // of what only the course's own code does: a check ends, whatever a program did to Python
  const LARGE = 1 << 30; // bytes of memory of a Python that is not kept
  const REST = 1000; // ms without a request after which the picture of the house is made
  const TRIES = 3; // times that this page begins to make it

  let current = null;
  let spare = null;
  let tickets = 0;
  let line = Promise.resolve(); // one request after another

  const startWorker = () => new Worker(`${base}check-worker.js`);

  function end(worker) {
    worker.terminate();
    if (worker === current) [current, spare] = [spare, null];
  }

  /* One request to one worker. Rejected with { late } when a case did not come back in time. */
  function send(request, { up = () => {}, began = () => {}, say = () => {} }, limit = LIMIT) {
    current = current || startWorker();
    const worker = current;
    const ticket = (tickets += 1);
    const timers = [];
    const stop = () => timers.splice(0).forEach(clearTimeout);
    const after = (time, act) => timers.push(setTimeout(act, time));
    return new Promise((answer, fail) => {
      const lose = (error) => {
        stop();
        end(worker);
        fail(error);
      };
      const watch = (place) => {
        stop();
        if (place === JUDGING) return after(TRUSTED, () => lose(new Error("it did not come to its end")));
        after(LONG, () => { spare = spare || startWorker(); });
        return after(limit, () => lose(Object.assign(new Error("late"), { late: place })));
      };
      worker.onerror = (event) => {
        event.preventDefault();
        lose(new Error("Python could not be loaded"));
      };
      worker.onmessage = ({ data }) => {
        if (data.total) return window.rankzeroWait.showProgress(":is(.rz-bench, .rz-own) .rz-status", data);
        if (data.lacks) return house.lack(data.lacks);
        if (data.ticket !== ticket) return undefined;
        if (data.up) {
          watch(JUDGING);
          up();
        } else if ("began" in data) {
          watch(data.began);
          began(data.began);
        } else if ("line" in data) {
          say(data.line);
        } else if ("reply" in data) {
          stop();
          if (data.bytes > LARGE) end(worker);
          answer(JSON.parse(data.reply));
        } else if ("ended" in data) {
          lose(Object.assign(new Error(`your program ended Python (${data.ended})`), { ended: true }));
          current = current || startWorker();
        } else if (data.dead) {
          lose(new Error(data.error));
        } else if (data.error) {
          stop();
          fail(new Error(data.error));
        }
        return undefined;
      };
      worker.postMessage({ ticket, ...request });
    });
  }

  async function checked(request, told) {
    try {
      return await send(request, told);
    } catch (error) {
      if (error.late === undefined) throw error;
      told.again();
      return send({ ...request, late: error.late }, told);
    }
  }

  /* The picture of the house, of which a check says that it is missing. It is made when nobody waits, and given up for
     whoever comes: then it is made later. */
  const house = {
    waiting: 0, // requests that are not answered
    missing: null, // { module }
    left: TRIES,
    timer: 0,
    worker: null,
    lack(found) {
      this.missing = found;
      this.look();
    },
    look() {
      clearTimeout(this.timer);
      if (this.missing && this.left && !this.worker && !this.waiting) this.timer = setTimeout(() => this.make(), REST);
    },
    make() {
      this.left -= 1;
      this.worker = new Worker(`${base}house-worker.js`);
      const done = (event) => {
        event.preventDefault();
        this.missing = null;
        this.stop();
      };
      [this.worker.onmessage, this.worker.onerror] = [done, done];
      this.worker.postMessage(this.missing);
    },
    stop() {
      clearTimeout(this.timer);
      if (this.worker) this.worker.terminate();
      this.worker = null;
    },
  };
  window.addEventListener("pagehide", () => house.stop());

  function queued(work) {
    house.stop();
    house.waiting += 1;
    const answer = line.then(work);
    line = answer.catch(() => {}).then(() => {
      house.waiting -= 1;
      house.look();
    });
    return answer;
  }

  window.rankzeroCheck = {
    check: (request, told) => queued(() => checked(request, told)),
    run: (request, told) => queued(() => send(request, told, CELL_LIMIT)), // a cell
    archive: (work) => queued(() => send({ work }, {})).then(({ archive }) => archive),
    warm: (id) => queued(() => send({ id }, {})),
    giveWay: () => house.stop(), // to ranks, which make the picture themselves
  };
})();
