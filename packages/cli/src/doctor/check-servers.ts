/**
 * Checks the configuration and its servers: that it is valid, that secrets and
 * commands exist, that the port is free, and that each server responds. Never
 * shows a secret.
 */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { ToolServerConfig } from "@toolcrib/config";
import { formatDiagnostics, isCodedError } from "@toolcrib/diagnostics";
import { type Gateway, type GatewayStatus, startGateway } from "@toolcrib/gateway";
import type { SourceStatus } from "@toolcrib/inventory";
import { isJsonObject } from "@toolcrib/json";
import { changedConfigFiles } from "../access/changed-files.ts";
import { getFromGateway } from "../access/gateway-api.ts";
import { gatewayDepsOf } from "../access/gateway-deps.ts";
import { findReachableGateway } from "../access/open-tool-access.ts";
import type { RunningGateway } from "../access/run-file.ts";
import { serversWaitMs } from "../access/server-states.ts";
import { differenceTexts } from "../adopted/difference-lines.ts";
import type { CliContext } from "../cli-context.ts";
import { shortPath } from "../config/find-config-files.ts";
import { type LoadedConfig, loadCliConfig } from "../config/load-cli-config.ts";
import { createCommandLogger } from "../create-command-logger.ts";
import { counted } from "../output/counted.ts";
import { safeLine } from "../output/output.ts";
import { withProgress } from "../progress/progress.ts";
import { pollSources } from "../serve/listed-sources.ts";
import { probeAddress } from "../serve/probe-address.ts";
import { shellQuote } from "../serve/shell-quote.ts";
import { startingText } from "../serve/starting-text.ts";
import { type Finding, failed, ok, unknown, warning } from "./check.ts";
import { anchorFinding, checkAnchors } from "./check-anchors.ts";
import { checkDeclared } from "./check-declared.ts";
import { checkEmbeddings, embeddingsFinding } from "./check-embeddings.ts";
import { checkHooks } from "./check-hooks.ts";
import { checkIssuers } from "./check-issuers.ts";
import { checkLogin } from "./check-login.ts";
import { checkTelemetry, telemetryFindings } from "./check-telemetry.ts";
import { checkExposure, ownerOfPort } from "./check-versions.ts";

/** Checks everything that depends on the configuration. Reports each finding when it is known. @returns the configuration, if it is valid */
export async function checkConfigured(
  context: CliContext,
  report: (finding: Finding) => void,
): Promise<LoadedConfig | undefined> {
  const running = await findReachableGateway(context.options.home);
  const loaded = await loadOrReport(withFilesOf(context, running), report);
  if (loaded === undefined) return undefined;
  const isOther = context.options.configFiles.length > 0;
  const asked = running === undefined || isOther ? undefined : await askGateway(context, running);
  const valid: ToolServerConfig[] = [];
  const reported = new Set<string>();
  for (const server of loaded.config.toolServers) {
    const finding = await checkDeclared(context, `server ${server.id}`, server);
    const shown = asked?.readyIds.has(server.id) === true ? asReady(finding) : finding;
    report(shown);
    if (shown.status === "failed") reported.add(shown.subject);
    const login = await checkLogin(context, loaded.config, server);
    if (login !== undefined) {
      report(login);
      if (login.status === "failed") reported.add(`server ${server.id}`);
    }
    if (finding.status === "ok") valid.push(server);
  }
  for (const finding of await checkHooks(context, loaded.config.hooks)) report(finding);
  for (const finding of checkNetworkVariables(context, loaded.config.toolServers)) report(finding);
  for (const finding of checkAnchors(context, loaded.config.audit.anchor)) report(finding);
  for (const finding of await checkTelemetry(context, loaded.config.telemetry)) report(finding);
  for (const finding of await checkEmbeddings(context, loaded.config.search)) report(finding);
  for (const finding of await checkIssuers(context, loaded.config)) report(finding);
  report(await checkPort(loaded, running));
  for (const finding of checkExposure(loaded.config.serve.listen.host)) report(finding);
  const findings =
    asked?.findings ??
    (await contactServers(context, {
      ...loaded,
      config: { ...withoutSending(loaded.config), toolServers: valid },
    }));
  // A server whose declaration has a problem fails in the running gateway for the same reason.
  for (const finding of findings) {
    if (finding.status !== "failed" || !reported.has(finding.subject)) report(finding);
  }
  return loaded;
}

/** A check sends no telemetry and no definitions. */
function withoutSending(config: LoadedConfig["config"]): LoadedConfig["config"] {
  return { ...config, telemetry: undefined, search: { ...config.search, embeddings: undefined } };
}

/** A server that the running gateway uses works there, whatever this terminal lacks. */
function asReady(finding: Finding): Finding {
  if (finding.status !== "failed") return finding;
  const message = `${finding.message} (seen from this terminal; the running gateway uses the server)`;
  return warning(finding.subject, message, finding.fix);
}

