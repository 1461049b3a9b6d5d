/**
 * `docs/reference/limits.md`: every option whose doc comment has a number as its
 * default, and every constant whose doc comment says whom it limits (`@limit client`).
 * The page is generated from these comments, so it always agrees with them.
 */

import {
  isInterfaceDeclaration,
  isPropertySignatureDeclaration,
  isVariableStatement,
  type Node,
} from "typescript/unstable/ast";
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
  const parts = /^(\S.*?)\s*@default (\d[\d,]*(?=\s|$).*)$/.exec(docOf(member));
  const [, meaning = "", value = ""] = parts ?? [];
  return parts === null ? undefined : { meaning, value };
}

/** The doc comment of a declaration as one line; empty for none. */
function docOf(declaration: Node): string {
  const before = declaration.getSourceFile().text.slice(declaration.getFullStart(), declaration.getStart());
  const comment = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*$/.exec(before)?.[1] ?? "";
  return comment
    .replace(/\n\s*\*/g, " ")
    .replace(/\s+/g, " ")
    .trim();
}

/** A constant that limits what others do. */
export interface FixedLimit extends Limit {
  /** Whom it limits, such as `client`. */
  readonly of: string;
  /** Its file, below the sources of its package. */
  readonly file: string;
}

/**
 * Returns the constants of `owner` with the tag `@limit`, in the order of their files.
 *
 * @throws {Error} for one that is no product of whole numbers
 */
export function listFixedLimits({ folder, src }: WorkspacePackage): FixedLimit[] {
  return src.flatMap(({ name, syntax }) =>
    syntax.statements.flatMap((statement) => {
      if (!isVariableStatement(statement)) return [];
      const [, meaning = "", of = ""] = /^(\S.*?)\s*@limit (\S.*)$/.exec(docOf(statement)) ?? [];
      if (of === "") return [];
      const [declaration] = statement.declarationList.declarations;
      const constant = declaration?.name.getText() ?? "";
      const value = productOf(declaration?.initializer?.getText() ?? "");
      if (value === undefined) throw new Error(`${name}: ${constant} has @limit and is no number`);
      const file = name.slice(name.indexOf(`${folder}/src/`) + `${folder}/src/`.length);
      return [{ name: constant, file, of, value: value.toLocaleString("en-US"), meaning }];
    }),
  );
}

/** The value of whole numbers that are multiplied, such as `16 * 1024` and `2 ** 30`. */
function productOf(text: string): number | undefined {
  const factors = text.split(/(?<!\*)\*(?!\*)/).map((factor) => {
    const [base = "", exponent = "1", ...more] = factor.split("**").map((part) => part.trim());
    const isWhole = more.length === 0 && [base, exponent].every((part) => /^\d[\d_]*$/.test(part));
    return isWhole ? Number(base.replaceAll("_", "")) ** Number(exponent) : undefined;
  });
  return factors.reduce<number | undefined>(
    (product, factor) => (product === undefined || factor === undefined ? undefined : product * factor),
    1,
  );
}

/** Returns the page for `packages`. */
export function limitsPage(packages: readonly WorkspacePackage[]): string {
  const lines = [
    "# Limits",
    "",
    "<!-- Written by `npm run docs` from the doc comments of the options. -->",
    "",
    "Every size, count, depth and time is finite. These are the options that have a number for their default,",
    "by the package and the interface that take them, and the fixed limits that clients, servers, programs and",
    "operators can reach.",
  ];
  for (const one of packages) {
    const limits = listLimits(one);
    const fixed = listFixedLimits(one);
    if (limits.length + fixed.length === 0) continue;
    lines.push("", `## ${one.folder}`);
    if (limits.length > 0) lines.push("", "| Option | Default | Meaning |", "|---|---|---|");
    for (const { name, value, meaning } of limits)
      lines.push(`| \`${name}\` | ${cell(value)} | ${cell(meaning)} |`);
    if (fixed.length > 0) lines.push("", "| Fixed limit | Value | Of a | Meaning |", "|---|---|---|---|");
    for (const { name, file, value, of, meaning } of fixed)
      lines.push(`| \`${name}\` of \`${file}\` | ${value} | ${cell(of)} | ${cell(meaning)} |`);
  }
  return `${lines.join("\n")}\n`;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}
