/** The feature table as text for a terminal, and as the page `docs/reference/compatibility.md`. */

import {
  absenceOf,
  type ClientId,
  clients,
  extensionServers,
  type Feature,
  features,
  type ServerId,
  servers,
  type Trials,
} from "./plan.ts";
import { type Cell, cellsOf, type Outcome, type Results } from "./results.ts";

const marks: { readonly [outcome in Outcome]: string } = {
  both: "yes / yes",
  gateway: "no / yes",
  direct: "yes / no",
  neither: "no / no",
};

const names: { readonly [feature in Feature]: string } = {
  progress: "Progress",
  cancellation: "Cancellation",
  logging: "Logging",
  roots: "Roots",
  sampling: "Sampling",
  "sampling-tools": "Sampling with tools",
  "elicitation-form": "Elicitation, form",
  "elicitation-url": "Elicitation, URL",
  completion: "Completion",
  templates: "Resource templates",
  subscriptions: "Subscriptions",
  "resource-links": "Resource links",
  structured: "Structured results",
  tasks: "Tasks",
  "tasks-questions": "Tasks that ask",
  apps: "MCP Apps",
  "apps-page-tools": "MCP Apps, tools of pages hidden",
};

type Find = (server: string, client: string, feature: string) => Cell | undefined;

function finder(cells: readonly Cell[]): Find {
  const byKey = new Map(cells.map((cell) => [`${cell.server} ${cell.client} ${cell.feature}`, cell]));
  return (server, client, feature) => byKey.get(`${server} ${client} ${feature}`);
}

/** The table for a terminal: for each server, features by clients, `direct / gateway` in each cell. */
export function tableText(cells: readonly Cell[]): string {
  const find = finder(cells);
  return servers
    .filter(({ id }) => cells.some(({ server }) => server === id))
    .map(({ id: server, name }) => {
      const shown = clients.filter(({ id }) => cells.some((cell) => cell.client === id));
      const rows = rowsOf(server).map((feature) =>
        [
          feature.padEnd(18),
          ...shown.map(({ id }) => {
            const cell = find(server, id, feature);
            return (cell === undefined ? "-" : marks[cell.outcome]).padEnd(10);
          }),
        ].join(""),
      );
      const head = ["".padEnd(18), ...shown.map(({ id }) => id.padEnd(10))].join("");
      return [name, head, ...rows, ""].join("\n");
    })
    .join("\n");
}

/** The page. */
export function compatibilityPage(results: Results): string {
  const cells = cellsOf(results);
  const find = finder(cells);
  const rows = servers.map(({ id: server, name }) => ({
    name,
    features: rowsOf(server).map((feature) => ({
      feature,
      marks: clients.map(({ id: client }) => markOf(server, client, feature, find(server, client, feature))),
    })),
  }));
  const reasons = [
    ...new Set(
      rows.flatMap((table) => table.features.flatMap((row) => row.marks.map(({ reason }) => reason))),
    ),
  ].filter((reason) => reason !== undefined);
  const tables = rows.flatMap((table) => [
    `## ${table.name}`,
    "",
    `| Feature | ${clients.map((client) => client.name).join(" | ")} |`,
    `|---|${clients.map(() => "---|").join("")}`,
    ...table.features.map(({ feature, marks: ofRow }) => {
      const texts = ofRow.map(({ text, reason }) =>
        reason === undefined ? text : `${text} [${reasons.indexOf(reason) + 1}]`,
      );
      return `| ${names[feature]} | ${texts.join(" | ")} |`;
    }),
    "",
  ]);
  return [
    "# Compatibility",
    "",
    "Features of MCP that real clients get from real servers, directly and through the gateway, over streamable HTTP. " +
      "`npm run features` measures this table, and `npm run verify` fails where it is not true.",
    "",
    "A cell says whether the feature works directly, and then whether it works through the gateway. " +
      "“–” means that the client, the server, or the program that tries the feature does not have it. " +
      "Clients that can declare an extension declare that they show pages. " +
      "A task works when a tool runs as one to its end, `tasks/get`, `tasks/result` and `tasks/list` show it where the " +
      "revision has them, and `tasks/cancel` ends another one. " +
      "The servers are configured with `trust_state: certified` and `interactive: true`; without the second, a server gets " +
      "a session for each asking client after its first question. Clients use the newest revision that the other side offers. " +
      "The gateway offers 2026-07-28, so that such clients use it with servers of all revisions.",
    "",
    ...tables,
    "## Notes",
    "",
    ...reasons.map((reason, index) => `${index + 1}. ${reason}`),
    "",
  ].join("\n");
}

function rowsOf(server: ServerId): readonly Feature[] {
  const { trials }: { readonly trials: Trials } = servers.find(({ id }) => id === server)!;
  return extensionServers.includes(server)
    ? features.filter((feature) => trials[feature] !== undefined)
    : features;
}

function markOf(
  server: ServerId,
  client: ClientId,
  feature: Feature,
  cell: (Cell & { readonly reason?: string }) | undefined,
): { readonly text: string; readonly reason: string | undefined } {
  if (cell === undefined) return { text: "–", reason: absenceOf(server, client, feature) };
  return { text: marks[cell.outcome], reason: cell.reason || undefined };
}