/** Returns the context with the configuration of the running gateway, unless the user names another. */
function withFilesOf(context: CliContext, running: RunningGateway | undefined): CliContext {
  const { options } = context;
  if (running === undefined || options.configFiles.length > 0 || running.configFiles.length === 0)
    return context;
  const configFiles = running.configFiles.map((path) => shortPath(path, context.directory));
  return { ...context, options: { ...options, configFiles } };
}

async function loadOrReport(
  context: CliContext,
  report: (finding: Finding) => void,
): Promise<LoadedConfig | undefined> {
  try {
    const loaded = await loadCliConfig(context);
    const { config, files } = loaded;
    const isUnseen = ({ code }: { readonly code: string }) => code === "CLI_ARGUMENT_UNSEEN";
    const warnings = loaded.warnings.filter((one) => !isUnseen(one));
    const count = config.toolServers.length;
    const specCount = config.toolspecs.length;
    const specs = specCount === 0 ? "" : `, ${counted(specCount, "toolspec")}`;
    const text = `${files.join(", ")}: ${counted(count, "tool server")}${specs}`;
    report(
      warnings.length === 0
        ? ok("configuration", text)
        : warning(
            "configuration",
            `${text}, ${counted(warnings.length, "warning")}`,
            `toolcrib config check ${files.map(shellQuote).join(" ")}`,
          ),
    );
    for (const { message, hint } of loaded.warnings.filter(isUnseen))
      report(warning("containment", message, hint));
    for (const text of new Set(config.toolServers.flatMap(({ notEnforced }) => notEnforced))) {
      report(warning("containment", text));
    }
    for (const { id, containment } of config.toolServers) {
      const { egressPassthrough } = containment.effective;
      if (egressPassthrough.length === 0) continue;
      const text = `Tool server "${id}": TLS to ${egressPassthrough.join(", ")} is passed on unread: fronting possible`;
      report(
        warning(
          "containment",
          text,
          "leave out tls: passthrough where the server trusts the certificate of the proxy",
        ),
      );
    }
    return loaded;
  } catch (error) {
    if (!isCodedError(error)) throw error;
    const diagnostics = error.data?.["diagnostics"];
    const details = Array.isArray(diagnostics) ? `\n${formatDiagnostics(diagnostics)}` : "";
    report(failed("configuration", `${error.message}${details}`, error.hint));
    return undefined;
  }
}

/** Variables that programs need behind a corporate proxy, in both spellings where there are two. */
const networkVariables = [
  ...["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"],
  ...["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"],
] as const;

/**
 * Reports variables of this environment that servers started as processes do not get. A server without network needs
 * none, and one in a scoped network gets those of its proxy.
 */
function checkNetworkVariables({ env }: CliContext, servers: readonly ToolServerConfig[]): Finding[] {
  const names = networkVariables.filter((name) => (env[name] ?? "") !== "");
  if (names.length === 0) return [];
  // Servers by the variables that they lack. Programs read a proxy in both spellings.
  const lacking = new Map<string, string[]>();
  for (const { id, transport, containment } of servers) {
    if (transport.kind !== "stdio" || containment.effective.networkEgress !== "allow") continue;
    const own = new Set(Object.keys(transport.env).map((name) => name.toUpperCase()));
    const lacked = names.filter((name) => !own.has(name.toUpperCase())).join(", ");
    if (lacked !== "") lacking.set(lacked, [...(lacking.get(lacked) ?? []), id]);
  }
  return [...lacking].map(([lacked, ids]) =>
    warning(
      "environment",
      `${lacked} ${lacked.includes(",") ? "are" : "is"} set here, and not passed on to ${ids.join(", ")}`,
      "add them to transport.env of each server that uses the network itself; fetches of the packages of npx, uvx and go use them already",
    ),
  );
}

/** Checks that the address is free, or that the gateway of this home uses it. */
async function checkPort({ config }: LoadedConfig, running: RunningGateway | undefined): Promise<Finding> {
  const { host, port } = config.serve.listen;
  const place = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  if (port === 0) return ok("address", "serve picks a free port");
  if (running !== undefined && Number(new URL(running.url).port) === port) {
    return ok("address", `${place}: the gateway of this home listens on it (process ${running.pid})`);
  }
  const code = await probeAddress({ host, port });
  if (code === undefined) return ok("address", `${place} is free`);
  return code === "EADDRINUSE"
    ? failed(
        "address",
        `${place} is in use by ${ownerOfPort(port) ?? "another program"}`,
        "change serve.listen, or use --listen 127.0.0.1:0",
      )
    : failed("address", `cannot listen on ${place}: ${code}`, "fix serve.listen");
}

