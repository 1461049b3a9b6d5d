/** A configuration with policies, and the findings of commands about it. */

import { mkdirSync, writeFileSync } from "node:fs";
import { echoStdioPath, fixtureCommand } from "@toolcrib/testing";

/** Policies with a mistake. */
export const policies = `@id("operator") permit(principal in Role::"operator", action, resource);
@id("robots") permit(principal in Role::"robot", action in Action::"use", resource in ToolServer::"notes")
  when { resource.server.labels_are_fine };
`;

/** The same without it. */
export const valid = policies
  .replace(" resource.server.labels_are_fine ", ' resource.server.getTag("team") == "core" ')
  .replace("when {", 'when { resource.server.hasTag("team") &&')
  .concat(`@id("short") @message("Texts have at most 9 characters")
forbid(principal, action == Action::"call", resource == Tool::"notes:echo")
  when { context.arguments.hasTag("text") && context.arguments.getTag("text") like "??????????*" };
@id("sums") forbid(principal, action == Action::"call", resource == Tool::"notes:echo")
  when { context.integers.hasTag("n") && context.integers.getTag("n") > 100 };
`)
  .replace('like "??????????*"', 'like "long*"');

/** Writes a configuration with these policies. */
export function writePolicies(directory: { join(...parts: string[]): string }, text: string): void {
  mkdirSync(directory.join("policies"), { recursive: true });
  writeFileSync(directory.join("policies/main.cedar"), text);
  const notes = { kind: "stdio", ...fixtureCommand(echoStdioPath) };
  const config = {
    sandbox: { mode: "preferred" },
    tool_servers: [{ id: "notes", transport: notes, trust_state: "certified", labels: { team: "core" } }],
    policy: {
      files: ["policies/main.cedar"],
      clients: { ci: { roles: ["robot"] }, cli: { roles: ["operator"] } },
    },
  };
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify(config));
}

/** The findings in the output of a command with `--json`: place, severity, path, hint. */
export function findingsIn(output: string): readonly string[] {
  const { diagnostics } = JSON.parse(output) as {
    readonly diagnostics: readonly { readonly [name: string]: string | number }[];
  };
  return diagnostics.map(
    ({ file, line, column, severity, path, hint }) =>
      `${file}:${line}:${column} ${severity} ${path}: ${hint}`,
  );
}
