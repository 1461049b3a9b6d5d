/**
 * Checks whether this Node can run Toolcrib. Imports nothing, so that it works on
 * any Node that can parse the file.
 */

/** Oldest Node that Toolcrib runs on. */
export const oldestNode = 24;

/** Returns the message for a Node that is too old; `undefined` if `version` (such as `v26.1.0`) is new enough. */
export function explainOldNode(version: string): string | undefined {
  const major = Number(/^v?(\d+)\./.exec(version)?.[1]);
  if (major >= oldestNode) return undefined;
  return [
    `Toolcrib needs Node.js ${oldestNode} or newer; this is ${version}.`,
    "Get a newer one from https://nodejs.org/en/download, or with a version manager:",
    `  nvm install ${oldestNode}      fnm install ${oldestNode}      volta install node@${oldestNode}      brew install node`,
    "In a checkout of Toolcrib, npm ci brings the right one; then use: npx toolcrib",
  ].join("\n");
}
