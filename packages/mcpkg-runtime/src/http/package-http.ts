/**
 * The requests of installed packages: which host each may reach, its credentials, and the way to
 * the network. A package reaches the host of its URL and no other. Only the operator's
 * configuration can name this machine: a package that did would use the trust of a local service.
 */

import { isCodedError } from "@toolcrib/diagnostics";
import { createPlaceholder, type Egress, type EgressCredential, type EgressSource } from "@toolcrib/egress";
import { canonicalHost, parseHostPattern } from "@toolcrib/hosts";
import type { Manifest } from "@toolcrib/mcpkg";
import type { SecretCache } from "@toolcrib/secrets";
import type { PackageConfig } from "../installed/package-config.ts";
import type { PackagesContext } from "../installed/packages-context.ts";
import { McpkgRuntimeError } from "../runtime-error.ts";
import type { TestReplies } from "../tests/test-replies.ts";
import type { HttpRunnerDeps } from "./http-runner.ts";
import { OAuthTokens } from "./oauth-tokens.ts";
import { type NamedSecret, type NeededCredential, neededCredential } from "./package-auth.ts";
import { splitUrl } from "./plan-endpoint.ts";
import { RotatedToken } from "./rotated-token.ts";

/** Dependencies of the requests of a package. */
export interface PackageHttpDeps {
  readonly context: Pick<
    PackagesContext,
    "now" | "sleep" | "random" | "randomBytes" | "scrubber" | "serverInfo" | "home" | "env" | "logger"
  >;
  readonly egress: Egress;
  readonly secrets: Pick<SecretCache, "reader">;
  /** Records or replays the requests of a package whose tests run. @default requests are sent */
  readonly replies?: TestReplies | undefined;
}

/** The id of a package as the egress knows it. */
export function packageEgressId(toolId: string): string {
  return `package:${toolId}`;
}

/** The URL of an endpoint: that of the configuration, or else of the manifest. */
export function endpointUrlOf(
  manifestUrl: string,
  { endpointUrl }: Pick<PackageConfig, "endpointUrl">,
): string {
  return endpointUrl ?? manifestUrl;
}

/** The host of the URL of an endpoint, without its port; undefined where there is none. */
export function endpointHostOf(url: string): string | undefined {
  return URL.canParse(splitUrl(url).origin) ? new URL(splitUrl(url).origin).hostname : undefined;
}

/** The requests of one package. */
export interface PackageHttp {
  readonly deps: HttpRunnerDeps;
  /** Reads every secret. @throws {CodedError} with what is missing */
  check(): Promise<void>;
}

/**
 * Prepares the requests of a package to `url`.
 *
 * @throws {McpkgRuntimeError} `PACKAGE_UNUSABLE`
 */
export function openPackageHttp(
  manifest: Manifest,
  url: string,
  config: PackageConfig,
  deps: PackageHttpDeps,
): PackageHttp {
  const { toolId } = manifest;
  const { context, egress, replies } = deps;
  const { now, sleep, random, randomBytes, serverInfo } = context;
  const isReplay = replies?.mode === "replay";
  // A replay sends nothing, so that it needs no secret and no host that can be reached.
  const needed = isReplay ? undefined : neededCredential(manifest, config);
  const opened = needed === undefined ? undefined : credentialOf(toolId, needed, deps, randomBytes);
  const credentials = opened === undefined ? [] : [opened.credential];
  const live =
    isReplay || isLoopbackUrl(url, config)
      ? loopbackSend(egress, credentials)
      : egressSend(egress, sourceOf(toolId, url, credentials));
  const pass =
    replies === undefined
      ? live
      : recordedSend(live, replies, {
          url,
          manifestUrl: manifest.endpoint?.type === "http" ? manifest.endpoint.url : url,
          credentials,
          clean: (text) => context.scrubber.text(text),
        });
  const send: HttpRunnerDeps["send"] = async (request) => {
    const response = await pass(request);
    // The next call gets another token.
    if (response.status === 401) opened?.refused();
    return response;
  };
  return {
    deps: {
      send,
      now,
      sleep,
      random,
      version: serverInfo.version,
      credentials: () => credentials.map(({ id, place, placeholder }) => ({ id, place, token: placeholder })),
    },
    check: async () => {
      for (const { read } of credentials) await read();
    },
  };
}

/** Whether the operator named an address of this machine. The configuration has checked that it is one. */
function isLoopbackUrl(url: string, { endpointUrl }: PackageConfig): boolean {
  return endpointUrl === url && url.startsWith("http:");
}

/** @throws {McpkgRuntimeError} `PACKAGE_UNUSABLE` */
function sourceOf(toolId: string, url: string, credentials: readonly EgressCredential[]): EgressSource {
  const { origin } = splitUrl(url);
  const [, scheme = "", authority = ""] = /^(https?):\/\/(.*)$/i.exec(origin) ?? [];
  const [, host = "", port] = /^([^:]*)(?::([1-9][0-9]{0,4}))?$/.exec(authority) ?? [];
  const pattern = parseHostPattern(canonicalHost(host) ?? "");
  if (scheme.toLowerCase() !== "https" || pattern.kind !== "valid") {
    throw new McpkgRuntimeError(
      "PACKAGE_UNUSABLE",
      `"${toolId}" cannot be called at "${origin.slice(0, 200)}": the URL of a package is https with a host name`,
      {
        hint: `the operator can name another one, also on this machine: packages: { ${toolId}: { endpoint: { url: … } } }`,
      },
    );
  }
  return {
    id: packageEgressId(toolId),
    allow: [{ ...pattern.value, ports: [port === undefined ? 443 : Number(port)] }],
    credentials,
  };
}

