/**
 * Checks names of saved tools. A name becomes a file name, so a valid name never
 * forms a path on any system, and it uses the characters of MCP tool names.
 * Confusable names are detected elsewhere, with the other names (`foldName`).
 */

import type { Diagnostic } from "@toolcrib/diagnostics";

/** Longest name. @limit program */
const nameMaxLength = 64;
const allowedForm = `allowed are 1 to ${nameMaxLength} of the characters A-Z a-z 0-9 _ . -, of which the first is a letter, a digit or _`;
/** Names that Windows reserves for devices, with any extension. */
const deviceName = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)/i;

/** Returns the findings about `name` as the name of a saved tool; none when it is valid. */
export function lintSavedName(name: string): readonly Diagnostic[] {
  const shown = JSON.stringify(name.length > 80 ? `${name.slice(0, 80)}…` : name);
  if (!/^[A-Za-z0-9_][A-Za-z0-9_.-]*$/.test(name) || name.length > nameMaxLength) {
    return [invalid(`Cannot save a tool as ${shown}: ${allowedForm}`, suggest(name))];
  }
  if (deviceName.test(name)) {
    const message = `Cannot save a tool as ${shown}: Windows reserves that name for a device; the part before the first dot must not be con, prn, aux, nul, com0 to com9 or lpt0 to lpt9`;
    return [invalid(message, `use "${`tool_${name}`.slice(0, nameMaxLength)}"`)];
  }
  return [];
}

/** Returns a valid name that resembles `name`, for a hint. */
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

/** Returns the file name of the tool `name`. */
export function toFileName(name: string): string {
  return `${name}${extension}`;
}

/** Returns whether `fileName` is that of a saved tool. Other and hidden files are ignored. */
export function isToolFileName(fileName: string): boolean {
  return fileName.endsWith(extension) && !fileName.startsWith(".");
}

/** Returns the name of the tool in `fileName`. */
export function fromFileName(fileName: string): string {
  return fileName.slice(0, -extension.length);
}
