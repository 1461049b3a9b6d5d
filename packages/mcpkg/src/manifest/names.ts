/** The forms of names in packages: tool ids (MCPKG document, Tool Identity) and versions. */

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

/** Whether `text` is a tool id (MCPKG document, Tool Identity). */
export function isToolId(text: string): boolean {
  return text.length <= toolIdMaxLength && wholeToolId.test(text);
}

const wholeVersion = new RegExp(`^(?:${versionSource})$`);

/** Whether `text` is a version (SemVer 2.0.0). */
export function isVersion(text: string): boolean {
  return text.length <= versionMaxLength && wholeVersion.test(text);
}
