/**
 * Command lines that pages show and that this version does not have yet. An entry allows its command with any
 * arguments; with options, only command lines that have these options. `npm run check` fails when a line becomes valid, and
 * then it is removed here.
 */
export const notYet: readonly string[] = [];
