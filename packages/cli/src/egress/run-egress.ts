/**
 * `toolcrib egress`: runs a program behind the egress proxy of a manifest. The
 * program reaches only the hosts that the manifest lists. It sees a placeholder for
 * each credential, in `TOOLCRIB_CREDENTIAL_<ID>`; the proxy replaces it with the
 * secret.
 *
 * The program finds the proxy through its environment. With `--contain` it runs in
 * a sandbox, whose network leads to this proxy alone. Without it, nothing stops a
 * program that ignores its environment from connecting directly.
 */

import { randomBytes } from "node:crypto";
import { join, resolve } from "node:path";
import { formatDiagnostics } from "@toolcrib/diagnostics";
import {
  createEgress,
  createPlaceholder,
  type Egress,
  type EgressCredential,
  type EgressProxy,
  type EgressSettings,
  openSandboxExit,
  proxyVariables,
} from "@toolcrib/egress";
import { readRegularFile, reasonOf } from "@toolcrib/files";
import { exitPort } from "@toolcrib/sandbox";
import { egressPatterns, type Manifest, placedCredentials } from "@toolcrib/toolspec";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { loadCliConfig } from "../config/load-cli-config.ts";
import { createCommandLogger } from "../create-command-logger.ts";
import { type ExitCode, exitCodes, toExitCode } from "../exit-codes.ts";
import { readPairs } from "../name-value-pairs.ts";
import { runWithExit } from "../sandbox/run-with-exit.ts";
import { shellQuote } from "../serve/shell-quote.ts";
import { placeholderVariable } from "../toolpack/credential-variables.ts";
import { logEvent } from "../toolpack/open-own-egress.ts";
import { readSecretNames } from "../toolpack/open-toolpack-egress.ts";
import { findManifestSecrets, type ManifestSecret } from "./manifest-secrets.ts";
import { type Environment, programEnv } from "./program-env.ts";
import { readManifest } from "./read-manifest.ts";
import { runProgram } from "./run-program.ts";

/** Options of the command. */
export interface EgressFlags {
  readonly manifest: string;
  readonly secret?: readonly string[];
  readonly connectTo?: readonly string[];
  readonly internalRange?: readonly string[];
  readonly caFile?: readonly string[];
  readonly listen?: boolean;
  readonly contain?: boolean;
  readonly read?: readonly string[];
  readonly write?: readonly string[];
}

/** Runs the command. @param program the words after `--` */
export async function runEgress(
  context: CliContext,
  program: readonly string[],
  flags: EgressFlags,
): Promise<ExitCode> {
  const { options, output } = context;
  checkUse(program, flags, options.isJson);
  const { manifest, warnings } = await readManifest(flags.manifest, context);
  if (warnings.length > 0) output.note(formatDiagnostics(warnings), "");
  const secrets = await findManifestSecrets(context, manifest, readSecretNames(flags.secret ?? [], manifest));
  const credentials = toCredentials(manifest, secrets);
  await using pipeline = await openEgress(context, flags);
  const source = { id: `process:${manifest.name}`, allow: egressPatterns(manifest), credentials };
  const placeholders = Object.fromEntries(
    credentials.map(({ id, placeholder }) => [placeholderVariable(id), placeholder]),
  );
  const [command, ...args] = program;
  if (flags.contain === true && command !== undefined) {
    await using exit = await openSandboxExit(pipeline, source, exitPort);
    const { read = [], write = [] } = flags;
    const own = { ...placeholders, ...entrustedVariables(manifest, secrets) };
    return await runWithExit(context, { command, args, env: own, network: "scoped", exit, read, write });
  }
  await using proxy = await pipeline.openProxy(source);
  const variables = { ...proxyVariables(proxy), ...placeholders };
  if (command === undefined) return await listen(context, proxy, variables);
  const env = envOf(context, manifest, secrets, variables);
  return toExitCode(await runProgram({ command, args, env }, context));
}

/** @throws {CliError} `CLI_USAGE` */
function checkUse(
  program: readonly string[],
  { listen: isListening, contain = false, read = [], write = [] }: EgressFlags,
  isJson: boolean,
): void {
  if (isListening === true && contain) {
    throw new CliError("CLI_USAGE", "--contain needs a program", {
      hint: "write it after --, and omit --listen",
    });
  }
  if (!contain && read.length + write.length > 0) {
    throw new CliError("CLI_USAGE", "--read and --write need --contain", {
      hint: "add --contain, or omit them: a program that is not contained reads and writes what you can",
    });
  }
  if (isListening === true && program.length > 0) {
    throw new CliError("CLI_USAGE", "--listen runs no program", {
      hint: "omit the program or --listen",
    });
  }
  if (isListening !== true && program.length === 0) {
    throw new CliError("CLI_USAGE", "No program to run", {
      hint: "write it after --, such as toolcrib egress --manifest FILE -- curl https://…; or use --listen to start programs yourself",
    });
  }
  if (isJson && program.length > 0) {
    throw new CliError("CLI_USAGE", "--json cannot be used with a program", {
      hint: "standard output belongs to the program",
    });
  }
}

