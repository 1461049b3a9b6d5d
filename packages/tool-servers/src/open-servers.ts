/**
 * The tool servers of a configuration as sources. They start in parallel, and
 * nothing waits for them: a server that fails disturbs no other.
 */

import {
  containmentLine,
  type GatewayConfig,
  resolveTransport,
  SecretResolver,
  type ToolServerConfig,
} from "@toolcrib/config";
import type { PreparedSources } from "@toolcrib/config-changes";
import type { Logger } from "@toolcrib/diagnostics";
import { ServerExits } from "@toolcrib/egress";
import { readRegularFile } from "@toolcrib/files";
import type { SourceDetails, SourceFacts } from "@toolcrib/inventory";
import type { AccessTokens } from "@toolcrib/oauth";
import { believe } from "@toolcrib/policy";
import { FetchSandbox, PackageStore } from "@toolcrib/runners";
import { adviceOn, exitPort, ServerSandboxes } from "@toolcrib/sandbox";
import { clientArgument, type Health, identityKey } from "@toolcrib/tool";
import {
  createUpstreamServer,
  DefinitionMemory,
  ParkedCalls,
  type ServerMemory,
  type UpstreamServer,
} from "@toolcrib/upstream";
import { adoptedDetails, adoptedProcessOf, adoptedTools, warnOfDifferences } from "./adopted-servers.ts";
import type { OAuthServers } from "./oauth-servers.ts";
import { type OpenServer, ServerSources } from "./server-sources.ts";
import type { ServersContext } from "./servers-context.ts";

/** Calls of all servers that wait for answers of their clients; one client gets at most half of them. */
const maxParkedCalls = 256;

/** Lowest limit of a message, in bytes: a list of tools can be larger than the results that are allowed. */
const messageMinLimitBytes = 8 * 1024 * 1024;

/** The tool servers of a gateway. Disposing them waits for what they started. */
export interface OpenedServers extends AsyncDisposable {
  /** Makes first contact with each. Resolves whether it succeeds or not, and never rejects. */
  start(): Promise<unknown>;
  /** Prepares the servers of another configuration. Until `commit`, nothing changes. */
  prepare(config: GatewayConfig): Promise<PreparedSources>;
}

/** Opens the servers of `tool_servers`. */
export async function openServers(context: ServersContext): Promise<OpenedServers> {
  const { config, home } = context;
  const serverIds = config.toolServers.map(({ id }) => id);
  const exits = new ServerExits(context, serverIds, exitPort);
  const parkedPlaces = ParkedCalls.places(
    context.upstreamLimits?.maxParkedCalls ?? maxParkedCalls,
    context.now,
  );
  const sandboxes = new ServerSandboxes({
    sandboxes: context.sandboxes,
    openExit: (server) => exits.open(server),
    mode: config.sandbox.mode,
    places: context,
  });
  const closing = new AbortController();
  const shared: ServerDeps = {
    sandboxes,
    exits,
    packages: openPackages({ sandboxes, exits }, context, closing.signal),
    parkedPlaces,
    oauth: config.toolServers.some(usesOAuth) ? await openLogins(context) : undefined,
  };
  const memory = new DefinitionMemory(`${home}/definitions`, context);
  const servers = new ServerSources(context, (server, remembered) =>
    openServer(server, remembered, shared, context),
  );
  await servers.open(memory);
  return {
    async start() {
      await servers.start();
      warnOfUncontained(sandboxes, context.logger);
    },
    async prepare(next) {
      shared.oauth ??= next.toolServers.some(usesOAuth) ? await openLogins(context) : undefined;
      const prepared = await servers.prepare(next);
      return {
        ...prepared,
        async start() {
          const known = new Set(sandboxes.uncontained().map(({ id }) => id));
          await prepared.start();
          warnOfUncontained(sandboxes, context.logger, known);
        },
      };
    },
    async [Symbol.asyncDispose]() {
      closing.abort();
      await servers[Symbol.asyncDispose]();
      await exits[Symbol.asyncDispose]();
      await shared.oauth?.[Symbol.asyncDispose]();
    },
  };
}

