/**
 * The tool of `tool.star` and the host function that it calls, which returns 100
 * generated issues.
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  builtin,
  compileProgram,
  executeProgram,
  type Json,
  type Program,
  Thread,
  toolDialect,
  toStarlark,
  type Value,
} from "@toolcrib/starlark";
import { host } from "./host.ts";

const issues: readonly Json[] = Array.from({ length: 100 }, (_, number) => ({
  id: number,
  title: `Issue ${number}: the counter does not count what was handed out on day ${number % 7}`,
  state: number % 3 === 0 ? "closed" : "open",
  created_day: 20_000 + ((number * 37) % 780),
  comments: (number * 13) % 17,
  reactions: Array.from({ length: number % 5 }, () => "+1"),
  labels: [
    number % 4 === 0 ? "bug" : "idea",
    `area/${number % 6}`,
    ...(number % 29 === 0 ? ["security"] : []),
  ],
  user: { login: `user${number % 12}`, site_admin: false },
}));

const predeclared: ReadonlyMap<string, Value> = new Map([
  [
    "list_issues",
    builtin("list_issues(repository, state?)", "The issues of a repository.", (thread) =>
      toStarlark(issues, thread),
    ),
  ],
]);

/** The text of the tool. */
export function readTool(): string {
  return readFileSync(join(import.meta.dirname, "tool.star"), "utf8");
}

export function compileTool(text: string): Program {
  const { program, diagnostics } = compileProgram(
    { name: "tool.star", text },
    { dialect: toolDialect, predeclared: predeclared.keys() },
  );
  if (program === undefined) throw new Error(diagnostics[0]?.message);
  return program;
}

/** Runs the tool in a new thread, with the limits of a tool. */
export async function runTool(program: Program): Promise<Value> {
  const { value } = await executeProgram(new Thread(host), program, predeclared);
  return value;
}
