/**
 * `str.format`: text with replacement fields in braces. The core language does not
 * support format specifications in fields; the tool dialect supports those of
 * f-strings.
 */

import { StarlarkError } from "../run/starlark-error.ts";
import type { Thread } from "../run/thread.ts";
import { quote, repr, str } from "../value/repr.ts";
import type { NamedArgument, Value } from "../value/value.ts";
import { formatWithSpec } from "./format-spec.ts";
import { StringBuilder } from "./string-build.ts";
import { createSearch, type Search } from "./string-search.ts";
import { excerpt } from "./string-split.ts";

/** Options for fields. */
export interface BracesOptions {
  /** Whether a format specification can follow a colon. @default false: it is an error */
  readonly specs?: boolean;
}

/** The content of a field: `name!conversion:spec`. */
interface Field {
  readonly name: string;
  readonly conversion: string | undefined;
  readonly spec: string;
}

/**
 * Replaces the fields of `format` with arguments.
 *
 * @throws {StarlarkError} for an unmatched brace, and for a field without an
 *   argument.
 */
export function formatBraces(
  format: string,
  args: readonly Value[],
  named: readonly NamedArgument[],
  t: Thread,
  options: BracesOptions = {},
): string {
  const text = new StringBuilder(t);
  const findOpen = createSearch("{", t);
  const findClose = createSearch("}", t);
  const choose = argumentChooser(args, named, t);
  let at = 0;
  for (;;) {
    const open = findOpen.find(format, at);
    addLiteral(text, format.slice(at, open === -1 ? format.length : open), findClose);
    if (open === -1) return text.finish();
    if (format[open + 1] === "{") {
      text.add("{");
      at = open + 2;
      continue;
    }
    const close = findClose.find(format, open + 1);
    if (close === -1) throw failure("unmatched '{' in format", "write {{ for a literal brace");
    const field = parseField(format.slice(open + 1, close));
    text.add(fieldText(choose(field.name), field, t, options));
    at = close + 1;
  }
}

/** Appends the text between fields, in which `}}` is one brace. */
function addLiteral(text: StringBuilder, literal: string, findClose: Search): void {
  let at = 0;
  for (let brace = findClose.find(literal, 0); brace !== -1; brace = findClose.find(literal, at)) {
    if (literal[brace + 1] !== "}") {
      throw failure("single '}' in format", "write }} for a literal brace");
    }
    text.add(literal.slice(at, brace + 1));
    at = brace + 2;
  }
  text.add(literal.slice(at));
}

function parseField(field: string): Field {
  const mark = field.indexOf("!");
  const name = mark === -1 ? field : field.slice(0, mark);
  const rest = mark === -1 ? field : field.slice(mark + 1);
  const colon = rest.indexOf(":");
  const head = colon === -1 ? rest : rest.slice(0, colon);
  const spec = colon === -1 ? "" : rest.slice(colon + 1);
  return mark === -1 ? { name: head, conversion: undefined, spec } : { name, conversion: head, spec };
}

/** Selects arguments by the names of fields: in order, by number or by keyword. */
function argumentChooser(
  args: readonly Value[],
  named: readonly NamedArgument[],
  t: Thread,
): (name: string) => Value {
  let numbering: "automatic" | "manual" | undefined;
  let next = 0;
  const byIndex = (index: number): Value => {
    const arg = args[index];
    if (arg !== undefined) return arg;
    throw failure("tuple index out of range", `there are ${args.length} arguments by position`);
  };
  return (name) => {
    if (name === "") {
      if (numbering === "manual") {
        throw failure("cannot switch from manual field specification to automatic field numbering");
      }
      numbering = "automatic";
      next += 1;
      return byIndex(next - 1);
    }
    if (/^[0-9]{1,100}$/.test(name)) {
      if (numbering === "automatic") {
        throw failure("cannot switch from automatic field numbering to manual field specification");
      }
      numbering = "manual";
      return byIndex(Number(name));
    }
    t.step(named.length);
    for (const [keyword, value] of named) {
      if (keyword === name) return value;
    }
    throw noKeyword(name, named);
  };
}

function noKeyword(field: string, named: readonly NamedArgument[]): StarlarkError {
  const name = excerpt(field);
  const before = "put the value into a variable or write it as an argument first";
  if (name.includes(".")) {
    return failure(`attribute syntax x.y is not supported in replacement fields: ${name}`, before);
  }
  if (name.includes("[")) {
    return failure(`element syntax a[i] is not supported in replacement fields: ${name}`, before);
  }
  if (name.includes("{")) {
    return failure("nested replacement fields not supported", "write {{ for a literal brace");
  }
  const known = named.map(([keyword]) => keyword);
  return failure(
    `keyword ${name} not found`,
    known.length === 0
      ? "no argument was given by name; write {{ for a literal brace"
      : `the arguments given by name are ${known.slice(0, 20).join(", ")}`,
  );
}

function fieldText(value: Value, field: Field, t: Thread, options: BracesOptions): string {
  const { conversion, spec } = field;
  if (spec !== "" && options.specs !== true) {
    throw new StarlarkError(`format spec features not supported in replacement fields: ${excerpt(spec)}`, {
      hint: "make the text of the value first, and give that to format",
    });
  }
  if (conversion !== undefined && conversion !== "s" && conversion !== "r") {
    throw failure(
      `unknown conversion ${quote(excerpt(conversion))}`,
      "!s (as str) and !r (as repr) are known",
    );
  }
  if (spec !== "") return formatWithSpec(value, conversion, spec, t);
  return conversion === "r" ? repr(value, t) : str(value, t);
}

function failure(message: string, hint?: string): StarlarkError {
  return new StarlarkError(`format: ${message}`, { hint });
}
