/**
 * Tool servers that a manifest adopts (document 000, tier 1), in the gateway: the
 * placeholders and secrets of each start, the tools that are offered, and the
 * differences between the manifest and the real server.
 *
 * A sealed secret is read here only to find out early that it is missing; the
 * egress reads it for each request, and the process never gets it.
 */

import type { SecretResolver, ToolServerConfig } from "@toolcrib/config";
import { CodedError, type Logger } from "@toolcrib/diagnostics";
import { createPlaceholder, type ServerExits } from "@toolcrib/egress";
import type { SourceDetails } from "@toolcrib/inventory";
import type { SealedProcess } from "@toolcrib/sandbox";
import { SecretCache, secretNameOf } from "@toolcrib/secrets";
import { compareTools, offeredTools, placedCredentials, placeholderVariables } from "@toolcrib/toolspec";
import type { createUpstreamServer, UpstreamServer } from "@toolcrib/upstream";
import type { ServersContext } from "./servers-context.ts";

type UpstreamSettings = Parameters<typeof createUpstreamServer>[0];

/** Returns what the process of an adopted server gets; undefined for every other server. */
export function adoptedProcessOf(
  { id, adopted, source }: ToolServerConfig,
  resolver: SecretResolver,
  exits: Pick<ServerExits, "open">,
  { now, randomBytes, scrubber }: Pick<ServersContext, "now" | "randomBytes" | "scrubber">,
): SealedProcess | undefined {
  if (adopted === undefined) return undefined;
  const { files, credentials } = adopted;
  if (files === undefined) {
    return { seal: async () => ({ variables: {}, openExit: (server) => exits.open(server) }) };
  }
  const { manifest } = files;
  const names = placeholderVariables(manifest);
  const cache = new SecretCache({ resolver, now });
  const placed = manifest.tier === "sealed" ? placedCredentials(manifest, {}) : [];
  const readers = placed.flatMap((one) => {
    const ref = credentials[one.id];
    if (ref === undefined) return [{ placed: one, secretName: one.id, isPresent: false, read: noSecret }];
    const learn = (value: string): void => {
      scrubber.learn(id, value);
      // The password alone is a secret too.
      if (one.encoding === "basic") scrubber.learn(id, value.slice(value.indexOf(":") + 1));
    };
    const read = cache.reader(ref, source.name, learn);
    return [{ placed: one, secretName: secretNameOf(ref), isPresent: true, read }];
  });
  return {
    async seal() {
      await Promise.all(readers.map(({ isPresent, read }) => (isPresent ? read() : undefined)));
      const sealed = readers.map(({ isPresent: _isPresent, ...one }) => ({
        ...one,
        placeholder: createPlaceholder(randomBytes),
      }));
      const sent = sealed.map(({ placed: { id: credentialId, place, encoding }, ...one }) => ({
        id: credentialId,
        place,
        ...(encoding === undefined ? {} : { encoding }),
        ...one,
      }));
      return {
        openExit: (server) => exits.open(server, sent),
        variables: Object.fromEntries(
          sealed.flatMap(({ placed: one, placeholder }) => {
            const name = names.get(one.id);
            return name === undefined ? [] : [[name, placeholder]];
          }),
        ),
      };
    },
  };
}

/** The reader of a credential without a secret: its server can start and list its tools. */
async function noSecret(): Promise<string> {
  throw new CodedError("CONFIG_SECRET_NOT_FOUND", "The credential has no secret in this command");
}

/** Returns which tools of an adopted server are offered, and why others are not; nothing for every other server. */
export function adoptedTools({
  id,
  adopted,
}: ToolServerConfig): Partial<Pick<UpstreamSettings, "offers" | "explainTool">> {
  if (adopted === undefined) return {};
  const { files, tools } = adopted;
  const listed = files?.manifest.tools ?? [];
  const offered = new Set(files === undefined ? [] : offeredTools(files.manifest, listed, tools));
  const named = new Set(listed.map(({ name }) => name));
  return {
    offers: (name) => offered.has(name),
    explainTool(name) {
      if (offered.has(name)) return undefined;
      if (!named.has(name)) return undefined;
      const change = tools === "default" ? `write tools: [default, ${name}]` : `add ${name} to "tools"`;
      return `it is not enabled; to enable it, ${change} in the entry "${id}" of tool_servers in the configuration`;
    },
  };
}

/** Returns the details of an adopted server for its status; nothing for every other server. */
export function adoptedDetails(
  { adopted }: ToolServerConfig,
  upstream: Pick<UpstreamServer, "toolNames" | "hasLists">,
): Pick<SourceDetails, "title" | "version" | "hosts" | "credentials" | "manifest"> {
  const files = adopted?.files;
  if (adopted === undefined || files === undefined) return {};
  const { manifest, source } = files;
  const { name, version, displayName, entitlements } = manifest;
  const { missing, undeclared } = upstream.hasLists()
    ? differencesOf(files.manifest, upstream.toolNames())
    : { missing: [], undeclared: [] };
  return {
    ...(displayName === undefined ? {} : { title: displayName }),
    version,
    hosts: entitlements?.egress ?? [],
    credentials: Object.entries(adopted.credentials).map(([credential, ref]) => ({
      id: credential,
      secret: secretNameOf(ref),
    })),
    manifest: {
      name,
      version,
      package: `${source.kind} ${source.package} ${source.version}`,
      ...(missing.length === 0 ? {} : { missingTools: missing }),
      ...(undeclared.length === 0 ? {} : { undeclaredTools: undeclared }),
    },
  };
}

function differencesOf(
  { tools = [] }: { readonly tools?: readonly { readonly name: string }[] },
  real: readonly string[],
) {
  return compareTools(
    tools.map(({ name }) => name),
    real,
  );
}

/** Logs each new difference between the manifest of an adopted server and its tools. */
export function warnOfDifferences(server: ToolServerConfig, upstream: UpstreamServer, logger: Logger): void {
  if (server.adopted === undefined) return;
  let known = "";
  upstream.onChange(({ kind }) => {
    if (kind !== "tools" && kind !== "health") return;
    if (upstream.health().state !== "ready") return;
    const { manifest } = adoptedDetails(server, upstream);
    const { missingTools = [], undeclaredTools = [] } = manifest ?? {};
    const found = JSON.stringify([missingTools, undeclaredTools]);
    if (found === known) return;
    known = found;
    if (missingTools.length + undeclaredTools.length === 0) return;
    const fields = { server: server.id, manifest: manifest?.name, missingTools, undeclaredTools };
    logger.warn(
      fields,
      "the manifest and the server differ in their tools; those that it does not name are not offered",
    );
  });
}
