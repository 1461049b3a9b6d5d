/**
 * `docs/reference/errors.md` and the pages below `docs/reference/errors`: every code with its
 * meaning, cause, example and fix; and the meanings as a module, which `toolcrib explain` reads.
 */

import type { loadExplained } from "@toolcrib/cli";
import type { ErrorCode } from "../error-codes.ts";

/** Titles of the areas that are not packages. */
const titles: ReadonlyMap<string, string> = new Map([
  ["protocol", "numbers of JSON-RPC errors"],
  ["events", "records of the audit trail"],
]);

/** A code with everything that is known about it. */
export type ExplainedCode = Awaited<ReturnType<typeof loadExplained>>[number];

/** Returns the index and one page for each area, by path. */
export function errorPages(codes: readonly ExplainedCode[]): readonly (readonly [string, string])[] {
  const areas = [...new Set(codes.map(({ area }) => area))];
  const codesOf = (area: string) => codes.filter((code) => code.area === area);
  return [
    ["docs/reference/errors.md", indexPage(areas.map((area) => [area, codesOf(area)]))],
    ...areas.map((area) => [`docs/reference/errors/${area}.md`, areaPage(area, codesOf(area))] as const),
  ];
}

function indexPage(areas: readonly (readonly [area: string, codes: readonly ExplainedCode[]])[]): string {
  const all = areas.flatMap(([, codes]) => codes);
  const produced = all.filter(({ example }) => example.run !== undefined).length;
  const lines = [
    "# Error codes",
    "",
    "<!-- Written by `npm run docs` from every codes.ts and packages/cli/src/explain. -->",
    "",
    "Errors carry a `code` that stays the same from version to version; their messages may change.",
    "Branch on the code. Codes that begin with `CONFIG_` are findings about a configuration; several can come at once.",
    "",
    "Each code has its cause, an example and its fix on the page of its area; `toolcrib explain CODE` prints the same.",
    `A test runs the examples of ${produced} of the ${all.length} codes. The others need something that a test cannot provide, such as a full disk; their pages say what.`,
  ];
  for (const [area, codes] of areas) {
    lines.push("", `## ${area}`, "", "| Code | Meaning |", "|---|---|");
    for (const { code, meaning } of codes)
      lines.push(
        `| [\`${code}\`](errors/${area}.md#${anchorOf(code)}) | ${meaning.replaceAll("|", "\\|")} |`,
      );
  }
  return `${lines.join("\n")}\n`;
}

function areaPage(area: string, codes: readonly ExplainedCode[]): string {
  const lines = [
    `# Errors: ${titles.get(area) ?? area}`,
    "",
    "<!-- Written by `npm run docs` from packages/cli/src/explain. -->",
    "",
    "[All codes](../errors.md)",
  ];
  for (const { code, meaning, cause, example, fix } of codes) {
    lines.push("", `## ${code}`, "");
    if (meaning !== cause) lines.push(meaning, "");
    lines.push(`**Cause.** ${prose(cause)}`, "", ...exampleLines(example), "", `**Fix.** ${prose(fix)}`);
  }
  return `${lines.join("\n")}\n`;
}

function exampleLines({ files = {}, lines: ran, did, output, notRun }: ExplainedCode["example"]): string[] {
  const lines = [`**Example.** ${did === undefined ? "With these files:" : prose(did)}`];
  if (did === undefined && Object.keys(files).length === 0) lines[0] = "**Example.**";
  for (const [path, text] of Object.entries(files)) lines.push("", `\`${path}\``, "", ...block(text));
  lines.push("", ...block([...ran, output].join("\n")));
  if (notRun !== undefined) lines.push("", `It is not run: it ${notRun}.`);
  return lines;
}

function block(text: string): string[] {
  return ["```text", ...text.trimEnd().split("\n"), "```"];
}

/** Returns a text with the characters escaped that Markdown and Vue would read as markup. */
function prose(text: string): string {
  return text.replaceAll("<", "&lt;").replaceAll("{{", "{ {").replace(/[*_]/g, "\\$&");
}

/** The anchor of a heading. */
function anchorOf(code: string): string {
  return code.toLowerCase().replaceAll(".", "");
}

/** Returns the source of the module with the meaning of each code. */
export function meaningsModule(codes: readonly ErrorCode[]): string {
  const lines = [...codes]
    .sort((a, b) => (a.code < b.code ? -1 : 1))
    .map(({ code, meaning }) => `  ${code}: ${JSON.stringify(meaning)},\n`);
  return `// biome-ignore-all format: generated, one piece
/** The meaning of each error code; written by \`npm run docs\` from every codes.ts. */

/** One sentence for each code. */
export const meanings: { readonly [code: string]: string } = {
${lines.join("")}};
`;
}
