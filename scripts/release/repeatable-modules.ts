/**
 * Makes the modules of a bundle forget that they could not be loaded. The bundler wraps modules into functions that run
 * once, and keeps the error, or the half of a module, of one that failed: a gateway that was at its limit of open files
 * at that moment could not load it any more. Node itself evaluates a module of CommonJS that failed again.
 */

import assert from "node:assert/strict";
import { type Plugin, RUNTIME_MODULE_ID } from "rolldown";

/** The wrappers of the bundler by the beginning of their declarations, and what replaces them. */
const wrappers: readonly (readonly [name: string, code: string])[] = [
  [
    "__commonJSMin",
    `(run, made) => () => {
  if (made === undefined) {
    made = { exports: {} };
    try {
      run(made.exports, made, made.exports);
    } catch (error) {
      made = undefined;
      throw error;
    }
    run = undefined;
  }
  return made.exports;
}`,
  ],
  [
    "__esmMin",
    `(run, result) => () => {
  const now = run;
  // Modules that import each other run once.
  run = undefined;
  if (now === undefined) return result;
  try {
    result = now(0);
  } catch (error) {
    run = now;
    throw error;
  }
  return result;
}`,
  ],
];

/** Replaces the wrappers of the bundler. */
export const repeatableModules: Plugin = {
  name: "repeatable-modules",
  transform(code, path) {
    if (path !== RUNTIME_MODULE_ID) return null;
    let changed = code;
    for (const [name, wrapper] of wrappers) {
      const declaration = new RegExp(
        `^((?:export )?\\w+ ${name} = )[^]*?;?$(?=\\s*(?:(?:export|var|const|let)\\b|/[/*]|$(?![^])))`,
        "m",
      );
      assert.match(changed, declaration, `the bundler has no ${name}`);
      changed = changed.replace(declaration, (_, start: string) => `${start}${wrapper};`);
    }
    return changed;
  },
};
