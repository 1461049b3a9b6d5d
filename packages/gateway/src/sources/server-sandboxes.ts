/**
 * The sandboxes of the tool servers that are processes: which server needs one,
 * what its containment means for a process, and what of it is in force. The
 * package `sandbox` builds them.
 *
 * A server whose sandbox cannot be built does not start, unless `sandbox.mode` is
 * `preferred`; then it starts uncontained, and its state says why.
 */

import { mkdir } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { ToolServerConfig } from "@toolcrib/config";
import { isCodedError } from "@toolcrib/diagnostics";
import { makePrivateDirectory } from "@toolcrib/files";
import type { ContainmentPart } from "@toolcrib/policy";
import type { LaunchSpec } from "@toolcrib/process";
import type { PackageRecord, PackageStore } from "@toolcrib/runners";
import { defaultSandboxLimits, type Sandboxes, type SandboxPolicy } from "@toolcrib/sandbox";
import { GatewayError } from "../gateway-error.ts";
import type { SealedCredentials } from "./adopted-servers.ts";
import type { ServerExits } from "./server-exits.ts";

/** What contains the process of a server. */
export interface ContainmentState {
  /** The tier of its sandbox; `none` for a process that runs without one. */
  readonly tier: string;
  /** Parts of its containment that its sandbox enforces. */
  readonly enforced: readonly ContainmentPart[];
  /** Parts of its containment that nothing enforces. */
  readonly notEnforced: readonly ContainmentPart[];
  /** Why there is no sandbox although it needs one, and how to get it. */
  readonly reason?: string | undefined;
}

/** The part of a server that its sandbox depends on. */
export interface ContainedServer extends Pick<ToolServerConfig, "id" | "transport" | "source"> {
  readonly containment: Pick<ToolServerConfig["containment"], "bySandbox" | "effective" | "needsSandbox">;
}

/** What the process of an adopted server gets in addition. */
export interface AdoptedProcess {
  /** What its manifest records about the package. */
  readonly record: PackageRecord;
  /** Reads its sealed secrets once, and returns them with new placeholders. @throws {CodedError} for a missing secret */
  readonly seal: () => Promise<SealedCredentials>;
}

/** Places that decide what a sandbox hides. */
export interface SandboxPlaces {
  /** The home of the gateway. */
  readonly home: string;
  readonly env: { readonly [name: string]: string | undefined };
  readonly configFiles: readonly string[];
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
  readonly exits: ServerExits;
  /** `sandbox.mode` of the configuration. */
  readonly mode: "required" | "preferred";
  readonly places: SandboxPlaces;
}

/** The sandboxes of the servers of one gateway. */
export class ServerSandboxes {
  readonly #sandboxes: Sandboxes;
  readonly #mode: "required" | "preferred";
  readonly #places: SandboxPlaces;
  readonly #exits: ServerExits;
  readonly #states = new Map<string, ContainmentState>();

  constructor({ sandboxes, exits, mode, places }: ServerSandboxesDeps) {
    this.#sandboxes = sandboxes;
    this.#exits = exits;
    this.#mode = mode;
    this.#places = places;
  }

