/**
 * Modules of Node of which a waiting gateway needs nothing: a bundle of CommonJS loads them with the first use of one of their
 * members. The sources import them like any other module.
 */

import assert from "node:assert/strict";
import type { Plugin } from "rolldown";

/** The names of the modules. */
const lateModuleNames: ReadonlySet<string> = new Set([
  "node:http2",
  "node:https",
  "node:readline",
  "node:readline/promises",
  "node:stream/consumers",
  "node:tls",
  "node:zlib",
]);

/**
 * Puts an object that loads the module in the place of each. A module of the bundle must not extend a class of them, or use one otherwise while it is loaded, which would
 * load it. Their default exports cannot be imported.
 */
export const lateModules: Plugin = {
  name: "late modules of Node",
  renderChunk: (code, { fileName }) => {
    const late = code.replaceAll(/(= *)require\("(node:[\w/]+)"\)/g, (whole, start: string, id: string) =>
      lateModuleNames.has(id) ? `${start}lateModule("${id}")` : whole,
    );
    if (late === code) return null;
    for (const [, name] of late.matchAll(/(\w+) = lateModule\(/g)) {
      assert(!late.includes(`__toESM(${name}`), `${fileName} imports the default export of ${name}`);
    }
    return `const lateModule = (id) => new Proxy({}, { get: (_, name) => require(id)[name] });\n${late}`;
  },
};
