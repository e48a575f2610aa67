/* What the page's editor is made of: bundled by tools/vendor_editor.py into one script, which sets `rankzeroEditor`. */
import { defaultKeymap, history, historyKeymap, indentLess, indentMore } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import {
  bracketMatching, codeFolding, foldable, foldEffect, foldKeymap, forceParsing, HighlightStyle, indentOnInput, indentUnit,
  syntaxHighlighting,
} from "@codemirror/language";
import { EditorState } from "@codemirror/state";
import { drawSelection, EditorView, highlightSpecialChars, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

/* Colours are those of the page, in light and dark, by custom properties of workbench.css. */
const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword], color: "var(--rz-code-keyword)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--rz-code-string)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--rz-code-number)" },
  { tag: [tags.comment], color: "var(--rz-code-comment)", fontStyle: "italic" },
  { tag: [tags.function(tags.definition(tags.variableName)), tags.definition(tags.className)], color: "var(--rz-code-name)" },
]);

/* Tab indents where somebody writes. Whoever comes by with the keyboard and changes nothing goes on with the same key; and
   Escape gives it back for once, so that the keyboard leads out of the editor. */
const indentation = [
  { key: "Tab", run: indentMore },
  { key: "Shift-Tab", run: indentLess },
];
const passing = (pressed = false) => EditorView.domEventHandlers({
  mousedown: (_, editor) => { pressed = true; editor.setTabFocusMode(false); },
  focus: (_, editor) => { editor.setTabFocusMode(!pressed); },
  blur: () => { pressed = false; },
});

/* A stub may bring long checks of its own: they open folded, each with the number of lines that it hides. */
const HELPER = /^(?:async )?def _check_/;
const LONG = 6; // lines of a body that is left open

const folding = codeFolding({
  preparePlaceholder: (state, { from, to }) => state.doc.lineAt(to).number - state.doc.lineAt(from).number,
  placeholderDOM: (_, unfold, lines) => {
    const mark = document.createElement("span");
    mark.className = "rz-folded";
    mark.textContent = `… ${lines} lines`;
    mark.title = "Show them";
    mark.onclick = unfold;
    return mark;
  },
});

/* The range of each long helper's body. A signature may take several lines; its last one ends with the colon. */
function bodies(state) {
  const { doc } = state, found = [];
  for (let number = 1; number <= doc.lines; number += 1) {
    if (!HELPER.test(doc.line(number).text)) continue;
    while (number < doc.lines && !doc.line(number).text.trimEnd().endsWith(":")) number += 1;
    const { from, to } = doc.line(number);
    const body = foldable(state, from, to);
    if (body && doc.lineAt(body.to).number - number > LONG) found.push(body);
  }
  return found;
}

function foldHelpers(view) {
  forceParsing(view, view.state.doc.length, 500);
  const effects = bodies(view.state).map((body) => foldEffect.of(body));
  if (effects.length) view.dispatch({ effects });
}

const LEAVING = "Tab indents once you have typed; Escape, then Tab leaves.";

window.rankzeroEditor = function (parent, { text, label, changed, submit }) {
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(), highlightSpecialChars(), history(), drawSelection(), indentOnInput(), bracketMatching(),
        folding,
        indentUnit.of("    "), python(), syntaxHighlighting(colours),
        keymap.of([
          { key: "Ctrl-Enter", mac: "Cmd-Enter", run: () => (submit(), true) },
          { key: "Escape", run: (editor) => (editor.setTabFocusMode(2000), true) },
          ...indentation, ...foldKeymap, ...historyKeymap, ...defaultKeymap,
        ]),
        passing(),
        EditorView.contentAttributes.of({ "aria-label": label, "aria-description": LEAVING, tabindex: "0" }),
        EditorView.updateListener.of((update) => {
          if (!update.docChanged) return;
          view.setTabFocusMode(false);
          changed(view.state.doc.toString());
        }),
      ],
    }),
  });
  foldHelpers(view);
  return {
    get: () => view.state.doc.toString(),
    set: (value) => {
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: value } });
      foldHelpers(view);
    },
    focus: () => view.focus(),
  };
};
