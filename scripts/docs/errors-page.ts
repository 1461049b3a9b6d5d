/** `docs/reference/errors.md`: every code of every package with its meaning. */

import type { ErrorCode } from "../error-codes.ts";

/** Returns the page that lists `codes`, by package. */
export function errorsPage(codes: readonly ErrorCode[]): string {
  const lines = [
    "# Error codes",
    "",
    "<!-- Written by `npm run docs` from every codes.ts. -->",
    "",
    "Errors carry a `code` that stays the same from version to version; their messages may change.",
    "Branch on the code. Codes that begin with `CONFIG_` are findings about a configuration; several can come at once.",
  ];
  for (const folder of [...new Set(codes.map((code) => code.folder))].sort()) {
    lines.push("", `## ${folder}`, "", "| Code | Meaning |", "|---|---|");
    const own = codes.filter((code) => code.folder === folder);
    for (const { code, meaning } of own.sort((a, b) => (a.code < b.code ? -1 : 1)))
      lines.push(`| \`${code}\` | ${meaning.replaceAll("|", "\\|")} |`);
  }
  return `${lines.join("\n")}\n`;
}
