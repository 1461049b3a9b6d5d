/**
 * `toolcrib labels`: the labels of the data that clients have received. They are in the
 * home, so the commands work with and without a running gateway, which takes a change
 * over within a second.
 */

import { randomBytes } from "node:crypto";
import { didYouMean } from "@toolcrib/diagnostics";
import { SeenLabels } from "@toolcrib/store";
import { isLocalIssuer, issuerName } from "@toolcrib/tool";
import { openTrail } from "../audit/open-trail.ts";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { loadConfigOrDefaults } from "../config/load-cli-config.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { safeLine } from "../output/output.ts";
import { knownClients } from "../policy/client-identity.ts";

/** Runs `labels show`. */
export async function showLabels(context: CliContext, client: string | undefined): Promise<ExitCode> {
  const { output } = context;
  const labelled = openLabels(context);
  const known = await labelled.list();
  const found = known.filter((one) => client === undefined || isNamed(one, client));
  if (found.length === 0 && client !== undefined) await requireClient(context, client, namesOf(known));
  output.json(
    found.map(({ client: { issuer, subject, name }, labels }) => ({
      client: { issuer, subject, name },
      labels: labels.map(({ since, ...label }) => ({ ...label, since: new Date(since).toISOString() })),
    })),
  );
  if (found.length === 0 && client !== undefined)
    output.print(`The client "${safeLine(client)}" has received no labelled data`);
  else if (found.length === 0) output.print("No client has received labelled data");
  else {
    output.table(
      [
        { title: "CLIENT" },
        { title: "ISSUER", canShrink: true },
        { title: "LABEL" },
        { title: "SINCE" },
        { title: "BY CALL" },
        { title: "OF", canShrink: true },
      ],
      found.flatMap(({ client: one, labels }) =>
        labels.map(({ label, since, callId, tool }) => [
          safeLine(one.name),
          safeLine(issuerName(one)),
          safeLine(label),
          new Date(since).toISOString().slice(0, 19).replace("T", " "),
          safeLine(callId),
          safeLine(tool),
        ]),
      ),
    );
  }
  if (await labelled.isPartial()) {
    const why =
      "and had no place for others: a client that it does not have counts as having seen every label";
    output.prose(`The file seen-labels.json is full, ${why}`);
  } else if (found.some(({ hasMore }) => hasMore === true))
    output.prose("A client with 1,000 labels that received more counts as having seen every label");
  return exitCodes.done;
}

/** @throws {CliError} `CLI_CLIENT_NOT_FOUND` unless `client` has received labelled data, or can be a client of this home */
async function requireClient(
  context: CliContext,
  client: string,
  labelled: readonly string[],
): Promise<void> {
  const { config } = await loadConfigOrDefaults(context);
  const names = [...new Set([...labelled, ...knownClients(context, config)])];
  if (names.includes(client)) return;
  throw new CliError("CLI_CLIENT_NOT_FOUND", `No client is called "${client}"`, {
    hint: didYouMean(client, names) ?? `the clients are ${names.slice(0, 20).join(", ")}`,
  });
}

/** Runs `labels forget`. */
export async function forgetLabels(context: CliContext, client: string): Promise<ExitCode> {
  const { output } = context;
  const labels = openLabels(context);
  const known = await labels.list();
  const meant = known.filter((one) => isNamed(one, client));
  if (meant.length === 0) {
    throw new CliError("CLI_CLIENT_NOT_FOUND", `No client called "${client}" has received labelled data`, {
      hint: didYouMean(client, namesOf(known)) ?? "see toolcrib labels show",
    });
  }
  await using store = await openTrail(context);
  for (const { client: one, labels: seen } of meant) {
    store.audit.record("labels.forgotten", { client: one, labels: seen.map(({ label }) => label) });
  }
  // What is forgotten is on record before it is forgotten.
  await store.audit.flush();
  const forgotten = await labels.forget((one) => isNamed({ client: one }, client));
  output.json({ forgotten: forgotten.map(({ client: one }) => one) });
  output.print(`Forgot the labels of ${safeLine(client)}; a running gateway takes that over within a second`);
  return exitCodes.done;
}

function openLabels({ options, now }: CliContext): SeenLabels {
  return new SeenLabels(options.home, { known: [], now, randomBytes });
}

interface NamedClient {
  readonly client: { readonly issuer: string; readonly subject: string; readonly name: string };
}

/** The names by which `isNamed` finds clients. */
function namesOf(clients: readonly NamedClient[]): readonly string[] {
  return clients.map(({ client: { issuer, subject, name } }) =>
    isLocalIssuer(issuer) ? name : `${issuer} ${subject}`,
  );
}

/** Whether a client is called so: by the name of its token, or by "ISSUER SUBJECT". */
function isNamed({ client: { issuer, subject, name } }: NamedClient, wanted: string): boolean {
  return isLocalIssuer(issuer) ? name === wanted : `${issuer} ${subject}` === wanted;
}
