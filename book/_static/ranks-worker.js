/* One Python of a page's world: a rank, or the broker that carries the messages of all ranks. The first message says which.

   Between the broker and each rank there are two rings of bytes in shared memory, one for each direction, with one writer
   and one reader. A side that has nothing to read, or no room to write, sleeps until its bell is rung; the broker has one
   bell for all ranks. A line goes through a ring as four bytes of length and UTF-8. Lines are written for Python by
   autograder/page/workers.py and rank.py; a rank that ends without a word is reported here, by a line "!" with its status, or with
   a clause that says why.

   To the page: { share } what other workers can use; { ready }; { need } how many ranks must be there by now;
   { fresh: { place, ring } } when one must be replaced;
   and answers to a request { ticket, ... }: { began }, { line, rank }, { playing }, and { reply }; or, of a Python that is
   of no more use, { ended }, why, or { dead, error }. */
"use strict";

const base = new URL(".", self.location.href).href;
importScripts(`${base}vendor/pyodide/pyodide.js`, `${base}python-start.js`);

const HEAD = 8; // bytes of a ring before its contents: how much was written and how much was read
const RING = 1 << 18;
const PATIENCE = 15_000; // ms that the broker waits for a rank that does not read

// Rings.

/* One direction: `mine` is the bell of this side, `other` that of the other one. */
class Ring {
  constructor(buffer, mine, other) {
    this.counts = new Int32Array(buffer, 0, 2); // written, read
    this.bytes = new Uint8Array(buffer, HEAD);
    [this.mine, this.other] = [new Int32Array(mine), new Int32Array(other)];
  }

  tell() {
    Atomics.add(this.other, 0, 1);
    Atomics.notify(this.other, 0);
  }

  /* Writes as much as there is room for; how many bytes that is. */
  put(bytes) {
    const [written, read] = [this.counts[0], Atomics.load(this.counts, 1)];
    const size = this.bytes.length, start = (written >>> 0) % size;
    const count = Math.min(size - ((written - read) >>> 0), size - start, bytes.length);
    if (!count) return 0;
    this.bytes.set(bytes.subarray(0, count), start);
    Atomics.store(this.counts, 0, (written + count) | 0);
    this.tell();
    return count;
  }

  /* All bytes that can be read in one piece, or nothing. */
  take() {
    const [written, read] = [Atomics.load(this.counts, 0), this.counts[1]];
    const have = (written - read) >>> 0;
    if (!have) return null;
    const size = this.bytes.length, start = (read >>> 0) % size;
    const got = this.bytes.slice(start, start + Math.min(have, size - start));
    Atomics.store(this.counts, 1, (read + got.length) | 0);
    this.tell();
    return got;
  }
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

function framed(line) {
  const body = encoder.encode(line);
  const whole = new Uint8Array(body.length + 4);
  new DataView(whole.buffer).setUint32(0, body.length);
  whole.set(body, 4);
  return whole;
}

/* The lines that arrive in a ring. */
class Lines {
  constructor(ring) {
    [this.ring, this.parts, this.have] = [ring, [], 0];
  }

  /* Takes what is there; whether there was anything. */
  fill() {
    const before = this.have;
    for (let got; (got = this.ring.take()); this.have += got.length) this.parts.push(got);
    return this.have > before;
  }

  joined() {
    if (this.parts.length > 1) {
      const whole = new Uint8Array(this.have);
      let at = 0;
      for (const part of this.parts) {
        whole.set(part, at);
        at += part.length;
      }
      this.parts = [whole];
    }
    return this.parts[0];
  }

