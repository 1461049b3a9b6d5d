/** Looks packages up in the registries of this machine, in the sandbox of fetches, for a command without a gateway. */

import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type GatewayConfig, runnerOf } from "@toolcrib/config";
import { ServerExits } from "@toolcrib/egress";
import { createProcessLauncher } from "@toolcrib/process";
import { FetchSandbox, lookUpPackage, type PublishedPackage, type WantedPackage } from "@toolcrib/runners";
import { exitPort, hiddenPathsOf } from "@toolcrib/sandbox";
import { requireRunner } from "../adopted/contact-server.ts";
import type { CliContext } from "../cli-context.ts";
import { createCommandLogger } from "../create-command-logger.ts";
import { createSandboxes, userHomeOf } from "../sandbox/create-sandboxes.ts";
import { fetchedFolder } from "../sandbox/fetched-store.ts";

/** Milliseconds for one answer of a registry. */
const lookUpMaxMs = 120_000;

/** Look-ups of one command. Disposing it ends what still runs. */
export interface LookUps extends AsyncDisposable {
  /**
   * @param signal ends this look-up
   * @throws {CliError} `CLI_RUNNER_MISSING` @throws {RunnersError} `PACKAGE_FETCH_FAILED`
   */
  lookUp(wanted: WantedPackage, signal?: AbortSignal): Promise<PublishedPackage>;
}

/** Opens look-ups. Nothing runs before the first. */
export function openLookUps(
  context: CliContext,
  { egress, sandbox }: Pick<GatewayConfig, "egress" | "sandbox">,
  configFiles: readonly string[],
): LookUps {
  const { directory, env, now, options, signal, wrap } = context;
  // To ask a registry makes no home: perhaps nothing is added.
  const isTemporary = !existsSync(options.home);
  const home = isTemporary ? mkdtempSync(join(tmpdir(), "toolcrib-look-up-")) : options.home;
  const logger = createCommandLogger(context, "silent");
  const closing = new AbortController();
  const launcher = createProcessLauncher(
    { env, now, logger, randomBytes },
    { directory, logsDirectory: join(home, "logs"), wrap },
  );
  const exits = new ServerExits(
    {
      config: { egress },
      ...{ home, now, randomBytes, logger },
      // Look-ups reach registries and nothing else. The audit trail has no record of them.
      record: () => {},
      scrubber: { text: (text) => text },
    },
    [],
    exitPort,
  );
  const sandboxes = createSandboxes(context);
  const fetches = (ending: readonly AbortSignal[]) =>
    new FetchSandbox({
      ...{ launcher, env, sandboxes },
      mode: "required",
      userHome: userHomeOf(context),
      hiddenPaths: hiddenPathsOf({ home, configFiles, directory, env }),
      signal: AbortSignal.any([signal, closing.signal, AbortSignal.timeout(lookUpMaxMs), ...ending]),
      registryHosts: sandbox.registryHosts,
      openExit: exits.openFetch,
    });
  return {
    async lookUp(wanted, ending) {
      ending?.throwIfAborted();
      const runner = requireRunner(context, runnerOf(wanted));
      return await lookUpPackage(
        {
          folder: fetchedFolder({ options: { ...options, home } }),
          sandbox: fetches(ending === undefined ? [] : [ending]),
          runner,
          randomBytes,
        },
        wanted,
      );
    },
    async [Symbol.asyncDispose]() {
      closing.abort();
      await launcher[Symbol.asyncDispose]();
      await exits[Symbol.asyncDispose]();
      if (isTemporary) rmSync(home, { recursive: true, force: true });
    },
  };
}
