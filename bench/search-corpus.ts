/**
 * The data with which the quality of search is measured: the tools of eleven services of the catalog, and searches in
 * the words of users, each labelled with the tool that it means (labelled-queries.txt).
 */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseToolspec, toolDefinitions } from "@toolcrib/toolspec";

const root = join(import.meta.dirname, "..");
const services = [
  ...["github", "slack", "gmail", "google-calendar", "jira", "stripe"],
  ...["notion", "dropbox", "sentry", "hubspot", "todoist"],
];

/** A tool as search indexes take it. */
export interface CorpusTool {
  readonly id: string;
  readonly name: string;
  readonly namespace: string;
  readonly description: string;
  readonly inputSchema: { readonly [member: string]: unknown };
}

/** A tool, and the searches that mean it, each phrased differently. */
export interface LabelledTool {
  readonly id: string;
  readonly queries: readonly string[];
}

/** Returns the tools of the services. */
export function corpusTools(): readonly CorpusTool[] {
  return services.flatMap((service) => {
    const folder = join(root, "catalog/toolspecs", service);
    const [file] = readdirSync(folder).sort().toReversed();
    const text = readFileSync(join(folder, file!), "utf8");
    const { value } = parseToolspec({ name: file!, text });
    if (value === undefined) throw new Error(`The toolspec of "${service}" is not valid`);
    return toolDefinitions(value).map(({ definition }) => ({
      id: `${service}:${definition.name}`,
      namespace: service,
      name: definition.name,
      description: definition.description,
      inputSchema: definition.inputSchema,
    }));
  });
}

/** Returns the labelled searches. */
export function labelledTools(): readonly LabelledTool[] {
  const text = readFileSync(join(import.meta.dirname, "labelled-queries.txt"), "utf8");
  const blocks = text
    .split(/\n\s*\n/)
    .map((block) => block.split("\n").filter((line) => !/^(?:#|\s*$)/.test(line)));
  return blocks.flatMap(([id, ...queries]) => (id === undefined ? [] : [{ id, queries }]));
}