/**
 * Starts the servers, waits for each, and stops them. Where no gateway can start, such as for a damaged file of the home,
 * that is the finding. An error after the start is one of its own, beside what was found out until then.
 */
async function contactServers(context: CliContext, loaded: LoadedConfig): Promise<Finding[]> {
  const { config, files: configFiles } = loaded;
  if (config.toolServers.length === 0 && config.toolspecs.length === 0) return [];
  const logger = createCommandLogger(context, "silent");
  const findings: Finding[] = [];
  let isStarted = false;
  try {
    await using gateway = await startGateway(config, gatewayDepsOf(context, { logger, configFiles }));
    isStarted = true;
    findings.push(...(await contactStarted(context, gateway)));
  } catch (error) {
    if (context.signal.aborted || !isCodedError(error)) throw error;
    const message = isStarted ? error.message : `it cannot start: ${error.message}`;
    findings.push(failed("gateway", message, error.hint));
  }
  return findings;
}

async function contactStarted(context: CliContext, gateway: Gateway): Promise<Finding[]> {
  const settings = { waitMs: serversWaitMs, signal: context.signal };
  // All findings are reported together, in the order of the configuration.
  const wait = new StartWait(context);
  await withProgress(
    context,
    () => wait.title,
    () => pollSources(gateway, settings, (sources) => wait.isOver(sources)),
  );
  context.signal.throwIfAborted();
  const { servers, toolspecs, idleRules, quarantined } = gateway.status();
  return [
    ...servers.flatMap((server) => [
      contactOf(context, server),
      ...quarantineFindings(server, quarantined),
      ...differenceFindings(server),
    ]),
    ...toolspecs.map(toolspecFinding),
    ...idleRules.map(idleRuleFinding),
  ];
}

function idleRuleFinding({ path, pattern, reason, hint }: GatewayStatus["idleRules"][number]): Finding {
  return warning("policy", safeLine(`${path} "${pattern}" has no effect: ${reason}`), hint && safeLine(hint));
}

/** The failures of the policy engine of the running gateway. */
function engineFindings(engine: NonNullable<GatewayStatus["policy"]>["engine"]): Finding[] {
  if (engine === undefined) return [];
  const message = `the policy engine of the running gateway failed (${counted(engine.count, "time")}, lastly: ${safeLine(engine.problem)})`;
  const fix = "toolcrib audit list --type policy.failed lists when; simplify the policies, and report it";
  return engine.isDown
    ? [failed("policy", `${message}; calls that it has to judge are denied for up to a minute`, fix)]
    : [warning("policy", `${message} and was replaced`, fix)];
}

/** The answer of the running gateway. */
interface GatewayAnswer {
  readonly findings: readonly Finding[];
  /** Ids of the servers that are ready, or idle until their first call. */
  readonly readyIds: ReadonlySet<string>;
}

/** Returns the states that the running gateway reports for its servers. */
async function askGateway(context: CliContext, running: RunningGateway): Promise<GatewayAnswer> {
  const changedBy = (configuration?: GatewayStatus["configuration"]) =>
    changedConfigFiles(running, configuration).map((path) =>
      warning(
        "gateway",
        `${path} changed, and the running gateway still uses the old configuration`,
        "run toolcrib reload, which says why",
      ),
    );
  try {
    const status = await statusOf(context, running);
    const { servers, toolspecs, idleRules, anchors, telemetry, embeddings } = status;
    const findings = [
      ...changedBy(status.configuration),
      ...(servers ?? []).flatMap((server) => [
        contactOf(context, server),
        ...quarantineFindings(server, status.quarantined),
        ...differenceFindings(server),
      ]),
      ...(toolspecs ?? []).map(toolspecFinding),
      ...engineFindings(status.policy?.engine),
      ...(idleRules ?? []).map(idleRuleFinding),
      ...(anchors ?? []).map(anchorFinding),
      ...(telemetry === undefined ? [] : telemetryFindings(telemetry)),
      ...(embeddings === undefined ? [] : [embeddingsFinding(embeddings)]),
    ];
    const isUsed = ({ health }: SourceStatus) => health.state === "ready" || health.state === "idle";
    return { findings, readyIds: new Set((servers ?? []).filter(isUsed).map(({ id }) => id)) };
  } catch (error) {
    if (!isCodedError(error)) throw error;
    return { findings: [failed("gateway", error.message, error.hint), ...changedBy()], readyIds: new Set() };
  }
}

/** Milliseconds between two questions to a gateway whose servers are starting. */
const statusDelayMs = 250;

