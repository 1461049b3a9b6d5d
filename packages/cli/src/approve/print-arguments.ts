/**
 * Prints the arguments of a call that waits for approval. Nothing that is printed can pass for something
 * else: names and texts that could be misread are printed as JSON, and values without content are printed too.
 */

import { isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";
import { escapeUnsafe } from "@toolcrib/store";
import { type Output, safeLine, safeText } from "../output/output.ts";

/** Prints every value with its path. */
export function printArguments(output: Output, args: JsonObject): void {
  if (Object.keys(args).length === 0) output.print("  (no arguments)");
  for (const [path, value] of valuesOf(args, ""))
    output.print(`  ${output.style("cyan", path)}: ${shownValue(value)}`);
}

/** Prints the arguments as JSON. */
export function printWholeArguments(output: Output, args: JsonObject): void {
  const text = JSON.stringify(args, undefined, 2);
  output.print(
    text
      .split("\n")
      .map((line) => `  ${escapeUnsafe(line)}`)
      .join("\n"),
  );
}

/** The meaning of an approval of a call for one of its steps. */
const approvalsOfSteps: { readonly [approval: string]: string } = {
  none: "needs no approval",
  this: "approved with this call, exactly as shown",
  later: "asks for an approval of its own, when its arguments are known",
};

/** Prints the calls that a call makes, in their order. @param isWhole prints arguments as JSON */
export function printSteps(output: Output, steps: readonly JsonObject[], isWhole: boolean): void {
  for (const [at, { step, tool, approval, arguments: args, mapping }] of steps.entries()) {
    const means = approvalsOfSteps[String(approval)] ?? "unknown";
    const name = `${safeLine(String(step))}: ${safeLine(String(tool))}`;
    output.print(`${output.style("bold", `step ${at + 1}`)} ${name} (${means})`);
    const shown = args ?? mapping;
    if (!isJsonObject(shown)) continue;
    if (isWhole) printWholeArguments(output, shown);
    else printArguments(output, shown);
  }
}

/** The values without members, by their paths. */
function valuesOf(value: JsonValue, path: string): readonly (readonly [string, JsonValue])[] {
  const isNested =
    (isJsonObject(value) && Object.keys(value).length > 0) ||
    (Array.isArray(value) && value.some((one) => typeof one === "object" && one !== null));
  if (!isNested) return [[path, value]];
  return Object.entries(value).flatMap(([key, member]) => {
    const shown = plainName.test(key) ? key : escapeUnsafe(JSON.stringify(key));
    return valuesOf(member, path === "" ? shown : `${path}.${shown}`);
  });
}

const plainName = /^[\w-]+$/;

function shownValue(value: JsonValue): string {
  if (typeof value !== "string" || !isPlain(value)) return escapeUnsafe(JSON.stringify(value));
  return value.includes("\n") ? `\n${safeText(value).replace(/^/gm, "      ")}` : safeText(value);
}

/** Whether a text without quotes cannot be taken for another value, and no space of it is lost to the eye. */
function isPlain(text: string): boolean {
  return text !== "" && text === text.trim() && !/^[\d"[{-]|^(?:true|false|null)$|[^\S\n]{2}|\r/.test(text);
}
