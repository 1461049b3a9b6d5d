/**
 * Checks the configuration and its servers: that it is valid, that secrets and
 * commands exist, that the port is free, and that each server responds. Never
 * shows a secret.
 */

import { existsSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { resolveTransport, SecretResolver, type ToolServerConfig } from "@toolcrib/config";
import { formatDiagnostics, isCodedError } from "@toolcrib/diagnostics";
import { readRegularFile } from "@toolcrib/files";
import { type GatewayStatus, type SourceStatus, startGateway } from "@toolcrib/gateway";
import { isJsonObject } from "@toolcrib/json";
import { getFromGateway } from "../access/gateway-api.ts";
import { serversWaitMs } from "../access/local-tools.ts";
import { findReachableGateway } from "../access/open-tool-access.ts";
import type { RunningGateway } from "../access/run-file.ts";
import type { CliContext } from "../cli-context.ts";
import { shortPath } from "../config/find-config-files.ts";
import { type LoadedConfig, loadCliConfig } from "../config/load-cli-config.ts";
import { createCommandLogger } from "../create-command-logger.ts";
import { findExecutable } from "../find-executable.ts";
import { safeLine } from "../output/output.ts";
import { waitForServers } from "../serve/wait-for-servers.ts";
import { version } from "../version.ts";
import { type Finding, failed, ok, warning } from "./check.ts";

/** Checks everything that depends on the configuration. Reports each finding when it is known. */
export async function checkConfigured(
  context: CliContext,
  report: (finding: Finding) => void,
): Promise<void> {
  const running = await findReachableGateway(context.options.home);
  const loaded = await loadOrReport(withFilesOf(context, running), report);
  if (loaded === undefined) return;
  const valid: ToolServerConfig[] = [];
  for (const server of loaded.config.toolServers) {
    const finding = await checkDeclared(context, server);
    report(finding);
    if (finding.status === "ok") valid.push(server);
  }
  for (const finding of checkNetworkVariables(context, loaded.config.toolServers)) report(finding);
  report(await checkPort(loaded, running));
  const isOther = context.options.configFiles.length > 0;
  const findings =
    running === undefined || isOther
      ? await contactServers(context, { ...loaded, config: { ...loaded.config, toolServers: valid } })
      : await askGateway(context, running);
  findings.forEach(report);
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
    const { config, files, warnings } = loaded;
    const count = config.toolServers.length;
    const specCount = config.toolspecs.length;
    const specs = specCount === 0 ? "" : `, ${specCount} toolspec${specCount === 1 ? "" : "s"}`;
    const text = `${files.join(", ")}: ${count} tool server${count === 1 ? "" : "s"}${specs}`;
    report(
      warnings.length === 0
        ? ok("configuration", text)
        : warning(
            "configuration",
            `${text}, ${warnings.length} warnings`,
            `toolcrib config check ${files.join(" ")}`,
          ),
    );
    for (const text of new Set(config.toolServers.flatMap(({ notEnforced }) => notEnforced))) {
      report(warning("containment", text));
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

/** Checks that the secrets of a server can be read and that its command exists. */
async function checkDeclared(context: CliContext, server: ToolServerConfig): Promise<Finding> {
  const { options } = context;
  const subject = `server ${server.id}`;
  const secrets = new SecretResolver({
    env: context.env,
    readFile: readRegularFile,
    home: options.home,
  });
  try {
    const transport = await resolveTransport(server, secrets);
    const count = secrets.values().length;
    const read = count === 0 ? "" : `; ${count} secret${count === 1 ? "" : "s"} read`;
    if (transport.kind !== "stdio") return ok(subject, `valid declaration${read}`);
    const path = transport.env["PATH"] ?? context.env["PATH"] ?? "";
    const directory = transport.cwd ?? context.directory;
    const found = findExecutable(transport.command, { path, directory, platform: context.platform });
    if (found !== undefined) return ok(subject, `starts ${safeLine(found)}${read}`);
    return failed(
      subject,
      `its command ${JSON.stringify(transport.command)} is not found, or is not executable`,
      "install it, use its absolute path, or start Toolcrib with a PATH that contains it",
    );
  } catch (error) {
    if (!isCodedError(error)) throw error;
    return failed(subject, error.message, error.hint);
  }
}

/** Variables that programs need behind a corporate proxy, in both spellings where there are two. */
const networkVariables = [
  ...["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"],
  ...["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"],
] as const;

/** Reports variables of this environment that servers started as processes do not get. */
function checkNetworkVariables({ env }: CliContext, servers: readonly ToolServerConfig[]): Finding[] {
  const names = networkVariables.filter((name) => (env[name] ?? "") !== "");
  if (names.length === 0) return [];
  const lacking = servers.flatMap(({ id, transport }) =>
    transport.kind === "stdio" && names.some((name) => !Object.hasOwn(transport.env, name)) ? [id] : [],
  );
  if (lacking.length === 0) return [];
  return [
    warning(
      "environment",
      `${names.join(", ")} ${names.length === 1 ? "is" : "are"} set here, and not passed on to ${lacking.join(", ")}`,
      "add them to transport.env of each server that uses the network, npx and uvx included",
    ),
  ];
}

/** Checks that the address is free, or that the gateway of this home uses it. */
async function checkPort({ config }: LoadedConfig, running: RunningGateway | undefined): Promise<Finding> {
  const { host, port } = config.serve.listen;
  const place = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  if (port === 0) return ok("address", "serve picks a free port");
  if (running !== undefined && Number(new URL(running.url).port) === port) {
    return ok("address", `${place}: the gateway of this home listens on it (process ${running.pid})`);
  }
  const code = await new Promise<string | undefined>((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
  if (code === undefined) return ok("address", `${place} is free`);
  return code === "EADDRINUSE"
    ? failed(
        "address",
        `${place} is in use by another program`,
        "change serve.listen, or use --listen 127.0.0.1:0",
      )
    : failed("address", `cannot listen on ${place}: ${code}`, "fix serve.listen");
}

/** Starts the servers, waits for each, and stops them. */
async function contactServers(context: CliContext, { config, files }: LoadedConfig): Promise<Finding[]> {
  const { options } = context;
  if (config.toolServers.length === 0 && config.toolspecs.length === 0) return [];
  await using gateway = await startGateway(config, {
    home: options.home,
    env: context.env,
    directory: context.directory,
    wrap: context.wrap,
    logger: createCommandLogger(context, "silent"),
    version,
    configFiles: files,
  });
  const settings = { waitMs: serversWaitMs, signal: context.signal };
  const starting = await waitForServers(gateway, settings, () => {
    // All findings are reported together, in the order of the configuration.
  });
  context.signal.throwIfAborted();
  const { servers, toolspecs, idleRules } = gateway.status();
  const isLate = ({ id }: { readonly id: string }) => starting.some((one) => one.id === id);
  return [
    ...servers.map((server) => contactOf(context, server, isLate(server))),
    ...toolspecs.map(toolspecFinding),
    ...idleRules.map(idleRuleFinding),
  ];
}

function idleRuleFinding({ path, pattern, reason, hint }: GatewayStatus["idleRules"][number]): Finding {
  return warning("policy", safeLine(`${path} "${pattern}" has no effect: ${reason}`), hint && safeLine(hint));
}

/** Returns the states that the running gateway reports for its servers. */
async function askGateway(context: CliContext, running: RunningGateway): Promise<Finding[]> {
  try {
    const answer = await getFromGateway(running, "/api/v1/status", context.signal);
    const { servers, toolspecs, idleRules } = (isJsonObject(answer) ? answer : {}) as Partial<GatewayStatus>;
    return [
      ...(servers ?? []).map((server) => contactOf(context, server, false)),
      ...(toolspecs ?? []).map(toolspecFinding),
      ...(idleRules ?? []).map(idleRuleFinding),
    ];
  } catch (error) {
    if (!isCodedError(error)) throw error;
    return [failed("gateway", error.message, error.hint)];
  }
}

/** Reports whether the secrets of a toolspec exist. Does not call its API. */
function toolspecFinding({ id, health, tools, hosts }: SourceStatus): Finding {
  const subject = `toolspec ${id}`;
  if (health.state === "ready")
    return ok(subject, `${tools} tools of ${(hosts ?? []).map(safeLine).join(", ")}`);
  return failed(subject, safeLine(health.reason ?? "its secrets are not read yet"));
}

function contactOf(
  { options }: CliContext,
  { id, health, tools, protocolVersion }: SourceStatus,
  isLate: boolean,
): Finding {
  const subject = `server ${id}`;
  if (health.state === "ready") {
    return ok(
      subject,
      `responds: ${tools} tools${protocolVersion === undefined ? "" : `, MCP ${protocolVersion}`}`,
    );
  }
  if (health.state === "idle") {
    return ok(subject, `idle; starts at its first call: ${tools} tools are remembered`);
  }
  const file = join(options.home, "logs", `${id}.log`);
  const log = existsSync(file)
    ? `see ${file}, or run with --log-level debug`
    : "run toolcrib serve with --log-level debug";
  return isLate || health.state === "starting"
    ? failed(subject, `did not respond within ${serversWaitMs / 1000} s`, log)
    : failed(subject, safeLine(health.reason ?? `it is ${health.state}`), log);
}
