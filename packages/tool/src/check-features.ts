/**
 * The resources, templates and prompts of a source, without the malformed ones:
 * clients check a list as a whole, so one malformed entry would hide all others.
 * Of two prompts whose names people or models could confuse, the later one is left out, too. URIs are
 * addresses: two that differ in anything are two resources; of equal ones the first counts.
 * A list is checked once for as long as its source returns the same array.
 */

import { isJsonObject, type JsonObject } from "@toolcrib/json";
import { checkDefinition, type DefinitionKind, formatProblems } from "./check-definition.ts";
import { foldName } from "./fold-name.ts";
import { type ToolId, toToolId } from "./tool.ts";
import type { SourceFeatures } from "./tool-source.ts";

/** A resource, template or prompt that is not listed. */
export interface MalformedFeature {
  readonly code: "TOOL_DEFINITION_INVALID" | "TOOL_NAME_COLLISION";
  readonly kind: Exclude<DefinitionKind, "tool">;
  /** URI or name, or its position in the list. */
  readonly name: string;
  /** Such as `server:prompts/NAME`. */
  readonly id: ToolId;
  /** Path of the first member that breaks a rule. */
  readonly member: string | undefined;
  readonly reason: string;
  readonly definition: JsonObject;
}

/** Features of a source with checked lists. */
export interface CheckedFeatures extends SourceFeatures {
  /** The entries that are left out, from the lists as they are now. */
  malformed(): readonly MalformedFeature[];
}

/** Wraps `features` of the source `sourceId`. */
export function checkFeatures(sourceId: string, features: SourceFeatures): CheckedFeatures {
  const resources = new CheckedList(sourceId, "resource");
  const templates = new CheckedList(sourceId, "resourceTemplate");
  const prompts = new CheckedList(sourceId, "prompt");
  return {
    capabilities: () => features.capabilities(),
    instructions: () => features.instructions(),
    resources: () => resources.check(features.resources()).sound,
    resourceTemplates: () => templates.check(features.resourceTemplates()).sound,
    prompts: () => prompts.check(features.prompts()).sound,
    malformed: () => [
      ...resources.check(features.resources()).malformed,
      ...templates.check(features.resourceTemplates()).malformed,
      ...prompts.check(features.prompts()).malformed,
    ],
    request: (...args) => features.request(...args),
    watch: (uri, watcher) => features.watch(uri, watcher),
    unwatch: (uri, watcher) => features.unwatch(uri, watcher),
  };
}

interface CheckResult {
  readonly sound: readonly JsonObject[];
  readonly malformed: readonly MalformedFeature[];
}

/** One list of a source. Its result is kept until the list is another array. */
class CheckedList {
  readonly #sourceId: string;
  readonly #kind: MalformedFeature["kind"];
  #list: readonly JsonObject[] = [];
  #result: CheckResult = { sound: [], malformed: [] };

  constructor(sourceId: string, kind: MalformedFeature["kind"]) {
    this.#sourceId = sourceId;
    this.#kind = kind;
  }

  check(list: readonly JsonObject[]): CheckResult {
    if (this.#list !== list) {
      this.#result = checkList(this.#sourceId, this.#kind, list);
      this.#list = list;
    }
    return this.#result;
  }
}

function checkList(
  sourceId: string,
  kind: MalformedFeature["kind"],
  list: readonly JsonObject[],
): CheckResult {
  const malformed: MalformedFeature[] = [];
  const firsts = new Map<string, string>();
  const sound = list.filter((item, at) => {
    const name = nameOf(item, at);
    const id = idOf(sourceId, kind, name);
    const problems = checkDefinition(kind, item);
    if (problems.length > 0) {
      const reason = `"${id}" is malformed: ${formatProblems(problems)}`;
      const code = "TOOL_DEFINITION_INVALID";
      malformed.push({ kind, name, id, code, member: problems[0]?.member, reason, definition: item });
      return false;
    }
    const key = keyOf(kind, item);
    const first = firsts.get(key);
    if (first === undefined) firsts.set(key, name);
    else if (kind === "prompt") {
      const reason = `"${id}" is too similar to "${idOf(sourceId, kind, first)}", which was declared first`;
      const code = "TOOL_NAME_COLLISION";
      malformed.push({ kind, name, id, code, member: undefined, reason, definition: item });
    }
    return first === undefined;
  });
  return { sound: sound.length === list.length ? list : sound, malformed };
}

function idOf(sourceId: string, kind: MalformedFeature["kind"], name: string): ToolId {
  return toToolId(sourceId, `${kind === "prompt" ? "prompts" : "resources"}/${name}`);
}

/** Returns a text that is equal for entries of which only the first counts. */
function keyOf(kind: MalformedFeature["kind"], { name, uri, uriTemplate }: JsonObject): string {
  return kind === "prompt" ? foldName(String(name)) : String(kind === "resource" ? uri : uriTemplate);
}

/** Longest name of an entry in a finding. */
const shownMaxLength = 200;

/** The name under which a malformed entry is reported: what it has of one, else its position. */
function nameOf(item: unknown, at: number): string {
  const { uri, uriTemplate, name } = isJsonObject(item) ? item : {};
  const found = [uri, uriTemplate, name].find((one) => typeof one === "string" && one !== "");
  return found === undefined ? `[${at}]` : String(found).slice(0, shownMaxLength);
}
