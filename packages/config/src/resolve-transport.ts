/**
 * A server's transport with every secret and variable in its place, at the
 * moment when the server is started. What cannot be resolved stops that server
 * only; all problems are reported together, without values.
 */

import { basename, dirname, resolve } from "node:path";
import { type Diagnostic, positionAt, type Span } from "@toolcrib/diagnostics";
import { type Problem, toDiagnostic } from "@toolcrib/document";
import { readCertificateFile } from "@toolcrib/files";
import type { NetworkSettings, TransportSettings } from "@toolcrib/mcp";
import { looksLikeCredential } from "@toolcrib/redaction";
import { refFor } from "@toolcrib/secrets";
import { ConfigError } from "./config-error.ts";
import type { ConfigText, TemplatePart, ToolServerConfig } from "./config-types.ts";
import { quote } from "./display-source.ts";
import { environmentProxy } from "./environment-proxy.ts";
import type { SecretResolver } from "./secret-resolver.ts";
import { lintServerUrl } from "./server-url.ts";

/**
 * Resolves the transport of `server`.
 *
 * @param what what it is, for messages. @default "Tool server"
 * @param owner the client whose secrets are used where there is one per identity. @default those of the gateway itself
 * @throws {ConfigError} with the code of the first problem, all problems in its message, and the first one's hint.
 */
export async function resolveTransport(
  server: Pick<ToolServerConfig, "id" | "transport" | "problems" | "source">,
  resolver: SecretResolver,
  what = "Tool server",
  owner?: SecretOwner,
): Promise<TransportSettings> {
  const problems: Diagnostic[] = [...server.problems];
  const report = (problem: Problem): void => void problems.push(toDiagnostic(problem, server.source));
  const texts = new ServerTexts(server.source.name, resolver, report, owner);
  const { transport } = server;
  let resolved: TransportSettings;
  if (transport.kind === "stdio") {
    const env = await texts.map(transport.env, "env");
    const args = await texts.list(transport.args, "args");
    const command = (await texts.one(transport.command, "command")).trim();
    const cwd = transport.cwd === undefined ? undefined : await texts.one(transport.cwd, "cwd");
    resolved = {
      kind: "stdio",
      command,
      args,
      env,
      ...(cwd === undefined ? {} : { cwd: texts.path(cwd) }),
    };
  } else {
    const url = (await texts.one(transport.url, "url")).trim();
    const headers = await texts.map(transport.headers, "headers");
    lintHeaders(transport.headers, headers, report);
    const problem = problems.length > 0 ? undefined : lintServerUrl(url, transport.allowHttp);
    if (problem !== undefined) report({ ...problem, span: transport.url.span });
    const network = await resolveNetwork(transport, url, resolver, texts, report);
    resolved = { kind: transport.kind, url, headers, ...(network === undefined ? {} : { network }) };
  }
  if (problems.length > 0) throw toError(`${what} ${quote(server.id)}`, problems, server.id);
  return resolved;
}

/** A client, as `refFor` of `secrets` takes it. */
type SecretOwner = NonNullable<Parameters<typeof refFor>[1]>;
type Report = (problem: Problem) => void;

/** Resolves proxy and certificates; undefined when none is declared. */
async function resolveNetwork(
  transport: Exclude<ToolServerConfig["transport"], { readonly kind: "stdio" }>,
  url: string,
  resolver: SecretResolver,
  texts: ServerTexts,
  report: Report,
): Promise<NetworkSettings | undefined> {
  const { proxy, caFile, clientCertificate, clientKey } = transport;
  const network: { -readonly [K in keyof NetworkSettings]: NetworkSettings[K] } = {};
  if (proxy !== undefined) {
    const text = (await texts.one(proxy, "proxy")).trim();
    const variable = (name: string) => resolver.variable(name);
    const named = text === "env" && URL.canParse(url) ? environmentProxy(url, variable) : text;
    if (named !== undefined && named !== "env" && named !== "") {
      const problem = proxyProblem(named);
      if (problem === undefined) network.proxy = named;
      else report({ code: "CONFIG_URL_INVALID", ...problem, span: proxy.span });
      rememberPassword(named, resolver);
    }
  }
  if (caFile !== undefined) {
    const path = texts.path(await texts.one(caFile, "ca_file"));
    const file = await readCertificateFile(path);
    if (file.kind === "read") network.ca = file.pem;
    else {
      const message = `Cannot use transport.ca_file ${quote(path)}: ${file.reason}`;
      report({ code: "CONFIG_CA_FILE_INVALID", message, hint: "name a PEM file", span: caFile.span });
    }
  }
  if (clientCertificate !== undefined && clientKey !== undefined) {
    const certificate = await texts.one(clientCertificate, "client_certificate");
    network.clientCertificate = { certificate, key: await texts.one(clientKey, "client_key") };
  }
  return Object.keys(network).length === 0 ? undefined : network;
}

/** Returns why `url` cannot be the URL of a proxy; the texts have no password. */
function proxyProblem(url: string): Pick<Problem, "message" | "hint"> | undefined {
  const { protocol, username, password } = URL.canParse(url) ? new URL(url) : noUrl;
  if (!/^https?:$/.test(protocol)) {
    return {
      message: "transport.proxy is not an http or https URL",
      hint: "write http://host:port, or env",
    };
  }
  if (decoded(username) !== undefined && decoded(password) !== undefined) return undefined;
  return {
    message: "transport.proxy has a user or password with a percent sign that encodes no character",
    hint: "write a percent sign in the user or password as %25",
  };
}

