/**
 * Command lines that pages show and that this version does not have yet. An entry allows its command with any
 * arguments; with options, only command lines that have these options. `npm run check` fails when a line becomes valid, and
 * then it is removed here.
 */
export const notYet: readonly string[] = [
  "toolcrib import",
  "toolcrib bridge",
  "toolcrib enable server github",
  "toolcrib disable server github",
  "toolcrib disable tool github__search",
  "toolcrib service install",
  "toolcrib reload",
  "toolcrib status --watch",
  "toolcrib logs github",
  "toolcrib top",
  "toolcrib trace CALL_ID",
  "toolcrib doctor --fix",
  "toolcrib explain CONFIG_SYNTAX",
];
