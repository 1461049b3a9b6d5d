/**
 * The module `json`: encoding and decoding of JSON.
 */

import { StarlarkError } from "../run/starlark-error.ts";
import type { Thread } from "../run/thread.ts";
import { type NamedArgument, StarlarkModule, type Value } from "../value/value.ts";
import { takeNamed, wantString } from "./arguments.ts";
import { type Builtin, builtin } from "./builtin.ts";
import { decodeJson } from "./json-decode.ts";
import { encodeJson } from "./json-encode.ts";
import { indentJson, type JsonIndentation } from "./json-indent.ts";
import { JsonError } from "./json-scanner.ts";
import { prefixError } from "./prefix-error.ts";

const encode = builtin(
  "json.encode(x, /)",
  'Encodes `x` as JSON, without spaces and with sorted keys. Dicts and structs become objects, other iterables arrays. A value that JSON cannot represent, such as a key that is not a string, is an error. `json.encode({"b": [1, None], "a": True})` gives `"{\\"a\\":true,\\"b\\":[1,null]}"`',
  (thread, _self, x) => encoded("json.encode", x, thread),
);

const encodeIndent = builtin(
  "json.encode_indent(x, *, prefix?, indent?)",
  'Like `json.encode`, with indentation: each line starts with `prefix` (empty by default) and one `indent` (a tab by default) for each level. `json.encode_indent([1], indent=" ")` gives `"[\\n 1\\n]"`',
  (thread, _self, args, named) => {
    const name = "json.encode_indent";
    const indentation = takeIndentation(name, named);
    return indented(name, encoded(name, onlyArgument(name, args), thread), indentation, thread);
  },
);

const decode = builtin(
  "json.decode(x, /, default?)",
  'Decodes the JSON text `x` to dicts, lists, strings and numbers: floats for numbers with a point or an exponent, ints of any size for others. If `x` is not JSON, the result is `default`, or an error without `default`. `json.decode(\'{"n": [1, 2.0, null]}\')` gives `{"n": [1, 2.0, None]}`',
  (thread, _self, x, fallback) => {
    const text = wantString("json.decode", "x", x!);
    try {
      return decodeJson(text, thread);
    } catch (error) {
      if (!(error instanceof JsonError)) throw error;
      if (fallback !== undefined) return fallback;
      throw error.toStarlarkError("json.decode");
    }
  },
);

const indent = builtin(
  "json.indent(s, /, *, prefix?, indent?)",
  'The JSON text `s` with indentation: each line starts with `prefix` (empty by default) and one `indent` (a tab by default) for each level. `json.indent("[1]", indent=" ")` gives `"[\\n 1\\n]"`',
  (thread, _self, args, named) => {
    const name = "json.indent";
    const indentation = takeIndentation(name, named);
    return indented(name, wantString(name, 1, onlyArgument(name, args)), indentation, thread);
  },
);

function onlyArgument(builtinName: string, args: readonly Value[]): Value {
  if (args.length !== 1) throw new StarlarkError(`${builtinName}: got ${args.length} arguments, want 1`);
  return args[0]!;
}

function takeIndentation(builtinName: string, named: readonly NamedArgument[]): JsonIndentation {
  const [prefix, unit] = takeNamed(builtinName, named, ["prefix", "indent"]);
  return {
    prefix: prefix === undefined ? "" : wantString(builtinName, "prefix", prefix),
    indent: unit === undefined ? "\t" : wantString(builtinName, "indent", unit),
  };
}

function encoded(builtinName: string, x: Value, thread: Thread): string {
  try {
    return encodeJson(x, thread);
  } catch (error) {
    throw prefixError(builtinName, error);
  }
}

function indented(builtinName: string, text: string, indentation: JsonIndentation, thread: Thread): string {
  try {
    return indentJson(text, indentation, thread);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    const message = error.message.replace(/^unexpected character/, "invalid character");
    throw new JsonError(error.offset, message).toStarlarkError(builtinName);
  }
}

const functions: readonly Builtin[] = [decode, encode, encodeIndent, indent];

/** The module `json`. */
export const jsonModule = new StarlarkModule(
  "json",
  new Map<string, Value>(functions.map((each) => [each.name.slice("json.".length), each])),
);