const noUrl = { protocol: "", username: "", password: "" } as const;

/** A password in the URL of a proxy is a secret like any other. */
function rememberPassword(url: string, resolver: SecretResolver): void {
  const { password } = URL.canParse(url) ? new URL(url) : noUrl;
  if (password !== "") resolver.remember(decoded(password) ?? password);
}

/** Returns `text` without percent-encoding; undefined for a percent sign that encodes no character. */
function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** The texts of one server's declaration, each resolved when it is asked for. */
class ServerTexts {
  readonly #fileName: string;
  readonly #resolver: SecretResolver;
  readonly #report: Report;
  readonly #owner: SecretOwner | undefined;

  /** @param fileName the file of the declaration, to which paths are relative */
  constructor(fileName: string, resolver: SecretResolver, report: Report, owner: SecretOwner | undefined) {
    this.#owner = owner;
    this.#fileName = fileName;
    this.#resolver = resolver;
    this.#report = report;
  }

  /** Returns the value of `text`. @param field its name in a finding */
  async one(text: ConfigText, field: string): Promise<string> {
    if (text.kind === "secret") return await this.#readSecret(text, field);
    if (text.kind === "template") return text.parts.map((part) => this.#fill(part, text, field)).join("");
    if (text.isSecret) this.#rememberLiteral(text.text);
    return text.text;
  }

  async list(items: readonly ConfigText[], field: string): Promise<string[]> {
    const resolved: string[] = [];
    for (const [index, item] of items.entries()) resolved.push(await this.one(item, `${field}[${index}]`));
    return resolved;
  }

  async map(
    items: { readonly [name: string]: ConfigText },
    field: string,
  ): Promise<{ [name: string]: string }> {
    const pairs: [string, string][] = [];
    for (const [name, item] of Object.entries(items)) {
      pairs.push([name, await this.one(item, `${field}.${name}`)]);
    }
    return Object.fromEntries(pairs);
  }

  /** Returns the absolute form of a path in the declaration. */
  path(path: string): string {
    return this.#resolver.absolutePath(path, this.#fileName);
  }

  async #readSecret(text: ConfigText & { kind: "secret" }, field: string): Promise<string> {
    const resolution = await this.#resolver.resolve(refFor(text.ref, this.#owner), this.#fileName);
    if (resolution.kind === "value") return `${text.prefix}${resolution.value}`;
    const { code, message, hint } = resolution;
    this.#report({ code, message: `${message} (${field})`, hint, span: text.span });
    return "";
  }

  #fill(part: TemplatePart, text: ConfigText & { kind: "template" }, field: string): string {
    if (typeof part === "string") {
      if (text.isSecret && looksLikeCredential(part)) this.#rememberLiteral(part);
      return part;
    }
    if ("folder" in part) return workspaceFolder(this.#fileName);
    const set = this.#resolver.variable(part.variable);
    const value = set === undefined || set === "" ? (part.fallback ?? set) : set;
    if (value === undefined) {
      this.#report({
        code: "CONFIG_VARIABLE_NOT_SET",
        message: `Cannot fill ${quote(`\${${part.variable}}`)} (${field}): ${part.variable} is not set`,
        hint: `set ${part.variable} in the environment that starts Toolcrib, or write \${${part.variable}:-default}`,
        span: text.span,
      });
      return "";
    }
    if (text.isSecret || looksLikeCredential(value)) this.#resolver.remember(value);
    return value;
  }

  /** A credential with its scheme (`Bearer x`) is a secret with and without it. */
  #rememberLiteral(value: string): void {
    this.#resolver.remember(value);
    const bare = /^\s*(?:Bearer|Basic|Token)\s+(\S+)\s*$/i.exec(value)?.[1];
    if (bare !== undefined) this.#resolver.remember(bare);
  }
}

/** The folder that an editor's file belongs to: the one above `.vscode`, else its own. */
function workspaceFolder(fileName: string): string {
  const folder = dirname(resolve(fileName));
  return basename(folder) === ".vscode" ? dirname(folder) : folder;
}

function lintHeaders(
  declared: { readonly [name: string]: ConfigText },
  resolved: { readonly [name: string]: string },
  report: Report,
): void {
  for (const [name, value] of Object.entries(resolved)) {
    if (/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) continue;
    report({
      code: "CONFIG_SECRET_UNUSABLE",
      message: `Cannot send header ${quote(name)}: its value contains a line break or another character that a header cannot carry`,
      hint: "store the value in one line",
      span: declared[name]?.span as Span,
    });
  }
}

function toError(name: string, problems: readonly Diagnostic[], id: string): ConfigError {
  const [first] = problems;
  const lines = problems.map(({ message, source, span }) => {
    if (source === undefined || span === undefined) return message;
    const { lineNumber, columnNumber } = positionAt(source.text, span.start);
    return `${message} [${source.name}:${lineNumber}:${columnNumber}]`;
  });
  return new ConfigError(
    first?.code ?? "CONFIG_SECRET_UNUSABLE",
    `${name} cannot start: ${lines.join("; ")}`,
    {
      hint: first?.hint,
      data: { server: id },
    },
  );
}
