/* Makes the picture of Python's memory from which the next page's checks and ranks start (python-start.js), aside from
   what a reader does, and ends. The page sends { module }, the compiled WebAssembly, and may end the worker at any time:
   what was kept before stays until the new picture is. { made: true } comes when it is there, or another worker makes
   it; { made: false } when it cannot be made. */
"use strict";

const base = new URL(".", self.location.href).href;
importScripts(`${base}vendor/pyodide/pyodide.js`, `${base}python-start.js`);

self.onmessage = async ({ data: { module } }) => {
  const made = await makeHouse(base, module).then(() => true, () => false);
  self.postMessage({ made });
  self.close();
};
