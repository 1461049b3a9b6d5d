/** Formats of texts in draft-07 (`format`). An unknown format accepts every text. Pure. */

import { isCodedError } from "@toolcrib/diagnostics";
import formatsPlugin from "ajv-formats";

/** Whether `text` has the format `name`. */
export function checkFormat(name: string, text: string): boolean {
  const format = find(name);
  if (format instanceof RegExp) return format.test(text);
  if (typeof format === "function") return format(text) === true;
  return true;
}

function find(name: string): RegExp | ((text: string) => unknown) | undefined {
  try {
    const format = formatsPlugin.default.get(name as Parameters<typeof formatsPlugin.default.get>[0], "fast");
    const check: unknown = typeof format === "object" && "validate" in format ? format.validate : format;
    return check instanceof RegExp || typeof check === "function"
      ? (check as RegExp | ((text: string) => unknown))
      : undefined;
  } catch (error) {
    // The library could not be loaded; any other error is about the name.
    if (isCodedError(error)) throw error;
    return undefined;
  }
}
