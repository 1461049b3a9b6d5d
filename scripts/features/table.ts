/** The feature table as text for a terminal, and as the page `docs/reference/compatibility.md`. */

import { clients, type Feature, features, servers } from "./plan.ts";
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
  apps: "MCP Apps",
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
      const rows = features.map((feature) =>
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
  const reasons = [
    ...new Set(
      results.exceptions
        .filter(({ reason }) => reason !== "")
        .toSorted((left, right) => orderOf(left) - orderOf(right))
        .map(({ reason }) => reason),
    ),
  ];
  const mark = (server: string, client: string, feature: string) => {
    const cell = find(server, client, feature) as (Cell & { reason?: string }) | undefined;
    if (cell === undefined) return "–";
    const note = cell.reason ? ` [${reasons.indexOf(cell.reason) + 1}]` : "";
    return `${marks[cell.outcome]}${note}`;
  };
  const tables = servers.flatMap(({ id: server, name }) => [
    `## ${name}`,
    "",
    `| Feature | ${clients.map((client) => client.name).join(" | ")} |`,
    `|---|${clients.map(() => "---|").join("")}`,
    ...features.map(
      (feature) =>
        `| ${names[feature]} | ${clients.map(({ id }) => mark(server, id, feature)).join(" | ")} |`,
    ),
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

function orderOf({ server, client, feature }: { server: string; client: string; feature: string }): number {
  const position = (ids: readonly string[], id: string) => ids.indexOf(id);
  return (
    position(
      servers.map(({ id }) => id),
      server,
    ) *
      10_000 +
    position(features, feature) * 100 +
    position(
      clients.map(({ id }) => id),
      client,
    )
  );
}