  /**
   * Returns the hook for each launch of `server`: it replaces a package runner by the program of the fetched package,
   * and contains the process where the server needs a sandbox.
   *
   * @param packages the packages that runners launch
   * @param adopted the process of an adopted server, which never runs uncontained
   */
  containmentOf(
    server: ContainedServer,
    packages: Pick<PackageStore, "toRequest">,
    adopted?: AdoptedProcess,
  ): LaunchSpec["contain"] {
    return async (asked, options) => {
      // It is not even fetched without a sandbox.
      if (adopted !== undefined && this.#mode === "preferred") await this.#requireSandbox();
      const sealed = await adopted?.seal();
      const found = await packages.toRequest(asked, { ...options, record: adopted?.record });
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
            ? await this.#exits.open(server, sealed?.credentials)
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
        this.#states.set(server.id, { tier: prepared.tier, enforced: bySandbox, notEnforced: [] });
        const held = resources.move();
        return {
          request: prepared.request,
          ...(exit === undefined ? {} : { takeListener: exit.takeListener }),
          [Symbol.asyncDispose]: () => held.disposeAsync(),
        };
      } catch (error) {
        const isMissing = isCodedError(error) && error.code === "SANDBOX_UNAVAILABLE";
        if (!isMissing || this.#mode === "required" || adopted !== undefined) throw error;
        const reason = error.hint === undefined ? error.message : `${error.message}; ${error.hint}`;
        this.#states.set(server.id, { tier: "none", enforced: [], notEnforced: bySandbox, reason });
        return uncontained;
      }
    };
  }

  /** @throws {GatewayError} `SANDBOX_UNAVAILABLE` */
  async #requireSandbox(): Promise<void> {
    const tiers = await this.#sandboxes.check();
    if (tiers.some(({ isAvailable }) => isAvailable)) return;
    throw new GatewayError(
      "SANDBOX_UNAVAILABLE",
      "This machine has no sandbox, and a server that a manifest adopts never runs without one",
      { hint: "run toolcrib sandbox check, which says what is missing and how to get it" },
    );
  }

  /** Returns what contains the process of `server`; what must contain it, before its first start. */
  stateOf({ id, transport, containment }: ContainedServer): ContainmentState | undefined {
    if (transport.kind !== "stdio") return undefined;
    const { needsSandbox, bySandbox } = containment;
    const none = { tier: "none", enforced: [], notEnforced: [] };
    if (!needsSandbox) return none;
    const isCertain = this.#mode === "required";
    const expected = { tier: "sandbox", enforced: bySandbox, notEnforced: [] };
    return this.#states.get(id) ?? (isCertain ? expected : { ...none, notEnforced: bySandbox });
  }

  /** Returns the ids of the servers that run without the sandbox that they need, and why. */
  uncontained(): readonly { readonly id: string; readonly reason: string }[] {
    return [...this.#states].flatMap(([id, { reason }]) => (reason === undefined ? [] : [{ id, reason }]));
  }

  async #policyOf(server: ContainedServer, directory: string): Promise<SandboxPolicy> {
    const { networkEgress, filesystemWrite, readPaths, writePaths, hasState } = server.containment.effective;
    const userHome = this.userHome();
    const folder = dirname(resolve(this.#places.directory, server.source.name));
    const complete = (path: string): string =>
      path.startsWith("~/") ? join(userHome, path.slice(2)) : resolve(folder, path);
    const written = writePaths.map(complete);
    // The operator named them: a missing one is created, as the server itself would do.
    for (const path of written) await mkdir(path, { recursive: true });
    const isFree = filesystemWrite === "allow";
    const { transport } = server;
    const cwd = transport.kind === "stdio" && transport.cwd !== undefined ? [directory] : [];
    return {
      network: networkEgress,
      readPaths: [...readPaths.map(complete), ...(isFree ? [] : cwd)],
      writePaths: isFree ? [userHome, ...cwd] : written,
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

  /** Returns what no process of a server sees: the gateway's home, its configuration, and credentials. */
  hiddenPaths(): readonly string[] {
    return hiddenPathsOf(this.#places);
  }
}

/** Returns what no contained process sees: the gateway's home, its configuration, and credentials. */
export function hiddenPathsOf({ home, configFiles, directory, env }: SandboxPlaces): readonly string[] {
  const userHome = userHomeOf(env);
  return [
    home,
    ...configFiles.map((file) => resolve(directory, file)),
    ...credentialPaths.map((path) => join(userHome, path)),
  ];
}

/** The home of the user that the gateway runs as. */
function userHomeOf({ HOME }: SandboxPlaces["env"]): string {
  return HOME === undefined || HOME === "" ? homedir() : HOME;
}
