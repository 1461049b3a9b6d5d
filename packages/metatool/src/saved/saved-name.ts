/**
 * Which names saved tools may have. A name becomes a file's, so no path can be
 * formed from one that passes, on any system, and it stands in the MCP
 * characters on the wire. Names that cannot be told apart are not found here:
 * that takes the other names (`foldName`).
 */

import type { Diagnostic } from "@toolcrib/diagnostics";

/** Longest name. */
const nameMaxLength = 64;
const allowedForm = `allowed are 1 to ${nameMaxLength} of the characters A-Z a-z 0-9 _ . -, of which the first is a letter, a digit or _`;
/** Names that Windows keeps for devices, whatever follows a dot. */
const deviceName = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)/i;

/** What is wrong with `name` as the name of a saved tool; nothing when it can be one. */
export function lintSavedName(name: string): readonly Diagnostic[] {
  const shown = JSON.stringify(name.length > 80 ? `${name.slice(0, 80)}…` : name);
  if (!/^[A-Za-z0-9_][A-Za-z0-9_.-]*$/.test(name) || name.length > nameMaxLength) {
    return [invalid(`Cannot save a tool as ${shown}: ${allowedForm}`, suggest(name))];
  }
  if (deviceName.test(name)) {
    const message = `Cannot save a tool as ${shown}: systems keep that name for a device; what stands before the first dot must not be con, prn, aux, nul, com0 to com9 or lpt0 to lpt9`;
    return [invalid(message, `use "${`tool_${name}`.slice(0, nameMaxLength)}"`)];
  }
  return [];
}

/** A name made of `name` that can be one, as a hint. */
function suggest(name: string): string | undefined {
  const made = name
    .slice(0, nameMaxLength)
    .replace(/[^A-Za-z0-9_.-]+/g, "_")
    .replace(/^[.-]+/, "");
  const isUsable = /[A-Za-z0-9]/.test(made) && lintSavedName(made).length === 0;
  return isUsable ? `use "${made}"` : undefined;
}

function invalid(message: string, hint: string | undefined): Diagnostic {
  return { severity: "error", code: "METATOOL_NAME_INVALID", message, hint, path: "name" };
}

const extension = ".json";

/** The file of the tool called `name`. */
export function toFileName(name: string): string {
  return `${name}${extension}`;
}

/** Whether `fileName` is meant to be a saved tool; others, and hidden ones, are not looked at. */
export function isToolFileName(fileName: string): boolean {
  return fileName.endsWith(extension) && !fileName.startsWith(".");
}

/** The name that the tool in `fileName` must have. */
export function fromFileName(fileName: string): string {
  return fileName.slice(0, -extension.length);
}
