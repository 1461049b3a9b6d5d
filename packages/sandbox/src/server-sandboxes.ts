/**
 * The sandboxes of processes that a configuration starts, of tool servers, packages and hooks: which of them needs
 * one, what its containment means for a process, and what of it is in force.
 *
 * A server whose sandbox cannot be built does not start, unless `sandbox.mode` is
 * `preferred`; then it starts uncontained, and its state says why.
 */

import { existsSync, realpathSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { isCodedError, messageOf } from "@toolcrib/diagnostics";
import { makePrivateDirectory } from "@toolcrib/files";
import type { ContainmentPart } from "@toolcrib/policy";
import type { ContainedRequest, LaunchSpec, SpawnRequest } from "@toolcrib/process";
import { entriesOf, statusOf } from "./look-up.ts";
import { SandboxError } from "./sandbox-error.ts";
import { defaultSandboxLimits, type SandboxPolicy } from "./sandbox-policy.ts";
import type { Sandboxes } from "./sandboxes.ts";

/** The containment of the process of a server, as it is in force. */
export interface ContainmentState {
  /** The tier of its sandbox; `none` for a process that runs without one. */
  readonly tier: string;
  /** Parts of its containment that its sandbox enforces. */
  readonly enforced: readonly ContainmentPart[];
  /** Parts of its containment that nothing enforces. */
  readonly notEnforced: readonly ContainmentPart[];
  /** Why there is no sandbox although it needs one, and how to get it. */
  readonly reason?: string | undefined;
  /** Whether its scoped network has no names (DNS) until its next start, because the trial of one had no result. */
  readonly lacksNames?: boolean | undefined;
}

/** The part of a server that its sandbox depends on. */
export interface ContainedServer {
  readonly id: string;
  /** A process has the transport `stdio`; `cwd` is set where it names its working folder. */
  readonly transport: { readonly kind: string; readonly cwd?: unknown };
  /** The file that declares it: relative paths are relative to its folder. */
  readonly source: { readonly name: string };
  readonly containment: {
    readonly needsSandbox: boolean;
    /** Parts that a sandbox enforces. */
    readonly bySandbox: readonly ContainmentPart[];
    readonly effective: {
      readonly networkEgress: SandboxPolicy["network"];
      readonly filesystemWrite: SandboxPolicy["network"];
      /** Hosts; used when `networkEgress` is `scoped`. */
      readonly egressAllow: readonly string[];
      /** Those of `egressAllow` whose TLS the proxy does not read. */
      readonly egressPassthrough: readonly string[];
      /** Folders; used when `filesystemWrite` is `scoped`. */
      readonly writePaths: readonly string[];
      readonly readPaths: readonly string[];
      /** Whether it sees what its arguments name; not where somebody else wrote them. @default true */
      readonly readsArguments?: boolean | undefined;
      /** Whether the process keeps a private folder as its home from one start to the next. */
      readonly hasState: boolean;
    };
  };
}

/** The network exit of one process with a scoped network. Disposing closes it. */
interface ProcessExit extends AsyncDisposable {
  /** Variables for the program, by their names. */
  readonly variables: { readonly [name: string]: string };
  /** Files that its sandbox has in addition, by their paths. */
  readonly files: ReadonlyMap<string, string>;
  /** Further listeners that it serves. */
  readonly places: NonNullable<SandboxPolicy["listeners"]>;
  readonly takeListener: NonNullable<ContainedRequest["takeListener"]>;
}

type OpenExit = (server: ContainedServer) => Promise<ProcessExit>;

/** A process that gets placeholders in place of secrets. It never runs uncontained. */
export interface SealedProcess {
  /** Reads its secrets once, for a new start. @throws {CodedError} for a missing secret */
  seal(): Promise<{
    /** Variables with the placeholders. */
    readonly variables: { readonly [name: string]: string };
    /** Opens an exit that inserts the secrets. */
    readonly openExit: OpenExit;
  }>;
}

/** Replaces a package runner by the program of the fetched package. @returns undefined where the program is none */
type FindProgram = (
  asked: SpawnRequest,
  options: { readonly signal: AbortSignal },
) => Promise<{ readonly request: SpawnRequest; readonly folder: string } | undefined>;

/** Places that decide what a sandbox hides. */
export interface SandboxPlaces {
  /** The home of the gateway. */
  readonly home: string;
  readonly env: { readonly [name: string]: string | undefined };
  /** Files that the configuration was read from. */
  readonly configFiles: readonly string[];
  /** Returns the policy files in force. @default none */
  readonly policyFiles?: (() => readonly string[]) | undefined;
  /** Folder that relative paths are relative to. */
  readonly directory: string;
}

/** Folders and files below a user's home that contain credentials. */
const credentialPaths = [
  ...[".ssh", ".aws", ".azure", ".gnupg", ".kube", ".docker", ".password-store", ".vault-token"],
  ...[".netrc", ".npmrc", ".pypirc", ".git-credentials", ".pgpass", ".my.cnf", ".cargo/credentials.toml"],
  ...[".config/gcloud", ".config/gh", ".config/git/credentials", ".config/containers", ".config/op"],
  ...[".config/google-chrome", ".config/chromium", ".mozilla", ".thunderbird", "Library/Keychains"],
  ...[".local/share/keyrings", ".terraform.d", ".claude", ".claude.json", ".codex", ".toolcrib"],
];

/** Dependencies of the sandboxes. */
export interface ServerSandboxesDeps {
  readonly sandboxes: Sandboxes;
  /** Opens the exit of a process with a scoped network. */
  readonly openExit: OpenExit;
  /** `sandbox.mode` of the configuration. */
  readonly mode: "required" | "preferred";
  readonly places: SandboxPlaces;
}

/** The sandboxes of the servers of one gateway. */
export class ServerSandboxes {
  readonly #sandboxes: Sandboxes;
  readonly #mode: "required" | "preferred";
  readonly #places: SandboxPlaces;
  readonly #openExit: OpenExit;
  readonly #states = new Map<string, ContainmentState>();

  constructor({ sandboxes, openExit, mode, places }: ServerSandboxesDeps) {
    this.#sandboxes = sandboxes;
    this.#openExit = openExit;
    this.#mode = mode;
    this.#places = places;
  }

  /**
   * Returns the hook for each launch of `server`: it replaces a package runner by the program of the fetched package,
   * and contains the process where the server needs a sandbox.
   *
   * @param findProgram finds the programs of packages
   * @param sealedProcess the process of an adopted server
   */
  containmentOf(
    server: ContainedServer,
    findProgram: FindProgram,
    sealedProcess?: SealedProcess,
  ): LaunchSpec["contain"] {
    return async (asked, options) => {
      // It is not even fetched without a sandbox.
      if (sealedProcess !== undefined && this.#mode === "preferred") await this.#requireSandbox();
      const sealed = await sealedProcess?.seal();
      const found = await findProgram(asked, options);
      const request = found?.request ?? asked;
      const uncontained = { request, async [Symbol.asyncDispose]() {} };
      if (!server.containment.needsSandbox) return uncontained;
      const { bySandbox, effective } = server.containment;
      await using resources = new AsyncDisposableStack();
      try {
        const directory = request.directory ?? this.#places.directory;
        const policy = await this.#policyOf(server, directory);
        const own = found === undefined ? [] : [found.folder];
        const exit =
          effective.networkEgress === "scoped"
            ? await (sealed?.openExit ?? this.#openExit)(server)
            : undefined;
        if (exit !== undefined) resources.use(exit);
        const prepared = await this.#sandboxes.prepare(
          { ...request, env: { ...request.env, ...exit?.variables, ...sealed?.variables } },
          {
            ...policy,
            readPaths: [...policy.readPaths, ...own],
            ownPaths: [...(policy.ownPaths ?? []), ...own],
            files: exit?.files ?? new Map(),
            listeners: exit?.places ?? [],
          },
          options,
        );
        resources.use(prepared);
        const { tier, lacksNames } = prepared;
        this.#states.set(server.id, { tier, enforced: bySandbox, notEnforced: [], lacksNames });
        const held = resources.move();
        return {
          request: prepared.request,
          ...(exit === undefined ? {} : { takeListener: exit.takeListener }),
          [Symbol.asyncDispose]: () => held.disposeAsync(),
        };
      } catch (error) {
        const isMissing = isCodedError(error) && error.code === "SANDBOX_UNAVAILABLE";
        if (!isMissing || this.#mode === "required" || sealedProcess !== undefined) throw error;
        const reason = error.hint === undefined ? error.message : `${error.message}; ${error.hint}`;
        this.#states.set(server.id, { tier: "none", enforced: [], notEnforced: bySandbox, reason });
        return uncontained;
      }
    };
  }

  /** @throws {SandboxError} `SANDBOX_UNAVAILABLE` */
  async #requireSandbox(): Promise<void> {
    const tiers = await this.#sandboxes.check();
    if (tiers.some(({ isAvailable }) => isAvailable)) return;
    throw new SandboxError(
      "SANDBOX_UNAVAILABLE",
      "This machine has no sandbox, and a server that a manifest adopts never runs without one",
      { hint: "run toolcrib sandbox check, which says what is missing and how to get it" },
    );
  }

  /** Returns the containment of the process of `server`; before its first start, the one that it must have. */
  stateOf({ id, transport, containment }: ContainedServer): ContainmentState | undefined {
    if (transport.kind !== "stdio") return undefined;
    const { needsSandbox, bySandbox } = containment;
    const none = { tier: "none", enforced: [], notEnforced: [] };
    if (!needsSandbox) return none;
    const isCertain = this.#mode === "required";
    const expected = { tier: "sandbox", enforced: bySandbox, notEnforced: [] };
    return this.#states.get(id) ?? (isCertain ? expected : { ...none, notEnforced: bySandbox });
  }

  /** Forgets the state of a server that has left. */
  forget(id: string): void {
    this.#states.delete(id);
  }

  /** Returns the ids of the servers that run without the sandbox that they need, and why. */
  uncontained(): readonly { readonly id: string; readonly reason: string }[] {
    return [...this.#states].flatMap(([id, { reason }]) => (reason === undefined ? [] : [{ id, reason }]));
  }

  /** Returns the absolute paths that the configuration of a server lets it read, or read and write. */
  namedPaths(server: ContainedServer): readonly string[] {
    const { read, written } = this.#namedPathsOf(server);
    return [...read, ...written];
  }

  #namedPathsOf(server: ContainedServer): { readonly read: string[]; readonly written: string[] } {
    const { readPaths, writePaths } = server.containment.effective;
    const folder = dirname(resolve(this.#places.directory, server.source.name));
    const complete = (path: string): string =>
      path.startsWith("~/") ? join(this.userHome(), path.slice(2)) : resolve(folder, path);
    return { read: readPaths.map(complete), written: writePaths.map(complete) };
  }

  async #policyOf(server: ContainedServer, directory: string): Promise<SandboxPolicy> {
    const { networkEgress, filesystemWrite, hasState, readsArguments } = server.containment.effective;
    const userHome = this.userHome();
    const { read, written } = this.#namedPathsOf(server);
    // The operator named them: a missing one is created, as the server itself would do.
    for (const path of written) await makeFolder(path);
    const isFree = filesystemWrite === "allow";
    const { transport } = server;
    const cwd = transport.kind === "stdio" && transport.cwd !== undefined ? [directory] : [];
    return {
      network: networkEgress,
      readPaths: [...read, ...(isFree ? [] : cwd)],
      writePaths: isFree ? [userHome, ...cwd] : written,
      readsArguments,
      // An imported bundle is in the home, which is hidden, and has its own folder there.
      ownPaths: dirname(directory) === join(this.#places.home, "bundles") ? [directory] : [],
      home: hasState
        ? { path: await this.#stateFolder(server.id) }
        : isFree
          ? { path: userHome }
          : "temporary",
      hiddenPaths: this.hiddenPaths(),
      limits: defaultSandboxLimits,
    };
  }

  /** The home of the user that the gateway runs as. */
  userHome(): string {
    return userHomeOf(this.#places.env);
  }

  /** Creates the private folder that a server keeps from one start to the next. */
  async #stateFolder(id: string): Promise<string> {
    const folder = join(this.#places.home, "state", id);
    await makePrivateDirectory(folder);
    return folder;
  }

  /** Returns the paths that no process of a server which starts now sees, as `hiddenPathsOf` does. */
  hiddenPaths(): readonly string[] {
    return hiddenPathsOf(this.#places);
  }
}

async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true });
  } catch (error) {
    throw new SandboxError(
      "SANDBOX_PATH_REFUSED",
      `The write path "${path}" is no folder that can be written`,
      {
        hint: `create this folder, or name another one (${messageOf(error)})`,
        cause: error,
      },
    );
  }
}

/**
 * Returns the paths that no contained process sees: the gateway's home, the files of its configuration and policies
 * with the `.env` files beside them, and credentials.
 */
export function hiddenPathsOf({
  home,
  configFiles,
  policyFiles,
  directory,
  env,
}: SandboxPlaces): readonly string[] {
  const userHome = userHomeOf(env);
  const files = [...configFiles, ...(policyFiles?.() ?? [])].map((file) => resolve(directory, file));
  return [
    home,
    ...files,
    ...environmentFilesBeside(files),
    ...credentialPaths.map((path) => join(userHome, path)),
  ];
}

/**
 * Returns the files named `.env` or `.env.*` in the folders of `files`: the variables of a gateway, with its secrets,
 * often come from there. A folder of this name is none, such as the virtual environment of a server.
 */
function environmentFilesBeside(files: readonly string[]): readonly string[] {
  const folders = new Set(files.flatMap((file) => [dirname(file), dirname(realPathOf(file))]));
  return [...folders].flatMap((folder) =>
    entriesOf(folder, Number.POSITIVE_INFINITY)
      .filter(({ name }) => name === ".env" || name.startsWith(".env."))
      .map(({ name }) => join(folder, name))
      .filter((path) => statusOf(path)?.isDirectory() === false),
  );
}

function realPathOf(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}

/** The home of the user that the gateway runs as. */
function userHomeOf({ HOME }: SandboxPlaces["env"]): string {
  return HOME === undefined || HOME === "" ? homedir() : HOME;
}
