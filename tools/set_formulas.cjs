/* Sets formulas: reads [[tex, display], …] as JSON from standard input and writes the HTML of each, MathML beside it.
   node tools/set_formulas.cjs KATEX, where KATEX is the path of katex.min.js. A formula that KaTeX refuses gives { error }. */
"use strict";

const { readFileSync } = require("node:fs");
const { resolve } = require("node:path");
const katex = require(resolve(process.argv[2]));

/* KaTeX knows the Greek letter, and not the sign of micro. */
const SIGN = "\u00b5";
const LETTER = "\\text{$\\mu$}";

function set([tex, displayMode]) {
  try {
    const known = tex.replaceAll(SIGN, () => LETTER);
    return { html: katex.renderToString(known, { displayMode, output: "htmlAndMathml", strict: "error" }) };
  } catch (failure) {
    return { error: failure.message };
  }
}

process.stdout.write(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(set)));
