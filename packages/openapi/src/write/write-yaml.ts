/** Writes scalars and one-line values of YAML that all readers, also of YAML 1.1, parse alike. Pure. */

import type { JsonValue } from "@toolcrib/json";

/** Words that a YAML 1.1 or 1.2 reader does not parse as text. */
const special = /^(?:null|true|false|yes|no|on|off|y|n|~)$/i;
const plain = /^[A-Za-z_/][A-Za-z0-9_./-]*(?: [A-Za-z0-9_./-]+)*$/;

/** Returns `text` as a scalar. */
export function yamlText(text: string): string {
  // A JSON string is a double-quoted scalar of YAML 1.2.
  return plain.test(text) && !special.test(text) ? text : JSON.stringify(text);
}

/** Returns `value` on one line. */
export function yamlValue(value: JsonValue): string {
  if (typeof value === "string") return yamlText(value);
  if (typeof value === "number") return yamlNumber(value);
  if (typeof value !== "object" || value === null) return String(value);
  if (Array.isArray(value)) return `[${value.map(yamlValue).join(", ")}]`;
  return yamlMap(Object.entries(value));
}

/** Returns fields on one line, without those that have no value. */
export function yamlMap(entries: readonly (readonly [string, JsonValue | undefined])[]): string {
  const fields = entries.flatMap(([key, value]) =>
    value === undefined ? [] : [`${yamlKey(key)}: ${yamlValue(value)}`],
  );
  return `{${fields.join(", ")}}`;
}

/** Writes numbers without exponent, which YAML 1.1 readers parse as text. */
function yamlNumber(value: number): string {
  const text = String(value);
  if (!/e/i.test(text)) return text;
  return Number.isInteger(value) ? BigInt(value).toString() : value.toFixed(20).replace(/0+$/, "");
}

function yamlKey(key: string): string {
  return /^[A-Za-z_$][\w$-]*$/.test(key) && !special.test(key) ? key : JSON.stringify(key);
}