/** Opens one server, which is not started. */
function openServer(
  server: ToolServerConfig,
  memory: ServerMemory,
  shared: ServerDeps,
  context: ServersContext,
): OpenServer {
  const { logger } = context;
  const { oauth, exits, sandboxes } = shared;
  const current = { server };
  exits.name(server.id);
  const tokens = oauth?.addServer(server);
  const upstream = createServer(current, memory, tokens, shared, context);
  const { notEnforced } = server.containment;
  for (const warning of server.notEnforced) logger.warn({ server: server.id, notEnforced }, warning);
  warnOfDifferences(server, upstream, logger);
  if (tokens !== undefined) oauth?.logins.onChange(tokens, (change) => upstream.credentialsChanged(change));
  return {
    current,
    upstream,
    memory,
    facts: (declared) => factsOf(declared, upstream, { sandboxes, tokens }),
    forget: (isIdFree) => {
      if (tokens !== undefined) oauth?.logins.remove(tokens);
      if (!isIdFree) return;
      exits.forget(server.id);
      sandboxes.forget(server.id);
    },
  };
}

async function openLogins(context: ServersContext): Promise<OAuthServers> {
  return await (await import("./oauth-servers.ts")).openOAuthServers(context);
}

/** The parts that the servers of one gateway share. */
interface ServerDeps {
  readonly sandboxes: ServerSandboxes;
  readonly exits: ServerExits;
  readonly packages: PackageStore;
  /** Calls that wait for answers of their clients. */
  readonly parkedPlaces: ReturnType<typeof ParkedCalls.places>;
  oauth: OAuthServers | undefined;
}

/** Whether clients use logins or secrets of their own. */
function isPerIdentity({ transport }: ToolServerConfig): boolean {
  if (transport.kind === "stdio") return false;
  const refs = Object.values(transport.headers).map((one) => (one.kind === "secret" ? one.ref : undefined));
  return (
    transport.auth?.per === "identity" || refs.some((ref) => ref?.kind === "store" && ref.per === "identity")
  );
}

function usesOAuth({ transport }: ToolServerConfig): boolean {
  return transport.kind !== "stdio" && transport.auth !== undefined;
}

/** The packages that servers launch through package runners. @param signal ends fetches */
function openPackages(
  { sandboxes, exits }: Pick<ServerDeps, "sandboxes" | "exits">,
  context: ServersContext,
  signal: AbortSignal,
): PackageStore {
  const { config, home, env, launcher, logger, now, randomBytes } = context;
  const sandbox = new FetchSandbox({
    launcher,
    sandboxes: context.sandboxes,
    mode: config.sandbox.mode,
    env,
    userHome: sandboxes.userHome(),
    hiddenPaths: sandboxes.hiddenPaths(),
    signal,
    registryHosts: config.sandbox.registryHosts,
    openExit: exits.openFetch,
  });
  return new PackageStore({ folder: `${home}/fetched`, sandbox, logger, now, randomBytes });
}

/** Warns in one line about the servers that run without the sandbox that they need. */
function warnOfUncontained(
  sandboxes: ServerSandboxes,
  logger: Logger,
  known: ReadonlySet<string> = new Set(),
): void {
  const uncontained = sandboxes.uncontained().filter(({ id }) => !known.has(id));
  if (uncontained.length === 0) return;
  const reasons = [...new Set(uncontained.map(({ reason }) => reason))];
  logger.warn(
    { servers: uncontained.map(({ id }) => id), reasons },
    "servers run UNCONTAINED (sandbox.mode: preferred)",
  );
}

