/**
 * A digest of the configuration, so that the audit shows whether two runs had the
 * same one. It ignores places and notation, leaves out credentials and derived
 * fields, and includes the files of toolspecs by their own digests.
 *
 * A field is left out at its place only: a label or variable of the same name is
 * part of the digest. Pure.
 */

import { hash } from "node:crypto";
import { canonicalJson } from "@toolcrib/json";
import type {
  ConfigText,
  GatewayConfig,
  HookConfig,
  OAuthConfig,
  ToolServerConfig,
  ToolspecConfig,
  TransportConfig,
} from "./config-types.ts";

/** The digest of `config`, such as `sha256:…`. */
export function digestConfig(config: GatewayConfig): string {
  const content = {
    ...config,
    toolServers: config.toolServers.map(serverContent),
    toolspecs: config.toolspecs.map(toolspecContent),
    disabled: {
      toolServers: config.disabled.toolServers.map(({ id }) => id),
      toolspecs: config.disabled.toolspecs.map(({ id }) => id),
      packages: config.disabled.packages.map(({ id }) => id),
    },
    serve: serveContent(config.serve),
    telemetry: telemetryContent(config.telemetry),
    hooks: {
      ...config.hooks,
      before: config.hooks.before.map(hookContent),
      after: config.hooks.after.map(hookContent),
    },
  };
  return `sha256:${hash("sha256", canonicalJson(content), "hex")}`;
}

/** The digest of the rules in force, such as `sha256:…`. An approval of a call is bound to it. */
export function digestPolicy({ disabled: _disabled, ...policy }: GatewayConfig["policy"]): string {
  // An approval of a call outlasts that another tool is switched off.
  return `sha256:${hash("sha256", canonicalJson({ ...policy }), "hex")}`;
}

/**
 * The digest of the part of a declaration that determines what a server lists: its id and its transport.
 *
 * @returns 64 hexadecimal digits
 */
export function digestServer({ id, transport }: Pick<ToolServerConfig, "id" | "transport">): string {
  return hash("sha256", canonicalJson({ id, transport: transportContent(transport) }), "hex");
}

function serverContent({ containment, transport, adopted, ...server }: ToolServerConfig): object {
  return {
    ...without(server, "source", "span", "notEnforced", "problems"),
    ...(adopted === undefined ? {} : { adopted: without(adopted, "files") }),
    containment: without(containment, "enforced", "notEnforced", "bySandbox", "judged", "needsSandbox"),
    transport: transportContent(transport),
  };
}

function toolspecContent(toolspec: ToolspecConfig): object {
  return without(toolspec, "source", "span", "pair");
}

function telemetryContent(telemetry: GatewayConfig["telemetry"]): object | undefined {
  if (telemetry === undefined) return undefined;
  const { headers, clientCertificate, clientKey, ...rest } = telemetry;
  const certificates = { ...(clientCertificate && { clientCertificate }), ...(clientKey && { clientKey }) };
  return { ...rest, headers: textsContent(headers), certificates: textsContent(certificates) };
}

function serveContent({ oauth, ...serve }: GatewayConfig["serve"]): object {
  if (oauth === undefined) return serve;
  const issuers = oauth.issuers.map(({ introspection, ...issuer }) => ({
    ...issuer,
    ...(introspection && {
      introspection: { ...introspection, clientSecret: textContent(introspection.clientSecret) },
    }),
  }));
  return { ...serve, oauth: { ...oauth, issuers } };
}

function hookContent({ transport, ...hook }: HookConfig): object {
  return { ...without(hook, "source", "span"), transport: transportContent(transport) };
}

function transportContent(transport: TransportConfig): object {
  if (transport.kind !== "stdio") {
    const { url, headers, allowHttp, kind, protocol, auth, ...network } = transport;
    return {
      kind,
      allowHttp,
      ...(protocol === undefined ? {} : { protocol }),
      url: textContent(url),
      headers: textsContent(headers),
      ...textsContent(network),
      ...(auth === undefined ? {} : { auth: oauthContent(auth) }),
    };
  }
  const { command, args, env, cwd } = transport;
  return {
    ...transport,
    command: textContent(command),
    args: args.map(textContent),
    env: textsContent(env),
    cwd: cwd === undefined ? undefined : textContent(cwd),
  };
}

function oauthContent({ clientSecret, privateKey, ...auth }: OAuthConfig): object {
  const given = { ...(clientSecret && { clientSecret }), ...(privateKey && { privateKey }) };
  const known = Object.entries(auth).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(known), secrets: textsContent(given) };
}

function textsContent(texts: { readonly [name: string]: ConfigText }): object {
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, textContent(text)]));
}

function textContent(text: ConfigText): object {
  // Of a credential, only its presence is part of the digest.
  if (text.kind !== "secret" && text.isSecret) return { kind: text.kind, isSecret: true };
  return without(text, "span");
}

/** Returns `fields` without those called `names`. */
function without<Fields extends object>(
  fields: Fields,
  ...names: readonly (keyof Fields & string)[]
): object {
  const excluded: readonly string[] = names;
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !excluded.includes(name)));
}
