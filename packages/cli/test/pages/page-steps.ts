/**
 * The steps that a page shows, in order: files to write, commands with the output that the page shows, and commands
 * without one. Also every command of all pages, for the inventory.
 */

import { globSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";

/** The folder of the pages. */
export const docs = join(import.meta.dirname, "../../../../docs");

/** A step of a page. */
export type Step =
  | { readonly kind: "file"; readonly name: string; readonly text: string }
  | {
      readonly kind: "command";
      readonly command: string;
      /** The output that a transcript shows; undefined for a command without output, which has to succeed. */
      readonly output: string | undefined;
    };

/** Pages that `npm run docs` writes completely, decisions, and what the site adds. */
const isWritten = (page: string) =>
  /^(?:adr|api|node_modules|site|\.vitepress)\/|^reference\/(?:cli|errors|limits|starlark|enforcement)/.test(
    page,
  );

/** Returns the pages for users, below `docs`; READMEs as `../README.md`. */
export function listPages(): readonly string[] {
  const pages = [
    ...globSync("**/*.md", { cwd: docs }),
    "../README.md",
    ...globSync("../packages/*/README.md", { cwd: docs }),
  ];
  return pages
    .map((page) => page.split(sep).join("/"))
    .filter((page) => !isWritten(page))
    .toSorted();
}

/** Returns the text of a page. */
export function readPage(page: string): string {
  return readFileSync(join(docs, page), "utf8");
}

/** Returns the steps of a page: transcripts, commands, and code blocks with a file name after their language. */
export function stepsOf(page: string): readonly Step[] {
  return [...readPage(page).matchAll(/^```(\w+)(?: (\S+))?\n([\s\S]*?)^```$/gm)].flatMap(
    (match): readonly Step[] => {
      const [, language, name, body = ""] = match;
      if (name !== undefined && language !== "ts") return [{ kind: "file", name, text: body }];
      if (language === "console") return inTranscript(body);
      return language === "sh" ? inScript(body) : [];
    },
  );
}

/** Returns the commands in the code blocks for a shell of a page. */
export function commandsOf(page: string): readonly string[] {
  return stepsOf(page).flatMap((step) => (step.kind === "command" ? [step.command] : []));
}

function inTranscript(transcript: string): readonly Step[] {
  return transcript
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const [command = "", ...lines] = part.split("\n");
      return { kind: "command", command, output: lines.join("\n") };
    });
}

/** The commands of a script: one a line, without comments; lines that continue are one. */
function inScript(script: string): readonly Step[] {
  return script
    .replaceAll("\\\n", "")
    .split("\n")
    .map((line) =>
      line
        .replace(/(?:^|\s)#.*$/, "")
        .replace(/ {2,}/g, " ")
        .trim(),
    )
    .filter((line) => line !== "")
    .map((command) => ({ kind: "command", command, output: undefined }));
}

/**
 * Returns whether `printed` is what a transcript shows. A line with `...` stands for any lines,
 * and `…` for any text in a line. Blank lines and the widths of columns are not compared.
 */
export function matches(printed: string, expected: string): boolean {
  const plain = (text: string) =>
    text
      .replace(/^\s*\n/gm, "")
      .replace(/ {2,}/g, "  ")
      .trim();
  const lines = plain(expected).split("\n");
  const pattern = lines.map((line) =>
    line === "..."
      ? String.raw`(?:.*\n)*?`
      : `${line
          .trimEnd()
          .replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
          .replaceAll("…", ".*")}\\n`,
  );
  return new RegExp(`^${pattern.join("")}$`).test(`${plain(printed).replace(/ +$/gm, "")}\n`);
}
