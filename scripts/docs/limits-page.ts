/**
 * `docs/reference/limits.md`: every option whose doc comment has a number as its
 * default. The page is generated from these comments, so it always agrees with them.
 */

import { isInterfaceDeclaration, isPropertySignatureDeclaration, type Node } from "typescript/unstable/ast";
import { visitNodes } from "../syntax.ts";
import type { WorkspacePackage } from "../workspace.ts";

/** One option with a number as its default. */
export interface Limit {
  /** Interface and member, such as `JsonLimits.maxDepth`. */
  readonly name: string;
  readonly value: string;
  readonly meaning: string;
}

/** Returns the options of `owner`, in the order of their files. */
export function listLimits(owner: WorkspacePackage): Limit[] {
  const limits: Limit[] = [];
  for (const file of owner.src) {
    visitNodes(file.syntax, (node) => {
      if (!isInterfaceDeclaration(node)) return;
      for (const member of node.members) {
        if (!isPropertySignatureDeclaration(member)) continue;
        const limit = readDefault(member);
        if (limit !== undefined)
          limits.push({ name: `${node.name.text}.${member.name.getText()}`, ...limit });
      }
    });
  }
  return limits;
}

function readDefault(member: Node): Pick<Limit, "value" | "meaning"> | undefined {
  const before = member.getSourceFile().text.slice(member.getFullStart(), member.getStart());
  const comment = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*$/.exec(before)?.[1];
  const prose = comment
    ?.replace(/\n\s*\*/g, " ")
    .replace(/\s+/g, " ")
    .trim();
  const parts = /^(\S.*?)\s*@default (\d[\d,]*(?=\s|$).*)$/.exec(prose ?? "");
  const [, meaning = "", value = ""] = parts ?? [];
  return parts === null ? undefined : { meaning, value };
}

/** Returns the page for `packages`. */
export function limitsPage(packages: readonly WorkspacePackage[]): string {
  const lines = [
    "# Limits",
    "",
    "<!-- Written by `npm run docs` from the doc comments of the options. -->",
    "",
    "Every size, count, depth and time is finite. These are the options that have a number for their default,",
    "by the package and the interface that take them.",
  ];
  for (const one of packages) {
    const limits = listLimits(one);
    if (limits.length === 0) continue;
    lines.push("", `## ${one.folder}`, "", "| Option | Default | Meaning |", "|---|---|---|");
    for (const { name, value, meaning } of limits)
      lines.push(`| \`${name}\` | ${cell(value)} | ${cell(meaning)} |`);
  }
  return `${lines.join("\n")}\n`;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}
