/**
 * Takes known secret values out of everything that leaves: results, errors,
 * previews, log lines. It knows the values that the configuration resolved,
 * plain and in the encodings that servers echo them in.
 */

import type { JsonObject, JsonValue } from "@toolcrib/json";

/** Shorter values occur in ordinary text and would damage it. */
const secretMinLength = 6;

/** Removes secrets; learns them as they are resolved. */
export interface SecretScrubber {
  /** Remember a resolved value. `name` takes its place. */
  learn(name: string, value: string): void;
  /** `text` with every known secret replaced by `[secret NAME]`. */
  text(text: string): string;
  /** `value` with the same done to every string and key in it; the same object when nothing was found. */
  value<Value>(value: Value): Value;
}

/** Create a scrubber that knows nothing yet. */
export function createSecretScrubber(): SecretScrubber {
  const names = new Map<string, string>();
  let pattern: RegExp | undefined;

  function scrubText(text: string): string {
    if (pattern === undefined || text.length < secretMinLength) return text;
    return text.replace(pattern, (found) => `[secret ${names.get(found) ?? "?"}]`);
  }

  function scrubValue(value: JsonValue | undefined): JsonValue | undefined {
    if (typeof value === "string") return scrubText(value);
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) {
      const items = value.map(scrubValue) as JsonValue[];
      return items.some((item, at) => item !== value[at]) ? items : value;
    }
    const members = Object.entries(value as JsonObject);
    const scrubbed = members.map(([key, member]) => [scrubText(key), scrubValue(member)] as const);
    const isChanged = scrubbed.some(
      ([key, member], at) => key !== members[at]?.[0] || member !== members[at]?.[1],
    );
    return isChanged ? Object.fromEntries(scrubbed) : value;
  }

  return {
    learn(name, value) {
      for (const form of formsOf(value)) if (!names.has(form)) names.set(form, name);
      // Longest first, so that a secret that contains another goes as a whole.
      const sources = [...names.keys()].sort((a, b) => b.length - a.length).map(escapeRegExp);
      pattern = sources.length === 0 ? undefined : new RegExp(sources.join("|"), "g");
    },
    text: scrubText,
    value: (value) => (pattern === undefined ? value : (scrubValue(value as JsonValue) as typeof value)),
  };
}

/** The ways in which a value may come back. */
function formsOf(value: string): ReadonlySet<string> {
  const forms = new Set<string>();
  const bare = value.replace(/^(Bearer|Basic|token)\s+/i, "");
  for (const one of [value, bare]) {
    if (one.length < secretMinLength) continue;
    const bytes = Buffer.from(one, "utf8");
    forms.add(one);
    forms.add(encodeURIComponent(one));
    forms.add(JSON.stringify(one).slice(1, -1));
    forms.add(bytes.toString("hex"));
    forms.add(bytes.toString("hex").toUpperCase());
    forms.add(bytes.toString("base64").replace(/=+$/, ""));
    forms.add(bytes.toString("base64url"));
    forms.add([...one].reverse().join(""));
  }
  return forms;
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}
