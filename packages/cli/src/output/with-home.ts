/** Adds the home of this run to the commands in a text, so that they work when they are pasted. Pure. */

/** `toolcrib` with a command after it, and not as a part of a name or path. */
const commandPattern = /(?<![\w./~-])toolcrib(?= [a-z])/g;

/** Returns `text` with `homeFlag` (such as " --home DIR", or "") after each `toolcrib` of a command in it. */
export function withHome(text: string, homeFlag: string): string {
  return homeFlag === "" ? text : text.replace(commandPattern, (name) => `${name}${homeFlag}`);
}
