/**
 * Universal names: those of the core language, and those of the tool dialect.
 */

import type { Value } from "../value/value.ts";
import type { Builtin } from "./builtin.ts";
import { numberBuiltins } from "./universe-numbers.ts";
import { attemptBuiltin, dataAttributeBuiltins, objectBuiltins, structBuiltin } from "./universe-objects.ts";
import { sequenceBuiltins, sumBuiltin } from "./universe-sequences.ts";
import { textBuiltins } from "./universe-text.ts";

function named(builtins: readonly Builtin[]): [string, Value][] {
  return builtins.map((each) => [each.name, each]);
}

/** The constants and functions of the core language. `set` is for dialects with sets. */
export const universe: ReadonlyMap<string, Value> = new Map<string, Value>([
  ["None", null],
  ["True", true],
  ["False", false],
  ...named(numberBuiltins),
  ...named(textBuiltins),
  ...named(sequenceBuiltins),
  ...named(objectBuiltins),
]);

/** The universal names of the tool dialect, except for `parallel` and `parallel_map`. */
export const toolUniverse: ReadonlyMap<string, Value> = new Map<string, Value>([
  ...universe,
  ...named(dataAttributeBuiltins),
  ...named([attemptBuiltin, structBuiltin, sumBuiltin]),
]);
