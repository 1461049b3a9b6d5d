/** The results of the feature table: what is recorded, compared with what was measured. */

import type { ClientId, Feature, ServerId } from "./plan.ts";

/** The ways in which a feature works for a client at a server: directly, and through the gateway. */
export type Outcome = "both" | "gateway" | "direct" | "neither";

/** A measured cell. Features that the client or the server does not have are no cells. */
export interface Cell {
  readonly client: ClientId;
  readonly server: ServerId;
  readonly feature: Feature;
  readonly outcome: Outcome;
}

/** A cell that does not work in both ways, with the reason. */
interface Exception {
  readonly client: string;
  readonly server: string;
  readonly feature: string;
  readonly outcome: Outcome;
  readonly reason: string;
}

/** The recorded results: cells that work in both ways, by server and client, and all others. */
export interface Results {
  readonly both: { readonly [server: string]: { readonly [client: string]: readonly string[] } };
  readonly exceptions: readonly Exception[];
}

/** Returns a message for each measured cell that is not as recorded, and for each recorded one that was not measured. */
export function compare(known: Results, cells: readonly Cell[]): string[] {
  const pairs = new Set(cells.map(({ client, server }) => `${client} at ${server}`));
  const missing = cellsOf(known).filter(
    ({ client, server, feature }) =>
      pairs.has(`${client} at ${server}`) &&
      !cells.some((cell) => cell.client === client && cell.server === server && cell.feature === feature),
  );
  return [
    ...compareMeasured(known, cells),
    ...missing.map(
      ({ client, server, feature }) => `${client} at ${server}, ${feature} is recorded and was not measured`,
    ),
  ];
}

function compareMeasured(known: Results, cells: readonly Cell[]): string[] {
  return cells.flatMap((cell) => {
    const { client, server, feature, outcome } = cell;
    const name = `${client} at ${server}, ${feature}`;
    const recorded = recordedOf(known, cell);
    if (recorded?.outcome === outcome) {
      return outcome === "direct" && !recorded.reason
        ? [`${name} works directly and not through the gateway, without a reason`]
        : [];
    }
    if (outcome === "direct") return [`${name} works directly and not through the gateway`];
    return [
      `${name}: works ${wordsFor[outcome]}; recorded: ${recorded === undefined ? "nothing" : wordsFor[recorded.outcome]}`,
    ];
  });
}

const wordsFor: { readonly [outcome in Outcome]: string } = {
  both: "directly and through the gateway",
  gateway: "through the gateway only",
  direct: "directly only",
  neither: "in neither way",
};

/** Returns the recorded results with the measured cells in place of those of the same clients at the same servers. */
export function withMeasured(known: Results, cells: readonly Cell[]): Results {
  const both: { [server: string]: { [client: string]: string[] } } = {};
  const isMeasured = (client: string, server: string) =>
    cells.some((cell) => cell.client === client && cell.server === server);
  const add = (server: string, client: string, feature: string) => {
    both[server] ??= {};
    both[server][client] = [...(both[server][client] ?? []), feature];
  };
  for (const [server, ofServer] of Object.entries(known.both)) {
    for (const [client, names] of Object.entries(ofServer)) {
      if (isMeasured(client, server)) continue;
      for (const feature of names) add(server, client, feature);
    }
  }
  for (const { client, server, feature, outcome } of cells)
    if (outcome === "both") add(server, client, feature);
  const exceptions = [
    ...known.exceptions.filter(({ client, server }) => !isMeasured(client, server)),
    ...cells
      .filter(({ outcome }) => outcome !== "both")
      .map((cell) => ({ ...cell, reason: recordedOf(known, cell)?.reason ?? "" })),
  ];
  return { both, exceptions };
}

function recordedOf(
  { both, exceptions }: Results,
  { client, server, feature }: Pick<Cell, "client" | "server" | "feature">,
): { readonly outcome: Outcome; readonly reason?: string } | undefined {
  if (both[server]?.[client]?.includes(feature)) return { outcome: "both" };
  return exceptions.find((one) => one.client === client && one.server === server && one.feature === feature);
}

/** Returns all recorded cells. */
export function cellsOf({ both, exceptions }: Results): (Cell & { readonly reason?: string })[] {
  const working = Object.entries(both).flatMap(([server, ofServer]) =>
    Object.entries(ofServer).flatMap(([client, names]) =>
      names.map((feature) => ({ server, client, feature, outcome: "both" }) as Cell),
    ),
  );
  return [...working, ...(exceptions as readonly (Cell & { reason: string })[])];
}
