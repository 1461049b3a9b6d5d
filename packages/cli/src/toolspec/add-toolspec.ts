/**
 * `toolcrib add`: adds an API of the catalog, and hands a server to `add-server.ts`. It shows the hosts and credentials of
 * the API, stores its secrets, adds an entry to the configuration without changing
 * anything else in it, and prints what to try. A second run finds the existing
 * entry and adds missing secrets.
 */

import { isManifestPath, type ToolspecDeclaration } from "@toolcrib/config";
import type { JsonObject } from "@toolcrib/json";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { noteWrapped } from "../output/note-wrapped.ts";
import { askLine, canAsk } from "../prompt/ask-line.ts";
import { ownCommand } from "../serve/own-command.ts";
import type { AddFlags } from "./add-flags.ts";
import type { ApiEntry } from "./catalog.ts";
import { chooseEntry, chooseVariables } from "./choose-entry.ts";
import { openConfigFile, presentEntry, withEntry, writeConfigFile } from "./config-file.ts";
import { configurationLines, factLines, headingLines } from "./entry-text.ts";
import { obtainSecrets, type WantedSecret, wantedSecrets } from "./obtain-secrets.ts";
import { reportAdded } from "./report-added.ts";
import { unusedFlagsLines } from "./unused-flags.ts";

/** Runs the command. */
export async function addToolspec(
  context: CliContext,
  requested: string | undefined,
  flags: AddFlags,
): Promise<ExitCode> {
  const { output } = context;
  if (requested !== undefined && isManifestPath(requested)) {
    const { addServer, readServerFile } = await import("../adopted/add-server.ts");
    return await addServer(context, await readServerFile(context, requested), flags);
  }
  const chosen = await chooseEntry(context, requested, flags);
  if (chosen === undefined) {
    output.json({ id: null, file: openConfigFile(context).path, entry: null, result: "shown" });
    noteWrapped(
      context,
      `Nothing was added. What the catalog does not have is added by its package, URL or command line: ${ownCommand(context)} add --help`,
    );
    return exitCodes.failed;
  }
  const { entry, version } = chosen;
  if (entry.toolspec === undefined) {
    const { name } = entry.manifest;
    const reference = version === undefined ? name : `${name}@${version}`;
    // Loads the gateway, which an API does not need.
    const { addServer } = await import("../adopted/add-server.ts");
    return await addServer(context, { entry, reference }, flags);
  }
  checkApiFlags(entry.manifest.name, flags);
  const { manifest } = entry;
  const file = openConfigFile(context);
  const id = flags.id ?? manifest.name;
  const present = presentEntry(file, id, manifest.name);
  output.print(...headingLines(entry, output), "", ...factLines(entry, output), "");
  const names = present === undefined ? new Map(flags.secret ?? []) : namesOf(present, flags);
  const wanted = wantedSecrets(entry, id, names);
  // Check that the entry can be written before the user types a secret.
  const added =
    present === undefined
      ? toEntry(entry, {
          ...{ id, version, wanted, flags },
          variables: await chooseVariables(context, entry, flags),
        })
      : undefined;
  const text = added === undefined ? undefined : (await withEntry(context, file, "toolspecs", added)).text;
  if (flags.dryRun === true) {
    output.json({
      id,
      file: file.path,
      entry: added ?? null,
      result: added === undefined ? "present" : "shown",
    });
    if (added === undefined) output.print(`${id} is in ${file.shown}`);
    else output.print(`Would add to ${file.shown}:`, "", ...configurationLines("toolspecs", added));
    return exitCodes.done;
  }
  if (text !== undefined && flags.yes !== true && canAsk(context) && !(await isAgreed(context, file.shown))) {
    output.json({ id, file: file.path, entry: added ?? null, result: "shown" });
    output.note("Nothing was added");
    return exitCodes.failed;
  }
  const secrets = await obtainSecrets(context, entry, wanted, { isLater: flags.withoutSecrets === true });
  if (text !== undefined) await writeConfigFile(file, text);
  reportAdded(context, { entry, id, file, secrets, isNew: present === undefined, flags });
  if (present !== undefined) output.prose(...unusedFlagsLines(context, { id, shown: file.shown, flags }));
  return exitCodes.done;
}

/** Returns the names of the secrets of an existing entry. Only named and stored secrets have one. */
function namesOf(present: ToolspecDeclaration, { secret = [] }: AddFlags): ReadonlyMap<string, string> {
  if (secret.length > 0) {
    throw new CliError("CLI_USAGE", `${JSON.stringify(present.id)} already is in the configuration`, {
      hint: "change its credentials there, or omit --secret",
    });
  }
  return new Map(
    Object.entries(present.credentials).flatMap(([id, ref]) =>
      ref.kind === "named" || ref.kind === "store" ? [[id, ref.name] as const] : [],
    ),
  );
}

/** @throws {CliError} `CLI_USAGE` for options of servers */
function checkApiFlags(name: string, flags: AddFlags): void {
  const { serverArg, env, read, write, allow, program, untested } = flags;
  if ([serverArg, env, read, write, allow, program, untested].every((one) => one === undefined)) return;
  throw new CliError(
    "CLI_USAGE",
    `${name} is an API, and --server-arg, --env, --read, --write, --allow, --program and --untested are for servers`,
    { hint: "omit them" },
  );
}

async function isAgreed(context: CliContext, shown: string): Promise<boolean> {
  return /^(?:y|yes)?$/i.test(await askLine(`Add it to ${shown}? [Y/n] `, context));
}

/** The choices of the operator for an entry. */
interface Chosen {
  readonly id: string;
  readonly version: string | undefined;
  readonly wanted: readonly WantedSecret[];
  readonly flags: AddFlags;
}

function toEntry(
  { manifest, toolspec }: ApiEntry,
  {
    id,
    version,
    flags,
    variables,
    wanted,
  }: Chosen & { readonly variables: { readonly [name: string]: string } },
): JsonObject {
  const hasDefaults = (manifest.tools ?? []).some((tool) => tool.default === true);
  const credentials = wanted.map(
    ({ credential, name }) => [credential.id, { secret_key_ref: name }] as const,
  );
  return {
    name: toolspec.name,
    ...(version === undefined ? {} : { version }),
    ...(id === manifest.name ? {} : { id }),
    ...(credentials.length === 0 ? {} : { credentials: Object.fromEntries(credentials) }),
    ...(Object.keys(variables).length === 0 ? {} : { variables }),
    ...(flags.allTools === true || !hasDefaults ? { tools: "all" } : {}),
  };
}