/** Returns the credentials with a new placeholder each. */
function toCredentials(manifest: Manifest, secrets: readonly ManifestSecret[]): readonly EgressCredential[] {
  return placedCredentials(manifest, {}).flatMap((placed) => {
    const secret = secrets.find(({ credential }) => credential.id === placed.id);
    if (secret === undefined) return [];
    const placeholder = createPlaceholder(randomBytes);
    return [{ ...placed, placeholder, secretName: secret.name, read: secret.read }];
  });
}

/** The secrets that an entrusted program gets, by the variables that the manifest names. */
function entrustedVariables(
  { tier }: Manifest,
  secrets: readonly ManifestSecret[],
): { readonly [name: string]: string } {
  if (tier !== "entrusted") return {};
  return Object.fromEntries(
    secrets.flatMap(({ credential: { inject }, found }) =>
      inject.env === undefined ? [] : [[inject.env, found.value] as const],
    ),
  );
}

function envOf(
  context: CliContext,
  manifest: Manifest,
  secrets: readonly ManifestSecret[],
  variables: { readonly [name: string]: string },
): Environment {
  return programEnv(context.env, {
    secretVariables: secrets.flatMap(({ found }) => (found.kind === "env" ? [found.place] : [])),
    secretValues: secrets.map(({ found }) => found.value),
    variables: { ...variables, ...entrustedVariables(manifest, secrets) },
  });
}

async function openEgress(context: CliContext, flags: EgressFlags): Promise<Egress> {
  const { options } = context;
  const logger = createCommandLogger(context, "debug");
  return createEgress(await readSettings(context, flags), {
    directory: join(options.home, "egress"),
    now: context.now,
    randomBytes,
    onEvent: (event) => logEvent(event, logger),
  });
}

/** Merges the section `egress` of a configuration given with `--config` and the flags. */
async function readSettings(context: CliContext, flags: EgressFlags): Promise<EgressSettings> {
  const isConfigured = context.options.configFiles.length > 0;
  const configured = isConfigured ? (await loadCliConfig(context)).config.egress : undefined;
  const certificates = await Promise.all((flags.caFile ?? []).map((path) => readCertificates(context, path)));
  return {
    internalRanges: [...(configured?.internalRanges ?? []), ...(flags.internalRange ?? [])],
    connectTo: { ...configured?.connectTo, ...readConnectTo(flags.connectTo ?? []) },
    caCertificates: [...(configured?.caCertificates ?? []), ...certificates],
  };
}

/** @throws {CliError} `CLI_USAGE` */
function readConnectTo(given: readonly string[]): { readonly [host: string]: string } {
  return readPairs(
    given,
    (text) =>
      new CliError("CLI_USAGE", `--connect-to ${JSON.stringify(text)} has no address`, {
        hint: "write --connect-to HOST=ADDRESS:PORT",
      }),
  );
}

const certificatesMaxBytes = 4 * 1024 * 1024;

/** @throws {CliError} `CLI_FILE_UNUSABLE` */
async function readCertificates(context: CliContext, path: string): Promise<string> {
  try {
    const { bytes } = await readRegularFile(resolve(context.directory, path), certificatesMaxBytes);
    return new TextDecoder().decode(bytes);
  } catch (error) {
    throw new CliError("CLI_FILE_UNUSABLE", `Cannot read "${path}": ${reasonOf(error)}`);
  }
}

/** Prints the environment for clients, and serves until Ctrl-C. */
async function listen(
  context: CliContext,
  { url, caFile, caBundleFile }: EgressProxy,
  variables: { readonly [name: string]: string },
): Promise<ExitCode> {
  const { output } = context;
  output.json({ url, ca_file: caFile, ca_bundle_file: caBundleFile, environment: variables });
  output.print(...Object.entries(variables).map(([name, value]) => `export ${name}=${shellQuote(value)}`));
  await new Promise<void>((done) => {
    if (context.signal.aborted) done();
    else context.signal.addEventListener("abort", () => done(), { once: true });
  });
  return exitCodes.done;
}