/** @param current the declaration in force: what is no part of the connection can change while the server runs */
function createServer(
  current: OpenServer["current"],
  memory: ServerMemory,
  tokens: AccessTokens | undefined,
  { sandboxes, exits, packages, parkedPlaces, oauth }: ServerDeps,
  context: ServersContext,
): UpstreamServer {
  const { server } = current;
  const { home, env, scrubber, launcher, httpClient, logger, now, random, startBackgroundTimer, serverInfo } =
    context;
  const {
    maxCallsPerServer: maxConcurrentCalls,
    maxQueuedCallsPerServer: maxQueuedCalls,
    resultMaxBytes,
  } = context.config.serve.limits;
  // A message can be longer than its result: characters are escaped.
  const messageMaxBytes = Math.max(resultMaxBytes * 2, messageMinLimitBytes);
  // Each server has a resolver of its own, so that a secret is known by the server that uses it.
  const secrets = new SecretResolver({ env, readFile: readRegularFile, home });
  let fetching: () => Pick<Health, "fetchedBytes"> | undefined = () => undefined;
  const record = server.adopted?.files?.record ?? (server.adopted === undefined ? undefined : {});
  return createUpstreamServer(
    {
      id: server.id,
      kind: server.transport.kind,
      tags: [],
      scrub: (text) => scrubber.text(text),
      get isUntrusted() {
        return current.server.trustState === "unverified";
      },
      get shownAs() {
        return shownAs(current.server);
      },
      isInteractive: server.isInteractive,
      isRepeatable: (annotations) => believe(current.server, annotations).isIdempotent,
      protocol: server.transport.protocol,
      advise: adviserOf(server, sandboxes),
      contain: sandboxes.containmentOf(
        server,
        async (asked, options) => {
          const onFetch = (receivedBytes: () => number | undefined) => {
            fetching = () => ({ fetchedBytes: receivedBytes() });
          };
          try {
            return await packages.toRequest(asked, { ...options, record, onFetch });
          } finally {
            if (!options.signal.aborted) fetching = () => undefined;
          }
        },
        adoptedProcessOf(server, secrets, exits, context),
      ),
      fetching: () => fetching(),
      ...adoptedTools(server),
      askForLogin: tokens && (({ identity }, isDown) => oauth?.logins.askForLogin(tokens, identity, isDown)),
      credentialsFor: tokens && ((identity) => tokens.credentialsFor(identity)),
      isPerIdentity: isPerIdentity(server),
      idleMs: server.idleSeconds === undefined ? undefined : server.idleSeconds * 1000,
      remembered: memory.remembered,
      // The secrets of the server are known by now. At the next start they are not, when its definitions are listed.
      remember: (definitions) => memory.save(scrubber.value(definitions)),
      async resolveTransport(identity) {
        const owner = identity && { key: identityKey(identity), name: clientArgument(identity) };
        try {
          return await resolveTransport(server, secrets, undefined, owner);
        } finally {
          for (const value of secrets.values()) scrubber.learn(server.id, value);
        }
      },
    },
    { launcher, httpClient, logger, now, random, startBackgroundTimer, parkedPlaces, clientInfo: serverInfo },
    { messageMaxBytes, maxConcurrentCalls, maxQueuedCalls, ...context.upstreamLimits },
  );
}

/** The parts of a server that its status describes. */
interface DescribedParts {
  readonly sandboxes: ServerSandboxes;
  readonly tokens: AccessTokens | undefined;
}

function factsOf(
  server: ToolServerConfig,
  upstream: UpstreamServer,
  parts: DescribedParts,
): Partial<SourceFacts> {
  const { sandboxes } = parts;
  const { id, labels, containment, transport } = server;
  return {
    configured: {
      group: "servers",
      transport: transport.kind,
      details: () => detailsOf(server, upstream, parts),
      log: (lineCount) => upstream.stderrTail(lineCount),
      release: () => upstream.release(),
    },
    backendKind: "mcp",
    callsTools: false,
    coercesArguments: server.validation === "upstream",
    deadlineMs: containment.effective.maxExecutionSeconds * 1000,
    deadlineSetting: `containment.max_execution_seconds of the tool server "${id}"`,
    containment: () => sandboxes.stateOf(server)?.tier ?? "deadline",
    trust: {
      trustState: server.trustState,
      mutabilityClass: server.mutabilityClass,
      transport: transport.kind,
      denied: containment.judged,
    },
    pinning: {
      trustState: server.trustState,
      firstContact: server.firstContact,
      pinsResources: server.pinsResources,
    },
    advise: adviserOf(server, sandboxes),
    labels,
    dataLabels: server.dataLabels,
    egressHosts: egressHostsOf(server),
  };
}

