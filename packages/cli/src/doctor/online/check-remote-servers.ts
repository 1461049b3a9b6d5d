/**
 * Asks the remote servers of a configuration: address, certificate, status, MCP, and the login that they want. A server
 * whose URL is a secret is not asked.
 */

import {
  type GatewayConfig,
  resolveTransport,
  SecretResolver,
  type ToolServerConfig,
} from "@toolcrib/config";
import { isCodedError } from "@toolcrib/diagnostics";
import { readCertificateFile, readRegularFile } from "@toolcrib/files";
import type { ExaminedServer } from "@toolcrib/oauth";
import { isCredentialHeader } from "@toolcrib/redaction";
import { explainUrlFailure } from "../../add/url-failure.ts";
import type { CliContext } from "../../cli-context.ts";
import { oauthSettingsOf } from "../../login/oauth-context.ts";
import { safeLine } from "../../output/output.ts";
import { type Finding, failed, ok, unknown, warning } from "../check.ts";
import type { OnlineChecks, OnlineLimits } from "./check-online.ts";

/** Servers that are asked at a time. */
const concurrency = 4;
/** Days before its end from which a certificate is a warning. */
const certificateWarningDays = 14;
const dayMs = 24 * 60 * 60 * 1000;

type RemoteTransport = Exclude<ToolServerConfig["transport"], { readonly kind: "stdio" }>;

/** Returns the checks of the servers at a URL. */
export async function checkRemoteServers(
  context: CliContext,
  { toolServers, egress }: GatewayConfig,
): Promise<OnlineChecks> {
  const remote = toolServers.filter(({ transport }) => transport.kind !== "stdio");
  const certificates = context.env["SSL_CERT_FILE"] ?? "";
  const file = certificates === "" ? undefined : await readCertificateFile(certificates);
  const network = {
    internalRanges: egress.internalRanges,
    ca: file?.kind === "read" ? file.pem : undefined,
  };
  return {
    concurrency,
    checks: remote.map((server) => ({
      subject: `server ${server.id}`,
      run: (limits) => checkServer(context, server, network, limits),
    })),
    async [Symbol.asyncDispose]() {},
  };
}

async function checkServer(
  context: CliContext,
  server: ToolServerConfig,
  network: { readonly internalRanges: readonly string[]; readonly ca: string | undefined },
  limits: OnlineLimits,
): Promise<readonly Finding[]> {
  const { env, now, options } = context;
  const subject = `server ${server.id}`;
  const { transport } = server;
  if (transport.kind === "stdio") return [];
  if (transport.url.kind !== "literal")
    return [
      warning(
        subject,
        "was not asked: its URL is a secret",
        "see its line under Configuration and servers: there it is contacted as the gateway does",
      ),
    ];
  let resolved: Awaited<ReturnType<typeof resolveTransport>>;
  try {
    const secrets = new SecretResolver({ env, readFile: readRegularFile, home: options.home });
    resolved = await resolveTransport(server, secrets);
  } catch (error) {
    if (!isCodedError(error)) throw error;
    return [unknown(subject, `was not asked: ${safeLine(error.message)}`, error.hint)];
  }
  if (resolved.kind === "stdio") return [];
  const { url, network: settings } = resolved;
  try {
    const { examineServer } = await import("@toolcrib/oauth");
    const examined = await examineServer(
      {
        ...(oauthSettingsOf(context, server) ?? { grant: "authorization_code", per: "gateway" }),
        ...{ id: server.id, url },
        network: async () => ({
          ca: settings?.ca === undefined ? [] : [settings.ca],
          proxy: settings?.proxy,
        }),
      },
      transport.kind,
      network,
      { ...limits, asksTokenEndpoint: transport.auth !== undefined },
    );
    return [
      answerFinding(subject, examined, transport),
      ...certificateFinding(subject, examined, now()),
      ...loginFindings(server.id, examined, transport),
    ];
  } catch (error) {
    limits.signal.throwIfAborted();
    if (!isCodedError(error)) throw error;
    const explained = explainUrlFailure(
      new URL(url),
      { code: error.code, systemCode: systemCodeOf(error) },
      hasCredentialHeader(transport),
    );
    return [
      explained === undefined
        ? failed(subject, safeLine(error.message), error.hint)
        : failed(subject, explained.problem, explained.fix),
    ];
  }
}

/** The code of the system for why a request failed; empty without one. */
function systemCodeOf({ cause }: Error): string {
  return cause instanceof Error && "code" in cause ? String(cause.code) : "";
}

/** Whether a header is a credential by its name, or has a secret as its value. */
function hasCredentialHeader({ headers }: RemoteTransport): boolean {
  return Object.entries(headers).some(
    ([name, value]) => isCredentialHeader(name) || value.kind !== "literal",
  );
}

function answerFinding(
  subject: string,
  { status, speaksMcp, schemes }: ExaminedServer,
  transport: RemoteTransport,
): Finding {
  const answers = `answers HTTP ${status}`;
  const hasCredentials = transport.auth !== undefined || hasCredentialHeader(transport);
  if (status === 401 || status === 403) {
    const how = schemes.length === 0 ? "" : ` by ${schemes.map(safeLine).join(", ")}`;
    if (hasCredentials)
      return ok(subject, `${answers} without credentials: it wants a login${how}, which is configured`);
    return failed(
      subject,
      `${answers}: it wants a login${how}, and its entry has none`,
      schemes.some((one) => one.toLowerCase() === "bearer")
        ? "write auth: {type: oauth} into its transport, then toolcrib login; or send a stored secret in headers"
        : "send a stored secret in headers of its transport",
    );
  }
  if (speaksMcp) return ok(subject, `${answers}, in MCP`);
  if (status >= 500)
    return failed(
      subject,
      `${answers}: it has a problem of its own`,
      "ask its operator, and try again later",
    );
  return failed(
    subject,
    `${answers}, but not in MCP`,
    "use the URL of its MCP endpoint, which often ends in /mcp or /sse, and not that of its web page",
  );
}

function certificateFinding(
  subject: string,
  { certificateEndsAt }: ExaminedServer,
  now: number,
): readonly Finding[] {
  if (certificateEndsAt === undefined) return [];
  const days = Math.floor((certificateEndsAt - now) / dayMs);
  const text = `its certificate ends on ${new Date(certificateEndsAt).toISOString().slice(0, 10)}`;
  if (days >= certificateWarningDays) return [ok(subject, text)];
  return [warning(subject, `${text}, in ${days} days`, "its operator must renew it")];
}

function loginFindings(
  id: string,
  { login, status }: ExaminedServer,
  { auth }: RemoteTransport,
): readonly Finding[] {
  const subject = `login ${id}`;
  if (login === undefined)
    return auth === undefined || status === 401
      ? []
      : [
          warning(
            subject,
            "its entry has auth, and the server names no authorization server without a token",
          ),
        ];
  if ("problem" in login)
    return [
      (auth === undefined ? warning : failed)(
        subject,
        `its authorization server is not usable: ${safeLine(login.problem)}`,
        "check transport.auth, and the connection of this machine to the authorization server",
      ),
    ];
  const answer =
    login.status === undefined ? "was not asked: no login is configured" : `answers (HTTP ${login.status})`;
  return [
    ok(subject, `the token endpoint ${safeLine(login.tokenEndpoint)} of ${safeLine(login.issuer)} ${answer}`),
  ];
}
