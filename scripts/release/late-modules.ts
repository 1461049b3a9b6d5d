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

/** The clauses of the imports of modules of Node in a module. */
const imports = /\bimport\s+(?!type\b)([^;"']+?)\s+from\s*["'](node:[\w/]+)["']/g;

/**
 * Puts an object in the place of each module, which loads it when it is asked for a member. A module of the bundle must not ask
 * for one while it is loaded, for instance to extend a class. Only named members can be imported: default exports and whole
 * modules are copied, and there is nothing to copy.
 */
export const lateModules: Plugin = {
  name: "late modules of Node",
  transform(code, path) {
    for (const [statement, clause = "", id = ""] of code.matchAll(imports)) {
      const isNamed = clause.startsWith("{");
      assert(
        isNamed || !lateModuleNames.has(id),
        `${path}: ${statement}\n${id} is loaded late: name its members`,
      );
    }
  },
  renderChunk(code) {
    const late = code.replaceAll(/(= *)require\("(node:[\w/]+)"\)/g, (whole, start: string, id: string) =>
      lateModuleNames.has(id) ? `${start}lateModule("${id}")` : whole,
    );
    if (late === code) return null;
    // At the end, where it does not come before "use strict".
    return `${late}\nfunction lateModule(id) { return new Proxy({}, { get: (_, name) => require(id)[name] }); }\n`;
  },
};
