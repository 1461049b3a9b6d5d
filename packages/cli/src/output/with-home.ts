/** Writes the commands in a text as they work when they are pasted: with the program of this run and its home. Pure. */

/** `toolcrib` with a command after it, and not as a part of a name or path. */
const commandPattern = /(?<![\w./~-])toolcrib(?= [a-z])/g;

/** Returns `text` with `homeFlag` (such as " --home DIR", or "") after each `toolcrib` of a command in it. */
export function withHome(text: string, homeFlag: string): string {
  return homeFlag === "" ? text : text.replace(commandPattern, (name) => `${name}${homeFlag}`);
}

/** `toolcrib` with a command or an option after it, and without a program before it. */
const programPattern = /(?<![\w./~-])(?<!npx )toolcrib(?= (?:[a-z]|--home ))/g;

/** Returns `text` with `program` (such as "npx toolcrib") in place of each `toolcrib` of a command in it. */
export function withProgram(text: string, program: string): string {
  return program === "toolcrib" ? text : text.replace(programPattern, program);
}