/** Records what `send` is given and returns, or replays it. */
function recordedSend(
  send: HttpRunnerDeps["send"],
  replies: TestReplies,
  {
    url,
    manifestUrl,
    credentials,
    clean,
  }: {
    readonly url: string;
    /** The URL without a setting of the operator: a recording is for every machine. */
    readonly manifestUrl: string;
    readonly credentials: readonly EgressCredential[];
    readonly clean: (text: string) => string;
  },
): HttpRunnerDeps["send"] {
  const { origin, path } = splitUrl(url);
  const toManifest = pathMapping(path, splitUrl(manifestUrl).path);
  return (request) => {
    const { method, body } = request;
    const shown = withoutCredentials(request.url, credentials);
    const own = shown.startsWith(`${origin}/`) ? toManifest(shown.slice(origin.length)) : shown;
    return replies.request({ method, url: own, body }, () => send(request), clean);
  };
}

/** Returns a function that replaces the beginning in which the path `from` differs from `to`; other paths stay. */
function pathMapping(from: string, to: string): (path: string) => string {
  let same = 0;
  while (same < Math.min(from.length, to.length) && from.at(-1 - same) === to.at(-1 - same)) same += 1;
  const [before, after] = [from.slice(0, from.length - same), to.slice(0, to.length - same)];
  if (/[{}]/.test(before + after)) return (path) => path;
  return (path) => (path.startsWith(before) ? after + path.slice(before.length) : path);
}

/** Removes the parameters of a query that carry a placeholder: a replay has none. */
function withoutCredentials(url: string, credentials: readonly EgressCredential[]): string {
  const at = url.indexOf("?");
  if (at === -1) return url;
  const kept = url
    .slice(at + 1)
    .split("&")
    .filter((part) => !credentials.some(({ placeholder }) => part.includes(placeholder)));
  return kept.length === 0 ? url.slice(0, at) : `${url.slice(0, at)}?${kept.join("&")}`;
}

function egressSend(egress: Egress, source: EgressSource): HttpRunnerDeps["send"] {
  return (request) => egress.fetch(request, source);
}

/** A server of this machine that the operator named: the secrets are inserted here, as there is no egress in between. */
function loopbackSend(egress: Egress, credentials: readonly EgressCredential[]): HttpRunnerDeps["send"] {
  return async ({ method, url, headers, body, signal, maxBytes }) => {
    let sentUrl = url;
    const sent = Object.entries(headers);
    for (const { placeholder, read } of credentials) {
      const secret = await read();
      sentUrl = sentUrl.replaceAll(placeholder, () => encodeURIComponent(secret));
      for (const header of sent) header[1] = header[1].replaceAll(placeholder, () => secret);
    }
    return await egress.sendToLoopback({
      method,
      url: sentUrl,
      headers: Object.fromEntries(sent),
      body,
      signal,
      maxBytes,
    });
  };
}

function credentialOf(
  toolId: string,
  { place, secrets, oauth }: NeededCredential,
  { context, egress, secrets: cache }: PackageHttpDeps,
  randomBytes: PackagesContext["randomBytes"],
): { readonly credential: EgressCredential; readonly refused: () => void } {
  const learn = (value: string): void => context.scrubber.learn(toolId, value);
  const reader = ({ ref, otherwise }: NamedSecret): (() => Promise<string>) => {
    const first = cache.reader(ref, "/", learn);
    if (otherwise === undefined) return first;
    const second = cache.reader(otherwise, "/", learn);
    return () =>
      first().catch((error: unknown) => {
        if (!isCodedError(error) || error.code !== "CONFIG_SECRET_NOT_FOUND") throw error;
        return second().catch(() => Promise.reject(error));
      });
  };
  const placeholder = createPlaceholder(randomBytes);
  if (oauth === undefined) {
    const token = secrets["token"] as NamedSecret;
    const credential = { id: "token", place, placeholder, secretName: nameOf(token), read: reader(token) };
    return { credential, refused() {} };
  }
  const tokens = new OAuthTokens(
    {
      toolId,
      egressId: packageEgressId(toolId),
      ...oauth,
      readers: Object.fromEntries(Object.entries(secrets).map(([id, one]) => [id, reader(one)])),
      secretName: Object.values(secrets).map(nameOf).join(", "),
    },
    {
      egress,
      now: context.now,
      randomBytes,
      learn,
      scrub: (text) => context.scrubber.text(text),
      rotated: new RotatedToken(toolId, context),
      warn: (reason) =>
        context.logger.warn(
          { package: toolId, reason: context.scrubber.text(reason) },
          "refresh token cannot be stored, and is lost when the gateway stops",
        ),
    },
  );
  const credential = {
    id: "access_token",
    place,
    placeholder,
    secretName: tokens.secretName,
    read: () => tokens.current(),
  };
  return { credential, refused: () => tokens.forget() };
}

function nameOf({ ref }: NamedSecret): string {
  return ref.kind === "file" ? `file:${ref.path}` : ref.kind === "env" ? `env:${ref.name}` : ref.name;
}
