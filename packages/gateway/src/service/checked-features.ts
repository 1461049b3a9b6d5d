/**
 * The resources, templates and prompts of a source, without the malformed ones:
 * clients check a list as a whole, so one malformed entry would hide all others.
 * A list is checked once for as long as its source returns the same array.
 */

import { isJsonObject, type JsonObject } from "@toolcrib/json";
import {
  checkDefinition,
  type DefinitionKind,
  formatProblems,
  type SourceFeatures,
  type ToolId,
  toToolId,
} from "@toolcrib/tool";

/** A resource, template or prompt that is not listed. */
export interface MalformedFeature {
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
  const resources = createCheckedList(sourceId, "resource");
  const templates = createCheckedList(sourceId, "resourceTemplate");
  const prompts = createCheckedList(sourceId, "prompt");
  return {
    capabilities: () => features.capabilities(),
    instructions: () => features.instructions(),
    resources: () => resources(features.resources()).sound,
    resourceTemplates: () => templates(features.resourceTemplates()).sound,
    prompts: () => prompts(features.prompts()).sound,
    malformed: () => [
      ...resources(features.resources()).malformed,
      ...templates(features.resourceTemplates()).malformed,
      ...prompts(features.prompts()).malformed,
    ],
    request: (method, params, context) => features.request(method, params, context),
    watch: (uri, watcher) => features.watch(uri, watcher),
    unwatch: (uri, watcher) => features.unwatch(uri, watcher),
  };
}

interface CheckedList {
  readonly sound: readonly JsonObject[];
  readonly malformed: readonly MalformedFeature[];
}

/** Checks one list of a source; the result is kept until the list is another array. */
function createCheckedList(sourceId: string, kind: Exclude<DefinitionKind, "tool">) {
  let checked: { readonly list: readonly JsonObject[]; readonly result: CheckedList } | undefined;
  return (list: readonly JsonObject[]): CheckedList => {
    if (checked?.list !== list) checked = { list, result: checkList(sourceId, kind, list) };
    return checked.result;
  };
}

function checkList(
  sourceId: string,
  kind: Exclude<DefinitionKind, "tool">,
  list: readonly JsonObject[],
): CheckedList {
  const malformed: MalformedFeature[] = [];
  const sound = list.filter((item, at) => {
    const problems = checkDefinition(kind, item);
    if (problems.length === 0) return true;
    const name = nameOf(item, at);
    const id = toToolId(sourceId, `${kind === "prompt" ? "prompts" : "resources"}/${name}`);
    const reason = `"${id}" is malformed: ${formatProblems(problems)}`;
    malformed.push({ kind, name, id, member: problems[0]?.member, reason, definition: item });
    return false;
  });
  return { sound: malformed.length === 0 ? list : sound, malformed };
}

/** Longest name of an entry in a finding. */
const shownMaxLength = 200;

/** The name under which a malformed entry is reported: what it has of one, else its position. */
function nameOf(item: unknown, at: number): string {
  const { uri, uriTemplate, name } = isJsonObject(item) ? item : {};
  const found = [uri, uriTemplate, name].find((one) => typeof one === "string" && one !== "");
  return found === undefined ? `[${at}]` : String(found).slice(0, shownMaxLength);
}
