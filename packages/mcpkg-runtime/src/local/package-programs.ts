/**
 * The processes of installed packages: a launcher of their own with a place for each process, and
 * the sandbox of each package. A package sees its own folder and what its entry in the
 * configuration grants; without an entry it has no network and writes nothing but temporary files.
 */

import { ServerExits } from "@toolcrib/egress";
import { FairQueue } from "@toolcrib/lifecycle";
import { createProcessLauncher, type ProcessLauncher } from "@toolcrib/process";
import { type ContainedServer, type ContainmentState, exitPort, ServerSandboxes } from "@toolcrib/sandbox";
import { type CallContext, identityKey } from "@toolcrib/tool";
import type { PackageConfig } from "../installed/package-config.ts";
import type { PackagesContext } from "../installed/packages-context.ts";
import { McpkgRuntimeError } from "../runtime-error.ts";
import type { StartProgram } from "./run-program.ts";

/** Calls that wait for a place, of all packages. @limit client */
const maxWaiting = 1000;
/** Processes besides those of calls: questions to runtimes when packages are prepared. */
const probesMaxCount = 64;

/** Variables of every program: output in UTF-8, and no messages of a runtime about itself. */
const programEnv = {
  PYTHONUTF8: "1",
  PYTHONDONTWRITEBYTECODE: "1",
  DOTNET_NOLOGO: "1",
  DOTNET_CLI_TELEMETRY_OPTOUT: "1",
};

/** The parts of the gateway and of this process that the processes of packages use. */
export interface ProgramsContext extends ProcessContext {
  readonly config: Pick<PackagesContext["config"], "packages" | "egress" | "sandbox">;
}

type ProcessContext = Pick<
  PackagesContext,
  | "home"
  | "env"
  | "now"
  | "logger"
  | "randomBytes"
  | "directory"
  | "wrap"
  | "sandboxes"
  | "record"
  | "scrubber"
  | "configFiles"
  | "policyFiles"
>;

/** The part of a package that its processes depend on. */
export interface ProgramOwner {
  readonly toolId: string;
  readonly folder: string;
  readonly config: PackageConfig;
}

/** The processes of the packages of one gateway. Disposing ends all of them. */
export class PackagePrograms implements AsyncDisposable {
  readonly #context: ProgramsContext;
  readonly #launcher: ProcessLauncher;
  readonly #exits: ServerExits;
  readonly #sandboxes: ServerSandboxes;
  readonly #places: FairQueue;
  readonly #uncontained = new Set<string>();

  constructor(context: ProgramsContext) {
    const { config, home, env, now, logger, randomBytes, directory, wrap, sandboxes } = context;
    this.#context = context;
    const { maxPrograms } = config.packages;
    this.#places = new FairQueue({ maxRunning: maxPrograms, maxWaiting });
    // A call that ends takes its program along at once.
    this.#launcher = createProcessLauncher(
      { env, now, logger, randomBytes },
      {
        directory,
        logsDirectory: `${home}/logs`,
        wrap,
        processesMaxCount: maxPrograms + probesMaxCount,
        graceMs: 0,
        terminateGraceMs: 0,
        orphanGraceMs: 0,
      },
    );
    this.#exits = new ServerExits(context, [], exitPort);
    this.#sandboxes = new ServerSandboxes({
      sandboxes,
      openExit: (server) => this.#exits.open(server),
      mode: config.sandbox.mode,
      places: context,
    });
  }

  /** Returns the function that starts programs of a package. */
  startOf(owner: ProgramOwner): StartProgram {
    const { toolId, folder } = owner;
    const { scrubber } = this.#context;
    const contained = toContained(owner);
    // The folder can be below the home, which no sandbox shows.
    const contain = this.#sandboxes.containmentOf(contained, async (request) => ({ request, folder }));
    return async ({ command, args }, { signal }) => {
      const launched = await this.#launcher.launch(
        {
          command,
          args,
          env: programEnv,
          cwd: folder,
          label: contained.id,
          isTask: true,
          contain,
          scrub: (line) => scrubber.text(line),
        },
        { signal },
      );
      this.#warnIfUncontained(toolId, this.#sandboxes.stateOf(contained)?.reason);
      return launched;
    };
  }

  /** The containment of the programs of a package; before the first start, the required one. */
  stateOf(owner: ProgramOwner): ContainmentState | undefined {
    return this.#sandboxes.stateOf(toContained(owner));
  }

  /** Whether a program of a package that ran cannot have changed anything that is still there. */
  leavesNothing(owner: ProgramOwner): boolean {
    const { networkEgress, filesystemWrite, hasState } = owner.config.effective;
    if (networkEgress !== "deny" || filesystemWrite !== "deny" || hasState) return false;
    const state = this.stateOf(owner);
    return state !== undefined && state.tier !== "none" && state.notEnforced.length === 0;
  }

  /**
   * Runs `work` when there is a place for another process; callers take turns.
   *
   * @throws {McpkgRuntimeError} `PACKAGE_BUSY`; the reason of the call's signal; what `recheck` of the call throws after a wait.
   */
  readonly withPlace = async <Value>(context: CallContext, work: () => Promise<Value>): Promise<Value> => {
    const holder = identityKey(context.identity);
    const entry = this.#places.enter(holder, context.signal);
    if (entry === "full" || entry === "share") {
      throw new McpkgRuntimeError("PACKAGE_BUSY", "Too many programs of packages run and wait", {
        hint: "call again later; sandbox.max_package_programs is the limit of programs that run at a time",
      });
    }
    if (entry !== "entered") await entry;
    try {
      // What allowed the call can have changed while it waited.
      if (entry !== "entered") context.recheck?.();
      return await work();
    } finally {
      this.#places.leave(holder);
    }
  };

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#launcher[Symbol.asyncDispose]();
    await this.#exits[Symbol.asyncDispose]();
  }

  #warnIfUncontained(toolId: string, reason: string | undefined): void {
    if (reason === undefined || this.#uncontained.has(toolId)) return;
    this.#uncontained.add(toolId);
    this.#context.logger.warn(
      { package: toolId, reason },
      "package runs UNCONTAINED (sandbox.mode: preferred)",
    );
  }
}

/** A package as its sandbox sees it: a process with the containment of its entry. */
function toContained({ toolId, config }: ProgramOwner): ContainedServer {
  const { networkEgress, filesystemWrite } = config.effective;
  const bySandbox = [
    ...(networkEgress === "allow" ? [] : (["network_egress"] as const)),
    ...(filesystemWrite === "allow" ? [] : (["filesystem_write"] as const)),
  ];
  return {
    id: `package:${toolId}`,
    transport: { kind: "stdio" },
    // Paths of packages are complete by now.
    source: { name: "/" },
    containment: {
      needsSandbox: config.trustState === "unverified" || bySandbox.length > 0,
      bySandbox,
      // The publisher and the callers write the arguments: they show a program nothing.
      effective: { ...config.effective, readsArguments: false },
    },
  };
}
