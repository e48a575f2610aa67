/* Numbers as people type them: digits in several spellings, calculations, and a unit.

   The rules are those of autograder/marking/arithmetic.py, and a test runs one table through both. Text is parsed, never
   evaluated. */
(function () {
  "use strict";

  const LONGEST = 200; // characters of a calculation, which bounds how deep parentheses go
  const WANTED = "Type one number, or a calculation such as 3*7 or 2^10.";
  const LARGE = { "": 1, k: 1e3, K: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, E: 1e18 };
  const BINARY = { Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40, Pi: 2 ** 50 };
  const SMALL = { "": 1, m: 1e-3, u: 1e-6, "µ": 1e-6, "μ": 1e-6, n: 1e-9, p: 1e-12 };
  const DAY = 86400;
  const YEAR = 365.25 * DAY;
  const TIMES = named([ // what can be written for each unit of time, besides its symbol with a prefix
    [1, "second seconds sec secs"],
    [1e-3, "millisecond milliseconds"],
    [1e-6, "microsecond microseconds"],
    [1e-9, "nanosecond nanoseconds"],
    [60, "min mins minute minutes"],
    [3600, "h hr hrs hour hours"],
    [DAY, "d day days"],
    [7 * DAY, "week weeks"],
    [YEAR / 12, "month months"],
    [YEAR, "y yr yrs year years"],
  ]);
  const WORDS = { thousand: 1e3, million: 1e6, billion: 1e9, trillion: 1e12 }; // before a unit that takes no prefix
  const FAMILIES = [
    { ...prefixed("B", { ...LARGE, ...BINARY }), byte: 1, bytes: 1 },
    prefixed("B/s", { ...LARGE, ...BINARY }),
    { ...prefixed("s", SMALL), ...TIMES },
    { ...prefixed("FLOP", LARGE), ...prefixed("FLOPs", LARGE) },
    prefixed("FLOP/s", LARGE),
    prefixed("Wh", LARGE),
    WORDS, // before dollars, which have these words, too
    { ...WORDS, ...worded("$"), ...worded("USD"), ...worded("dollar"), ...worded("dollars") },
    { x: 1, "×": 1, times: 1 },
  ];
  const SHARES = ["", "probability", "share"]; // units of plain numbers, in which 5 % is 0.05; so are "of the ..."

  const NUMBER = /(\d{1,3}(?: \d{3})+(?:\.\d*)?(?!\d)|[\d.,][\d.,'_]*)(e[+-]?\d+)?/i;
  const WORD = /^[a-z]{3}/; // how a unit begins that is a word
  const SUPERSCRIPT = /⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]+/g;
  const DOLLARS = /\$ *([0-9](?:[0-9.,'_]| (?=[0-9]))*(?: (?:thousand|million|billion|trillion)\b)?)/g;
  /* Two ends with a dash or "to" between them, of which neither is a calculation. An exponent and a unit have signs too. */
  const END = "((?:[0-9]e[+-]?[0-9]|/(?=[A-Za-z])|[^-+*/×·÷()])+?)";
  const RANGE = new RegExp(`^${END} *(-|\\bto\\b) *${END}$`, "i");
  const RANGED = "This looks like a range: type one number, or put a difference in parentheses.";

  function prefixed(name, prefixes) {
    return Object.fromEntries(Object.entries(prefixes).map(([prefix, factor]) => [prefix + name, factor]));
  }

  function worded(name) {
    const factors = Object.entries(WORDS).map(([word, factor]) => [`${word} ${name}`, factor]);
    return { [name]: 1, ...Object.fromEntries(factors) };
  }

  function named(lines) {
    return Object.fromEntries(lines.flatMap(([factor, names]) => names.split(" ").map((name) => [name, factor])));
  }

  const isShare = (unit) => SHARES.includes(unit) || unit.startsWith("of ");
  const familyOf = (head) => FAMILIES.find((one) => Object.hasOwn(one, head));

  class Refused extends Error {}

  function refuse(sentence) {
    throw new Refused(sentence);
  }

  /* The units that may be typed where `unit` is asked for: spelling -> what it is worth in that unit. */
  function unitsFor(unit) {
    if (isShare(unit)) return { "%": 0.01, percent: 0.01, ...(unit ? { [unit]: 1 } : WORDS) };
    if (unit === "%") return { "%": 1, percent: 1 };
    const head = familyOf(unit) ? unit : unit.split(" ")[0];
    const rest = unit.slice(head.length); // "GB per GPU" is read as GB too
    const family = familyOf(head);
    if (!family) return { ...WORDS, ...worded(unit), ...worded(unit.endsWith("s") ? unit.slice(0, -1) : `${unit}s`) };
    const known = Object.entries(family).map(([name, factor]) => [name, factor / family[head]]);
    return Object.fromEntries([...known, ...(rest ? known.map(([name, factor]) => [name + rest, factor]) : [])]);
  }

  /* A number without calculation, or null. The point is always the decimal point. Commas, blanks, apostrophes and
     underscores may group digits by three, as the course prints them ("58,720"). Any other single comma is a decimal
     comma ("1,75", "0,125"). */
  function plain(text) {
    const found = /^([+-]?)([\d., '_]*\d[.,]?)(e[+-]?\d+)?$/i.exec(text);
    if (!found) return null;
    const [, sign, digits, exponent] = found;
    const grouped = /^\d{1,3}([ ,'_])\d{3}(\1\d{3})*(\.\d*)?$/.exec(digits);
    const body = grouped && !/^0,\d{3}$/.test(digits) ? digits.replaceAll(grouped[1], "") : digits.replace(",", ".");
    return /^(\d+\.?\d*|\.\d+)$/.test(body) ? finite(Number(sign + body + (exponent || ""))) : null;
  }

  function finite(value) {
    return Number.isFinite(value) ? value : refuse("Type a number that is finite.");
  }

  /* sum := product (("+" | "-") product)*        product := signed [unit] (("*" | "/") signed [unit])*
     signed := ("+" | "-") signed | power         power := primary [("^" | "**") signed]
     primary := number | "(" sum ")"

     A unit belongs to all of its product that stands before it: 2^10 KiB, 3/4 GB. */
  function parse(text, unit) {
    const units = unitsFor(unit);
    const names = Object.keys(units).sort((a, b) => b.length - a.length);
    const symbols = familyOf(unit.split(" ")[0]);
    let at = 0;

    function sees(...signs) {
      while (text[at] === " ") at += 1;
      return signs.find((sign) => text.startsWith(sign, at)) || "";
    }

    function takes(...signs) {
      const sign = sees(...signs);
      at += sign.length;
      return sign;
    }

    function number() {
      const form = new RegExp(NUMBER, "iy");
      form.lastIndex = at;
      const found = form.exec(text);
      if (!found) return refuse(at < text.length ? WANTED : "Something is missing at the end of the calculation.");
      at = form.lastIndex;
      const value = plain(found[0]);
      return { value: value === null ? refuse(WANTED) : value, measured: false };
    }

    function primary() {
      if (!takes("(")) return number();
      const inner = sum();
      return takes(")") ? inner : refuse("A parenthesis is not closed.");
    }

    function power() {
      const base = primary();
      if (!takes("**", "^")) return base;
      const exponent = signed();
      if (base.measured || exponent.measured) refuse("A power is taken of plain numbers: put the unit after it.");
      return { value: finite(base.value ** exponent.value), measured: false };
    }

    function signed() {
      const sign = takes("+", "-");
      if (!sign) return power();
      const { value, measured } = signed();
      return { value: sign === "-" ? -value : value, measured };
    }

    function measure(amount) {
      sees();
      const times = text.slice(at) === "×" && text.indexOf("×") === at && Object.hasOwn(units, "×"); // not of a product
      if (!times && !/[\p{L}%$]/u.test(text.slice(at, at + 1))) return amount;
      const fits = (name) => text.slice(at, at + name.length).toLowerCase() === name.toLowerCase();
      const exact = (name) => text.startsWith(name, at);
      // Capital letters tell prefixes apart; a word may be typed anyhow.
      const same = (name) => (!symbols || WORD.test(name) ? fits(name) : exact(name));
      const name = names.find((one) => same(one) && !/^[\p{L}\d]/u.test(text.slice(at + one.length)));
      if (!name) {
        const word = text.slice(at).split(/[\s+*^()]/)[0];
        refuse(unit ? `“${word}” does not fit here: the answer is read in ${unit}.`
          : `“${word}” does not fit here: the answer is a plain number.`);
      }
      at += name.length;
      if (amount.measured) refuse("Type one unit for each summand.");
      return { value: finite(amount.value * units[name]), measured: !(name in { "%": 1, percent: 1 }) };
    }

    function product() {
      let left = measure(signed());
      for (;;) {
        const sign = sees("**") ? "" : takes("*", "×", "·", "/", "÷");
        if (!sign) return left;
        const right = signed();
        const times = "*×·".includes(sign);
        if (right.measured && (left.measured || !times)) refuse("Only one factor can have a unit, and no divisor.");
        if (!times && right.value === 0) refuse("This divides by zero.");
        const value = finite(times ? left.value * right.value : left.value / right.value);
        left = measure({ value, measured: left.measured || right.measured });
      }
    }

    function sum() {
      let left = product();
      for (;;) {
        const sign = takes("+", "-");
        if (!sign) return left;
        const right = product();
        if (left.measured !== right.measured) refuse("Give each summand a unit, or none.");
        left = { ...left, value: finite(sign === "+" ? left.value + right.value : left.value - right.value) };
      }
    }

    const { value } = sum();
    sees();
    if (at < text.length) {
      refuse(text[at] === ")" ? "A parenthesis is closed that was not opened."
        : /[\d.,(]/.test(text[at]) ? "Type + - * / or ^ between two numbers." : WANTED);
    }
    return value;
  }

  /* The text in plain signs: a book's dashes, spaces, apostrophes and exponents; "$5" is 5 $, and "~5" is 5. */
  function tidied(text) {
    const raised = (found) => `^${[...found].map((sign) => "⁰¹²³⁴⁵⁶⁷⁸⁹".indexOf(sign)).join("").replace("-1", "-")}`;
    return text.trim().replace(/[\u2212\u2013\u2014]/g, "-").replace(/[\u00a0\u2009\u202f]/g, " ")
      .replaceAll("\u2019", "'").replace(SUPERSCRIPT, raised).replace(/^[~≈=] */, "").replace(DOLLARS, "$1 $$");
  }

  /* Refuses "30-40" and "30 to 40 GB", which are no differences. "40-30" is one. */
  function refuseRange(text, unit) {
    const [, low, sign, high] = RANGE.exec(text) || [];
    if (!low) return;
    let ordered = false;
    try {
      const rest = plain(low) === null ? "" : high.replace(NUMBER, ""); // the unit stands once, at the end
      const [from, to] = [parse(low + rest, unit), parse(high, unit)];
      ordered = from >= 0 && from < to;
    } catch (error) {
      if (error instanceof Refused) return;
      throw error;
    }
    if (ordered || sign !== "-") refuse(RANGED);
  }

  /* The number in `text`, in the unit that is asked for, or a sentence that says why there is none. */
  function read(text, unit = "") {
    const tidy = tidied(text);
    if (tidy === "") return { error: "Type a number." };
    try {
      const value = plain(tidy);
      if (value !== null) return { value };
      if (tidy.length > LONGEST) refuse(`Type at most ${LONGEST} characters.`);
      refuseRange(tidy, unit);
      return { value: parse(tidy, unit) };
    } catch (error) {
      if (error instanceof Refused) return { error: error.message };
      throw error;
    }
  }

  /* What was understood, where that is not what stands in the field: "= 1024 B". */
  function understood(text, unit = "") {
    const { value } = read(text, unit);
    if (value === undefined || /^\s*[+-]?\d*\.?\d+\s*$/.test(text)) return "";
    const whole = Number.isInteger(value) && Math.abs(value) < 1e15;
    const digits = whole ? String(value) : String(Number(value.toPrecision(8)));
    const grouped = whole && digits.replace("-", "").length > 4 ? digits.replace(/\B(?=(\d{3})+$)/g, "\u202f") : digits;
    return `= ${grouped} ${unit}`.trim();
  }

  window.rankzeroNumbers = { read, understood };
})();
