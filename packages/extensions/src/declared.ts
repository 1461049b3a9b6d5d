/**
 * The extensions and experimental features that servers declare, as one client sees them: those of one server as they
 * are, those of several merged. Unknown ones pass: the two ends of a connection know what they mean. Tasks are the
 * gateway's own, because it is the server of its clients.
 *
 * What a server declares is data for programs. It is bounded, and has no hidden characters.
 */

import { isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";
import { stripHiddenValue } from "@toolcrib/redaction";
import type { Era } from "@toolcrib/tool";
import { hasLegacyTasks, hasModernTasks } from "./tasks/task-requests.ts";
import { tasksExtension } from "./tasks/task-wire.ts";

/** Members of capabilities that hold declarations by name. */
const kinds = ["extensions", "experimental"] as const;
/** Longest name of a declaration, in UTF-16 units. @limit server */
const nameMaxLength = 256;
/** Declarations of one kind that a client sees. @limit server */
const maxNames = 100;
/** Longest text of the settings of one declaration, in UTF-16 units. @limit server */
const settingsMaxLength = 16 * 1024;
/** Deepest level at which settings are merged. */
const maxDepth = 8;

/**
 * Returns the members of `ServerCapabilities` that extensions add.
 *
 * @param servers what each server declares, in their order; of settings that contradict each other, the first counts.
 * @param mayListTasks whether the client can list its tasks.
 */
export function declaredFor(
  servers: readonly JsonObject[],
  era: Era,
  { mayListTasks }: { readonly mayListTasks: boolean },
): JsonObject {
  const declared: { [name: string]: JsonValue } = {};
  for (const kind of kinds) {
    const merged = mergedKind(servers.map((capabilities) => capabilities[kind]));
    if (merged !== undefined) declared[kind] = merged;
  }
  // A server that was never connected may support them, too: clients ask for capabilities once.
  const hasTasks = servers.some(
    (one) => hasLegacyTasks(one) || hasModernTasks(one) || Object.keys(one).length === 0,
  );
  if (!hasTasks) return declared;
  if (era === "modern") {
    const { extensions } = declared;
    return {
      ...declared,
      extensions: { ...(isJsonObject(extensions) ? extensions : undefined), [tasksExtension]: {} },
    };
  }
  return {
    ...declared,
    tasks: { ...(mayListTasks ? { list: {} } : undefined), cancel: {}, requests: { tools: { call: {} } } },
  };
}

function mergedKind(declarations: readonly (JsonValue | undefined)[]): JsonObject | undefined {
  const merged = new Map<string, JsonValue>();
  for (const declaration of declarations) {
    if (!isJsonObject(declaration)) continue;
    for (const [name, given] of Object.entries(declaration)) {
      if (name === tasksExtension || !isName(name) || !isJsonObject(given)) continue;
      if (JSON.stringify(given).length > settingsMaxLength) continue;
      const settings = stripHiddenValue(given);
      const known = merged.get(name);
      if (known === undefined && merged.size >= maxNames) continue;
      const both = known === undefined ? settings : mergedValue(known, settings, 0);
      if (JSON.stringify(both).length <= settingsMaxLength) merged.set(name, both);
    }
  }
  return merged.size === 0 ? undefined : Object.fromEntries(merged);
}

/** Names are visible ASCII, such as `io.modelcontextprotocol/ui`. */
function isName(name: string): boolean {
  return name.length <= nameMaxLength && /^[\x21-\x7e]+$/.test(name) && name !== "__proto__";
}

/** Objects are merged by member, and lists united; of other values the first counts. */
function mergedValue(first: JsonValue, second: JsonValue, depth: number): JsonValue {
  if (depth < maxDepth && isJsonObject(first) && isJsonObject(second)) {
    const entries = Object.entries(second).map(([name, value]) => {
      const own = Object.hasOwn(first, name) ? first[name] : undefined;
      return [
        name,
        own === undefined || value === undefined ? (own ?? value) : mergedValue(own, value, depth + 1),
      ];
    });
    return { ...first, ...Object.fromEntries(entries) };
  }
  if (!Array.isArray(first) || !Array.isArray(second)) return first;
  const known = new Set(first.map((item) => JSON.stringify(item)));
  return [...first, ...second.filter((item) => !known.has(JSON.stringify(item)))];
}
