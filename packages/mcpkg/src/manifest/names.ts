/** The forms of names in packages: tool ids (MCPKG document, Tool Identity) and versions. */

import { hash } from "node:crypto";

/** Two or more parts with dots between them. */
export const toolIdSource = "[a-z0-9][a-z0-9_]*(?:\\.[a-z0-9][a-z0-9_]*)+";
/** Longest tool id in UTF-16 units. */
export const toolIdMaxLength = 200;

/** A version by SemVer 2.0.0, section 2, 9 and 10. */
export const versionSource =
  "(?:0|[1-9][0-9]*)\\.(?:0|[1-9][0-9]*)\\.(?:0|[1-9][0-9]*)" +
  "(?:-(?:0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)(?:\\.(?:0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*))*)?" +
  "(?:\\+[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*)?";
/** Longest version in UTF-16 units. */
export const versionMaxLength = 100;

/** Names of implementations and of steps, and keys of outputs. */
export const keySource = "[A-Za-z_][A-Za-z0-9_-]*";
export const keyMaxLength = 100;

const wholeToolId = new RegExp(`^(?:${toolIdSource})$`);

/** Longest name of a tool on the wire. */
const wireNameMaxLength = 64;

/** The name of a package's tool on the wire: its toolId; a longer one is cut and ends in digits of its digest. */
export function wireNameOf(toolId: string): string {
  if (toolId.length <= wireNameMaxLength) return toolId;
  return `${toolId.slice(0, wireNameMaxLength - 9)}_${hash("sha256", toolId, "hex").slice(0, 8)}`;
}

/**
 * Returns the toolId of the package that the gateway finds by `name`: a package has its toolId, its id as a tool
 * (`demo.echo:echo`) and its name on the wire.
 *
 * @param toolIds of the packages that are known
 * @returns `name` itself where it is none of these, such as a tool of a server
 */
export function toolIdOfName(name: string, toolIds: Iterable<string>): string {
  const at = name.indexOf(":");
  const before = name.slice(0, Math.max(at, 0));
  if (isToolId(before))
    return name.slice(at + 1) === before.slice(before.lastIndexOf(".") + 1) ? before : name;
  for (const one of toolIds) if (one.length > wireNameMaxLength && wireNameOf(one) === name) return one;
  return name;
}

/** Whether `text` is a tool id (MCPKG document, Tool Identity). */
export function isToolId(text: string): boolean {
  return text.length <= toolIdMaxLength && wholeToolId.test(text);
}

const wholeVersion = new RegExp(`^(?:${versionSource})$`);

/** Whether `text` is a version (SemVer 2.0.0). */
export function isVersion(text: string): boolean {
  return text.length <= versionMaxLength && wholeVersion.test(text);
}
