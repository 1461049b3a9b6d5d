/** Asks the registries of npm, PyPI and Go for the packages that servers are pinned to: whether they are there, and newer ones. */

import type { GatewayConfig, ToolServerConfig } from "@toolcrib/config";
import { isCodedError, messageOf } from "@toolcrib/diagnostics";
import type { WantedPackage } from "@toolcrib/runners";
import { type LookUps, openLookUps } from "../../add/open-look-ups.ts";
import { compareVersions, pinOf } from "../../add/pinned-servers.ts";
import type { CliContext } from "../../cli-context.ts";
import { safeLine } from "../../output/output.ts";
import { shellQuote } from "../../serve/shell-quote.ts";
import { type Finding, failed, ok, unknown, warning } from "../check.ts";
import type { OnlineChecks } from "./check-online.ts";

/** Look-ups at a time: each is a process. */
const concurrency = 2;

/** A package with one exact version. */
type PinnedPackage = WantedPackage & { readonly version: string };

/** Returns the checks of the pinned packages. */
export async function checkPackages(
  context: CliContext,
  config: GatewayConfig,
  files: readonly string[],
): Promise<OnlineChecks> {
  const lookUps = openLookUps(context, config, files);
  return {
    concurrency,
    checks: config.toolServers.flatMap((server) => {
      const wanted = packageOf(server);
      if (wanted === undefined) return [];
      const subject = `package ${server.id}`;
      return [{ subject, run: ({ signal }) => checkPackage(subject, server, wanted, lookUps, signal) }];
    }),
    [Symbol.asyncDispose]: () => lookUps[Symbol.asyncDispose](),
  };
}

/** The package that a server is pinned to; undefined for one without. */
function packageOf(server: ToolServerConfig): PinnedPackage | undefined {
  const source = server.adopted?.files?.source;
  if (source !== undefined) return { kind: source.kind, name: source.package, version: source.version };
  if (server.adopted !== undefined) return undefined;
  const pin = pinOf(server);
  if (pin === undefined || "reason" in pin || pin.origin.kind === "catalog") return undefined;
  return { kind: pin.origin.kind, name: pin.origin.name, version: pin.version };
}

async function checkPackage(
  subject: string,
  { id, adopted }: ToolServerConfig,
  wanted: PinnedPackage,
  lookUps: LookUps,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const { kind, name, version } = wanted;
  const shown = `${name} ${version}`;
  try {
    const newest = await lookUps.lookUp({ kind, name }, signal);
    const isNewest = compareVersions(newest.version, version) === 0;
    const pinned = isNewest ? newest : await lookUps.lookUp(wanted, signal);
    const { deprecated } = pinned;
    if (deprecated !== undefined)
      return [
        warning(
          subject,
          `${safeLine(shown)} is deprecated by its publisher: ${safeLine(deprecated)}`,
          `the newest version is ${safeLine(newest.version)}: toolcrib update ${shellQuote(id)}`,
        ),
      ];
    if (isNewest || compareVersions(newest.version, version) < 0)
      return [ok(subject, `${safeLine(shown)} is in its registry, and is the newest`)];
    // A package of the catalog changes with its manifest.
    const how =
      adopted === undefined ? `toolcrib update ${shellQuote(id)}` : "the catalog decides about its version";
    return [
      ok(subject, `${safeLine(shown)} is in its registry; ${safeLine(newest.version)} is newer (${how})`),
    ];
  } catch (error) {
    signal.throwIfAborted();
    if (!isCodedError(error) || error.name === "AbortError") throw error;
    const reason = safeLine(messageOf(error));
    if (error.data?.["isAbsent"] === true)
      return [
        failed(
          subject,
          `its registry does not have ${safeLine(shown)} any more: ${reason}`,
          "a machine that has not fetched it cannot start the server; pin another version, or another package",
        ),
      ];
    return [unknown(subject, `${safeLine(shown)} could not be looked up: ${reason}`, error.hint)];
  }
}
