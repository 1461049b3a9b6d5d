/**
 * Patterns of tools, resources and prompts. A pattern is a glob over the two
 * names of its target, in which `*` stands for any number of characters and `?`
 * for one:
 *
 * - a tool: `namespace:name` (with a version: `namespace:name:1.0`) or `namespace__name`
 * - a resource: `server:resources/URI`
 * - a prompt: `server:prompts/NAME`
 *
 * A pattern that cannot match is refused: a deny rule without effect would
 * leave open what it is meant to close.
 */

import { list, type Problem, reportAt, text } from "@toolcrib/document";
import { looksLikeCredential } from "@toolcrib/redaction";
import { quote } from "./display-source.ts";

const toolPattern = text({
  description: 'A tool, such as "github:get_issue", "github:*", "*:delete_*" or "github__get_issue".',
  maxLength: 256,
  examples: ["github:*", "*:delete_*"],
  inspect(value, node, place) {
    const problem = lintToolPattern(value);
    if (problem !== undefined) reportAt(node, place, problem);
  },
});

/** A pattern of tools, resources and prompts. */
export const policyPattern = text({
  description:
    'A tool ("github:get_issue", "*:delete_*", "github__get_issue"), a resource ("files:resources/file:///etc/*") or a prompt ("files:prompts/review *").',
  maxLength: 1024,
  examples: ["github:*", "*:delete_*", "files:resources/file:///etc/*", "*:prompts/*"],
  inspect(value, node, place) {
    const problem = lintPolicyPattern(value);
    if (problem !== undefined) reportAt(node, place, problem);
  },
});

/** A list of patterns of tools. */
export const toolPatterns = (description: string) => list(toolPattern, { description, maxItems: 1000 });

/** A list of patterns of tools, resources and prompts. */
export const policyPatterns = (description: string) => list(policyPattern, { description, maxItems: 1000 });

function lintToolPattern(value: string): Problem | undefined {
  const bad = /[^A-Za-z0-9_.:*?-]/.exec(value)?.[0];
  if (bad === undefined) return undefined;
  return {
    code: "CONFIG_INVALID_VALUE",
    message: `Tool pattern ${quote(value)} contains ${quote(bad)}, which is not allowed`,
    hint: canMatchFeature(value)
      ? "only tools are hidden or pinned; to deny a resource or prompt, write the pattern in policy.deny"
      : (suggestion(value, [value.replaceAll("/", ":")], (one) => lintToolPattern(one) === undefined) ??
        "letters, digits, _ . - : and the wildcards * and ? are allowed; ? also matches any other character"),
  };
}

function lintPolicyPattern(value: string): Problem | undefined {
  const isTool = lintToolPattern(value) === undefined;
  const isFeature = canMatchFeature(value);
  // `server:resources:NAME` is a tool called "resources" only where a version follows.
  const isMisspelt = !isFeature && /(?::|__)(?:resources|prompts):(?!v?\d|[*?])/.test(value);
  if ((isTool && !isMisspelt) || isFeature) return undefined;
  return {
    code: "CONFIG_INVALID_VALUE",
    message: `Pattern ${quote(value)} names no tool, resource or prompt`,
    hint:
      suggestion(value, candidates(value), (one) => lintPolicyPattern(one) === undefined) ??
      "write SERVER:TOOL, SERVER:resources/URI or SERVER:prompts/NAME, with the wildcards * and ?",
  };
}

/** Returns the patterns that the author of `value` may have intended, the most likely first. */
function candidates(value: string): string[] {
  const found: string[] = [];
  const feature = /^(.*?)(?::|__|\/)(resource|prompt)s?(?::|\/|__)(.*)$/s.exec(value);
  if (feature !== null) {
    const [, server = "", kind = "", name = ""] = feature;
    // `echo:::x` is `echo://x` with each slash written as a colon.
    const uri =
      kind === "resource"
        ? name.replace(
            /^([A-Za-z][A-Za-z0-9+.-]*:)(::.*)$/s,
            (_, scheme, rest) => scheme + rest.replaceAll(":", "/"),
          )
        : name;
    found.push(`${server}:${kind}s/${uri}`);
  }
  const serverUri = /^([^:/]+):([A-Za-z][A-Za-z0-9+.-]*:.*)$/s.exec(value);
  if (serverUri !== null) found.push(`${serverUri[1]}:resources/${serverUri[2]}`);
  if (/^[A-Za-z][A-Za-z0-9+.-]*:\/\//.test(value)) found.push(`*:resources/${value}`);
  if (/^[^:/]+\/[^:/]+$/.test(value)) found.push(value.replace("/", ":"));
  if (/^[^:/ ]+:[^:/]+$/.test(value)) found.push(value.replace(/[^A-Za-z0-9_.:*?-]/g, "?"));
  return found;
}

function suggestion(
  value: string,
  suggested: readonly string[],
  isValid: (pattern: string) => boolean,
): string | undefined {
  if (value.length > 120 || looksLikeCredential(value)) return undefined;
  const found = suggested.find((one) => one !== value && isValid(one));
  return found === undefined ? undefined : `write ${found}`;
}

/** A class of characters, once or any number of times. */
interface Unit {
  readonly admits: RegExp;
  readonly repeats?: true;
}

/** The ids of resources and prompts: a server's id, `:` or `__`, `resources/` or `prompts/`, any name. */
const featureIds: readonly (readonly Unit[])[] = [":", "__"].flatMap((separator) =>
  ["resources/", "prompts/"].map((kind) => [
    { admits: /[A-Za-z0-9]/ },
    { admits: /[A-Za-z0-9_.-]/, repeats: true as const },
    ...Array.from(`${separator}${kind}`, (char) => ({ admits: new RegExp(`^${char}`) })),
    { admits: /[\s\S]/, repeats: true as const },
  ]),
);

/** Whether the glob `pattern` matches the id of any resource or prompt. */
function canMatchFeature(pattern: string): boolean {
  return featureIds.some((units) => intersects(pattern, units));
}

/** Whether a text exists that both the glob `pattern` and `units` describe. */
function intersects(pattern: string, units: readonly Unit[]): boolean {
  let places = withSkipped(new Set([0]), units);
  for (const char of pattern) {
    const next = new Set<number>();
    for (const place of places) {
      if (char === "*") {
        for (let later = place; later <= units.length; later += 1) next.add(later);
        continue;
      }
      const unit = units[place];
      if (unit === undefined || (char !== "?" && !unit.admits.test(char))) continue;
      next.add(unit.repeats === true ? place : place + 1);
    }
    places = withSkipped(next, units);
  }
  return places.has(units.length);
}

/** Returns `places` with the places after units that may be absent. */
function withSkipped(places: Set<number>, units: readonly Unit[]): Set<number> {
  for (const place of places) if (units[place]?.repeats === true) places.add(place + 1);
  return places;
}