/** Returns the status of the running gateway when no server is starting any more, or those have had their time. */
async function statusOf(context: CliContext, running: RunningGateway): Promise<Partial<GatewayStatus>> {
  const { signal } = context;
  const wait = new StartWait(context);
  return await withProgress(
    context,
    () => wait.title,
    async () => {
      for (let waitedMs = 0; ; waitedMs += statusDelayMs) {
        const answer = await getFromGateway(running, "/api/v1/status", signal);
        const status = (isJsonObject(answer) ? answer : {}) as Partial<GatewayStatus>;
        if (wait.isOver(status.servers ?? []) || waitedMs >= serversWaitMs) return status;
        await delay(statusDelayMs, undefined, { signal });
      }
    },
  );
}

/** A package that is not fetched after this time, in milliseconds, is reported as such: a fetch takes as long as it takes. */
const fetchWaitMs = 10_000;

/** The wait for servers that start: which ones, and whether more of it can change what is reported. */
class StartWait {
  readonly #context: CliContext;
  readonly #startedAtMs: number;
  #late: readonly Pick<SourceStatus, "id" | "health">[] = [];

  constructor(context: CliContext) {
    this.#context = context;
    this.#startedAtMs = context.now();
  }

  /** The servers that are waited for, for people. */
  get title(): string {
    const names = this.#late.map(({ id, health }) => {
      return health.phase === "fetching" ? `${id} (${startingText(health)})` : id;
    });
    return `Waiting for ${names.join(", ") || "servers"}`;
  }

  /** Whether no server starts any more, or those that do only fetch their packages, and had time for that. */
  isOver(sources: readonly Pick<SourceStatus, "id" | "health">[]): boolean {
    this.#late = sources.filter(({ health }) => health.state === "starting");
    const waitedMs = this.#context.now() - this.#startedAtMs;
    return this.#late.every(({ health }) => health.phase === "fetching" && waitedMs >= fetchWaitMs);
  }
}

/** Reports whether the secrets of a toolspec exist. Does not call its API. */
function toolspecFinding({ id, health, tools, hosts }: SourceStatus): Finding {
  const subject = `toolspec ${id}`;
  if (health.state === "ready")
    return ok(subject, `${counted(tools, "tool")} of ${(hosts ?? []).map(safeLine).join(", ")}`);
  return failed(subject, safeLine(health.reason ?? "its secrets are not read yet"));
}

/** Reports the tools in which the manifest of an adopted server and the server differ. */
function differenceFindings(server: SourceStatus): readonly Finding[] {
  const name = server.manifest?.name ?? "";
  return differenceTexts(server).map((text) =>
    warning(
      `server ${server.id}`,
      safeLine(text),
      `toolcrib lint-manifests --live ${shellQuote(name)} shows each; --write changes the manifest`,
    ),
  );
}

/** Reports the definitions of a server that clients do not get, such as one that changed since it was approved. */
function quarantineFindings(
  { id }: SourceStatus,
  quarantined: GatewayStatus["quarantined"] = [],
): readonly Finding[] {
  const own = quarantined.filter((held) => held.id.startsWith(`${id}:`));
  const [first] = own;
  if (first === undefined) return [];
  const which =
    own.length === 1
      ? "1 definition that clients do not get"
      : `${own.length} definitions that clients do not get, the first`;
  return [warning(`server ${id}`, `has quarantined ${which}: ${safeLine(first.reason)}`)];
}

function contactOf(
  { options }: CliContext,
  { id, health, tools, waitingTools = 0, protocolVersion }: SourceStatus,
): Finding {
  const subject = `server ${id}`;
  if (health.state === "ready" && tools === 0 && waitingTools > 0) {
    const text = `responds, and all of its tools wait for approval: ${counted(waitingTools, "tool")}; clients see none`;
    return warning(subject, text, `toolcrib approve ${id}`);
  }
  if (health.state === "ready") {
    const waiting =
      waitingTools === 0 ? "" : `; ${waitingTools} more wait for approval (toolcrib approve ${id})`;
    return ok(
      subject,
      `responds: ${counted(tools, "tool")}${waiting}${protocolVersion === undefined ? "" : `, MCP ${protocolVersion}`}`,
    );
  }
  if (health.state === "idle") {
    return ok(subject, `idle; starts at its first call: ${counted(tools, "remembered tool")}`);
  }
  // A first start fetches a package, which takes as long as its size and the network want.
  if (health.state === "starting" && health.phase === "fetching")
    return unknown(
      subject,
      `not tried: ${startingText(health)}`,
      "run toolcrib doctor again, or follow it with toolcrib status --watch",
    );
  const file = join(options.home, "logs", `${id}.log`);
  const log = existsSync(file) ? `see ${shellQuote(file)}` : undefined;
  const fallback = log ?? "run toolcrib serve --log-level debug";
  if (health.state === "starting") {
    return failed(subject, `did not respond within ${serversWaitMs / 1000} s`, fallback);
  }
  const reason = safeLine(health.reason ?? `it is ${health.state}`);
  // A reason that ends with its hint in parentheses says how to fix it.
  return failed(subject, reason, reason.endsWith(")") ? log : fallback);
}
