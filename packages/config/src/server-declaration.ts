/**
 * Translates a checked entry of `tool_servers` to the types of the parsed
 * configuration. No other file does.
 */

import type { Diagnostic, Source } from "@toolcrib/diagnostics";
import { type DocumentNode, fieldOf, nodeAt, toDiagnostic } from "@toolcrib/document";
import type { TrustState } from "@toolcrib/policy";
import type { SecretRef } from "@toolcrib/secrets";
import type { ServerDeclaration } from "./config-layer.ts";
import type { ConfigText, ContainmentConfig, OAuthConfig, TransportConfig } from "./config-types.ts";
import { quote } from "./display-source.ts";
import { toEgressAllow } from "./egress-allow-shape.ts";
import type { OAuthDocument } from "./oauth-shape.ts";
import { idleSecondsDefault, type ToolServerDocument } from "./tool-server-shape.ts";
import type { TransportDocument } from "./transport-shape.ts";

/** Translates `document`, which is at `node` of `source`. */
export function toServerDeclaration(
  document: ToolServerDocument,
  node: DocumentNode,
  source: Source,
): ServerDeclaration {
  return {
    id: document.id,
    ...(document.enabled === false ? { isOff: true } : {}),
    name: document.name,
    description: document.description,
    transport: toTransport(document.transport, fieldOf(node, "transport") ?? node),
    trustState: document.trust_state ?? "unverified",
    firstContact: document.first_contact ?? firstContactDefault(document.trust_state),
    pinsResources: document.pin_resources ?? false,
    mutabilityClass: document.mutability_class ?? "unknown",
    declared: toContainment(document.containment),
    labels: document.labels ?? {},
    dataLabels: document.data_labels ?? [],
    validation: document.validation ?? validationDefault(document.trust_state),
    ...(document.interactive === undefined ? {} : { isInteractive: document.interactive }),
    ...(document.start === "lazy" ? { idleSeconds: document.idle_seconds ?? idleSecondsDefault } : {}),
    ...adoptionOf(document),
    problems: adoptionOf(document).adopted === undefined ? [] : [manifestNotRead(document.id, node, source)],
    source,
    span: fieldOf(node, "id")?.span ?? node.span,
    node,
  };
}

/** Returns the reference to the manifest of an adopted server, before it is read. */
function adoptionOf({
  transport,
  tools,
  credentials,
}: ToolServerDocument): Pick<ServerDeclaration, "adopted"> {
  const reference = transport.kind === "stdio" ? transport.manifest?.trim() : undefined;
  if (reference === undefined) return {};
  return {
    adopted: {
      reference,
      tools: tools ?? "default",
      credentials: credentials ?? {},
      files: undefined,
      digest: undefined,
    },
  };
}

/** The reason why a server cannot start whose manifest was not read. */
function manifestNotRead(id: string, node: DocumentNode, source: Source): Diagnostic {
  const problem = {
    code: "CONFIG_MANIFEST_NOT_FOUND",
    message: `The manifest of tool server ${quote(id)} was not read`,
    hint: "read the configuration from its files",
    span: nodeAt(node, ["transport", "manifest"])?.span ?? node.span,
  };
  return toDiagnostic(problem, source);
}

/** Returns the default of `validation`: a server that nobody has verified gets only what its schemas allow. */
export function validationDefault(trustState: TrustState = "unverified"): "strict" | "upstream" {
  return trustState === "unverified" ? "strict" : "upstream";
}

/** Returns the default of `first_contact`: nobody has looked at the tools of an unverified server. */
export function firstContactDefault(trustState: TrustState = "unverified"): "ask" | "pin" {
  return trustState === "unverified" ? "ask" : "pin";
}

/** `{ secret_key_ref: … }` as it is written. */
type SecretDocument = { readonly secret_key_ref: SecretRef; readonly prefix?: string | undefined };

function toTransport(document: TransportDocument, node: DocumentNode): TransportConfig {
  const either = (value: string | SecretDocument, ...path: (string | number)[]): ConfigText =>
    typeof value === "string"
      ? literal(value.trim(), ...path)
      : {
          kind: "secret",
          ref: value.secret_key_ref,
          prefix: value.prefix ?? "",
          span: nodeAt(node, path)?.span ?? node.span,
        };
  const literal = (text: string, ...path: (string | number)[]): ConfigText => ({
    kind: "literal",
    text,
    isSecret: false,
    span: nodeAt(node, path)?.span ?? node.span,
  });
  if (document.kind === "stdio") {
    return {
      kind: "stdio",
      // That of an adopted server follows from its manifest.
      command: literal(
        document.command?.trim() ?? "",
        document.command === undefined ? "manifest" : "command",
      ),
      args: (document.args ?? []).map((argument, index) =>
        typeof argument === "string" ? literal(argument, "args", index) : either(argument, "args", index),
      ),
      env: document.env ?? {},
      cwd: document.cwd === undefined ? undefined : literal(document.cwd, "cwd"),
      ...protocolOf(document),
    };
  }
  return {
    kind: document.kind,
    url: either(document.url, "url"),
    headers: document.headers ?? {},
    allowHttp: document.allow_http ?? false,
    ...(document.proxy === undefined ? undefined : { proxy: document.proxy }),
    ...(document.ca_file === undefined ? undefined : { caFile: literal(document.ca_file, "ca_file") }),
    ...(document.client_certificate === undefined
      ? undefined
      : { clientCertificate: document.client_certificate }),
    ...protocolOf(document),
    ...(document.client_key === undefined ? undefined : { clientKey: document.client_key }),
    ...(document.auth === undefined ? undefined : { auth: toOAuth(document.auth) }),
  };
}

function toOAuth(document: OAuthDocument): OAuthConfig {
  return {
    grant: document.grant ?? "authorization_code",
    per: document.per ?? "gateway",
    scopes: document.scopes,
    issuer: document.issuer?.trim(),
    clientId: document.client_id,
    clientSecret: document.client_secret,
    privateKey: document.private_key,
    clientMetadataUrl: document.client_metadata_url,
    redirectPort: document.redirect_port,
  };
}

/** Returns the era that a server is pinned to; nothing for one whose eras are found out. */
function protocolOf({ protocol }: TransportDocument): Pick<TransportConfig, "protocol"> {
  return protocol === undefined || protocol === "auto" ? {} : { protocol };
}

/** Translates `containment` as written. */
export function toContainment(document: ToolServerDocument["containment"]): Partial<ContainmentConfig> {
  const egress = document?.egress_allow === undefined ? undefined : toEgressAllow(document.egress_allow);
  return {
    networkEgress: document?.network_egress,
    filesystemWrite: document?.filesystem_write,
    maxExecutionSeconds: document?.max_execution_seconds,
    egressAllow: egress?.hosts,
    egressPassthrough: egress?.passedThrough,
    writePaths: document?.write_paths,
    readPaths: document?.read_paths,
    readsArguments: document?.read_arguments,
    hasState: document?.state,
  };
}