/** Returns the function that gives advice about failures of a contained server. */
function adviserOf(server: ToolServerConfig, sandboxes: ServerSandboxes): SourceFacts["advise"] {
  const { transport } = server;
  const facts = {
    server,
    args:
      transport.kind === "stdio" ? transport.args.map((one) => (one.kind === "literal" ? one.text : "")) : [],
    lineFor: (addition: Parameters<typeof containmentLine>[1]) => containmentLine(server, addition),
    isContained: () => sandboxes.stateOf(server)?.tier !== "none",
    namedPaths: sandboxes.namedPaths(server),
    hiddenPaths: sandboxes.hiddenPaths(),
    userHome: sandboxes.userHome(),
  };
  return server.containment.needsSandbox ? (text) => adviceOn(text, facts) : undefined;
}

function detailsOf(
  server: ToolServerConfig,
  upstream: UpstreamServer,
  { sandboxes, tokens }: DescribedParts,
): SourceDetails {
  const { name, trustState, mutabilityClass, containment } = server;
  const { networkEgress, filesystemWrite, maxExecutionSeconds, egressPassthrough } = containment.effective;
  const { protocolVersion, serverInfo, pid, restarts, clientSessions } = upstream.facts();
  const sandbox = sandboxes.stateOf(server);
  const notEnforced = [...containment.notEnforced, ...(sandbox?.notEnforced ?? [])];
  return {
    ...(name === undefined ? {} : { name }),
    trustState,
    mutabilityClass,
    containment: {
      networkEgress,
      filesystemWrite,
      maxExecutionSeconds,
      ...(egressPassthrough.length === 0 ? {} : { frontingHosts: egressPassthrough }),
      ...(sandbox === undefined ? {} : { tier: sandbox.tier }),
      ...(sandbox?.reason === undefined ? {} : { uncontainedReason: sandbox.reason }),
      ...(sandbox?.lacksNames === true ? { lacksNames: true } : {}),
      enforced: notEnforced.length === 0,
      enforcedParts: [...(sandbox?.enforced ?? []), ...containment.enforced],
      notEnforcedParts: notEnforced,
      judgedParts: containment.judged,
    },
    ...adoptedDetails(server, upstream),
    ...loginDetails(tokens),
    protocolVersion,
    serverInfo,
    pid,
    restarts,
    ...(clientSessions === 0 ? {} : { clientSessions }),
  };
}

/** The state of the login that a server's tools are listed with. */
function loginDetails(tokens: AccessTokens | undefined): Pick<SourceDetails, "login"> {
  if (tokens === undefined) return {};
  const { kind = "login needed", issuer, expiresAt, scopes = [] } = tokens.state() ?? {};
  const ends = expiresAt === undefined ? undefined : new Date(expiresAt).toISOString();
  return { login: { state: kind, issuer, scopes, accessTokenEnds: ends } };
}

/** The host that a server is at, or those of its manifest; undefined for another process, which can connect to any. */
function egressHostsOf({ transport, adopted }: ToolServerConfig): readonly string[] | undefined {
  if (adopted?.files !== undefined) return adopted.files.manifest.entitlements?.egress ?? [];
  if (transport.kind === "stdio") return undefined;
  const { url } = transport;
  const text = url.kind === "literal" ? url.text.trim() : "";
  return URL.canParse(text) ? [new URL(text).hostname] : undefined;
}

/** The name by which people recognize requests of a server; a certified one speaks for itself. */
function shownAs({ id, trustState }: Pick<ToolServerConfig, "id" | "trustState">): string | undefined {
  if (trustState === "certified") return undefined;
  return `Server "${id}"${trustState === "unverified" ? " (unverified)" : ""}`;
}
