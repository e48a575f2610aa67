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
  const FAMILIES = [
    { ...prefixed("B", { ...LARGE, ...BINARY }), byte: 1, bytes: 1 },
    prefixed("B/s", { ...LARGE, ...BINARY }),
    { ...prefixed("s", SMALL), min: 60, h: 3600, hour: 3600, hours: 3600, day: 86400, days: 86400 },
    { ...prefixed("FLOP", LARGE), ...prefixed("FLOPs", LARGE) },
    prefixed("FLOP/s", LARGE),
    prefixed("Wh", LARGE),
  ];
  const SHARES = ["", "probability", "share"]; // units of plain numbers, in which 5 % is 0.05

  function prefixed(name, prefixes) {
    return Object.fromEntries(Object.entries(prefixes).map(([prefix, factor]) => [prefix + name, factor]));
  }

  class Refused extends Error {}

  function refuse(sentence) {
    throw new Refused(sentence);
  }

  /* The units that may be typed where `unit` is asked for: spelling -> what it is worth in that unit. */
  function unitsFor(unit) {
    if (SHARES.includes(unit)) return { "%": 0.01, percent: 0.01, ...(unit && { [unit]: 1 }) };
    if (unit === "%") return { "%": 1, percent: 1 };
    const [head] = unit.split(" ");
    const rest = unit.slice(head.length); // "GB per GPU" is read as GB too
    const family = FAMILIES.find((one) => Object.hasOwn(one, head));
    if (!family) return { [unit]: 1, [unit.endsWith("s") ? unit.slice(0, -1) : `${unit}s`]: 1 };
    const known = Object.entries(family).map(([name, factor]) => [name, factor / family[head]]);
    return Object.fromEntries([...known, ...(rest ? known.map(([name, factor]) => [name + rest, factor]) : [])]);
  }

  /* A number without calculation, or null. The point is always the decimal point. One comma is a decimal comma unless
     exactly three digits follow one to three others ("58,720" could be either and is refused; "0,125" could not). Two
     commas or more, blanks, apostrophes and underscores may group digits by three. */
  function plain(text) {
    const found = /^([+-]?)([\d., '_]*\d[.,]?)(e[+-]?\d+)?$/i.exec(text);
    if (!found) return null;
    const [, sign, digits, exponent] = found;
    if (/^[1-9]\d{0,2},\d{3}$/.test(digits)) {
      refuse(`${digits} can be read in two ways: type ${digits.replace(",", "")} or ${digits.replace(",", ".")}.`);
    }
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
      const form = /(\d{1,3}(?: \d{3})+(?:\.\d*)?(?!\d)|[\d.,][\d.,'_]*)(e[+-]?\d+)?/iy;
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
      if (!/[\p{L}%$]/u.test(text.slice(at, at + 1))) return amount;
      const fits = (name) => text.slice(at, at + name.length).toLowerCase() === name.toLowerCase();
      const exact = (name) => text.startsWith(name, at);
      const same = names.length > 2 ? exact : fits; // capital letters tell prefixes apart; a word may be typed anyhow
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

  /* The number in `text`, in the unit that is asked for, or a sentence that says why there is none. */
  function read(text, unit = "") {
    const tidy = text.trim().replace(/\u2212/g, "-").replace(/[\u00a0\u2009\u202f]/g, " ");
    if (tidy === "") return { error: "Type a number." };
    try {
      const value = plain(tidy);
      if (value !== null) return { value };
      if (tidy.length > LONGEST) refuse(`Type at most ${LONGEST} characters.`);
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