  next() {
    this.fill();
    if (this.have < 4) return null;
    const first = this.parts[0].length < 4 ? this.joined() : this.parts[0];
    const size = new DataView(first.buffer, first.byteOffset).getUint32(0) + 4;
    if (this.have < size) return null;
    const whole = this.joined();
    [this.parts, this.have] = [[whole.subarray(size)], this.have - size];
    return decoder.decode(whole.subarray(4, size));
  }
}

const sleep = (bell, seen, ms) => Atomics.wait(bell, 0, seen, ms);

// A rank.

/* The way to the broker, as autograder/page/rank.py uses it. */
function rankPort({ inbox, outbox, bell }, brokerBell) {
  const lines = new Lines(new Ring(inbox, bell, brokerBell));
  const out = new Ring(outbox, bell, brokerBell);
  const mine = new Int32Array(bell);
  const put = (line) => {
    for (let bytes = framed(line); bytes.length;) {
      const seen = Atomics.load(mine, 0), count = out.put(bytes);
      bytes = bytes.subarray(count);
      if (!count) sleep(mine, seen);
    }
  };
  const get = () => {
    for (;;) {
      const seen = Atomics.load(mine, 0), line = lines.next();
      if (line !== null) return line;
      sleep(mine, seen);
    }
  };
  return { put, get };
}

async function startRank({ ring, brokerBell, module, picture }) {
  const port = rankPort(ring, brokerBell);
  try {
    const python = await startPython(base, () => {}, ["ranks.json"], { module, picture, plain: !picture });
    python.setInterruptBuffer(new Uint8Array(ring.signal));
    const serve = python.runPython("from autograder.page import start\nstart.rank()");
    self.postMessage({ ready: true, bytes: python._module.HEAP8.length });
    serve(port);
  } catch (error) {
    port.put(`!${Number.isInteger(error.status) ? error.status : whyEnded(error)}`);
    self.postMessage({ dead: lastLine(error) });
  }
}

// The broker.

function newRing() {
  const shared = (bytes) => new SharedArrayBuffer(bytes);
  return { inbox: shared(RING + HEAD), outbox: shared(RING + HEAD), bell: shared(4), signal: shared(4) };
}

/* The workers of the ranks, as autograder/page/workers.py uses them. */
function brokerPort(rings, brokerBell) {
  const mine = new Int32Array(brokerBell);
  const end = (ring) => ({
    out: new Ring(ring.inbox, brokerBell, ring.bell),
    lines: new Lines(new Ring(ring.outbox, brokerBell, ring.bell)),
    signal: new Uint8Array(ring.signal),
    early: [], // lines that came while the broker was writing
    lost: false,
    used: false,
  });
  const ends = rings.map(end);
  let turn = 0;

  /* Takes in what ranks say, so that none waits for the broker while the broker waits for it. */
  function hearAll() {
    for (const one of ends) {
      for (let line; (line = one.lines.next()) !== null;) one.early.push(line);
    }
  }

  function lose(one) {
    one.lost = true;
    one.early.push("!1");
  }

  function put(place, line) {
    const one = ends[place];
    if (!one.used) self.postMessage({ need: place + 1 });
    one.used = true;
    let last = performance.now() + PATIENCE;
    for (let bytes = framed(line); bytes.length && !one.lost;) {
      const seen = Atomics.load(mine, 0), count = one.out.put(bytes);
      bytes = bytes.subarray(count);
      if (count) {
        last = performance.now() + PATIENCE;
        continue;
      }
      hearAll();
      if (one.early.some((said) => said[0] === "!")) return;
      if (performance.now() > last) lose(one);
      else sleep(mine, seen, 1000);
    }
  }

  function said() {
    for (let step = 0; step < ends.length; step += 1) {
      const place = (turn + step) % ends.length, one = ends[place];
      const line = one.early.length ? one.early.shift() : one.lines.next();
      if (line !== null) {
        turn = place + 1;
        return `${place}${line}`;
      }
    }
    return null;
  }

  function next(ms) {
    const last = performance.now() + ms;
    for (;;) {
      const seen = Atomics.load(mine, 0), line = said();
      if (line !== null) return line;
      const left = last - performance.now();
      if (left <= 0) return undefined; // None
      sleep(mine, seen, left);
    }
  }

  function replace(place) {
    const ring = newRing();
    ends[place] = end(ring);
    self.postMessage({ fresh: { place, ring } });
  }

  return { places: rings.length, put, next, end: replace, interrupt: (place) => { ends[place].signal[0] = 2; } };
}

let answer = null, port = null;

async function startBroker({ rings, brokerBell, signal }) {
  const tell = (progress) => self.postMessage({ progress });
  const share = (found) => self.postMessage({ share: found });
  const python = await startPython(base, tell, ["check.json", "broker.json"], { share });
  python.setInterruptBuffer(new Uint8Array(signal));
  port = brokerPort(rings, brokerBell);
  answer = python.runPython("from autograder.page import start\nstart.broker()");
  self.postMessage({ ready: true, bytes: python._module.HEAP8.length });
}

function serveBroker({ ticket, ...request }) {
  const told = (name) => (value) => self.postMessage({ ticket, [name]: value });
  const say = (line, rank) => self.postMessage({ ticket, line, rank: rank ?? null });
  try {
    self.postMessage({ ticket, reply: answer(JSON.stringify(request), port, told("began"), say, told("playing")) });
  } catch (error) {
    self.postMessage({ ticket, ...broken(error) });
  }
}

self.onmessage = async ({ data }) => {
  if (data.role === "rank") return startRank(data);
  if (data.role !== "broker") return serveBroker(data);
  try {
    await startBroker(data);
  } catch (error) {
    self.postMessage({ dead: lastLine(error) });
  }
};
