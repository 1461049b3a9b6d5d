/**
 * Completes a tool server that names a manifest instead of a command (document
 * 000, tier 1): its process, its containment and its secrets follow from the
 * manifest. Reports where the entry and the manifest do not match. Pure.
 */

import { hash } from "node:crypto";
import { nearestName } from "@toolcrib/diagnostics";
import { entryOf, fieldOf, listOf, nodeAt, type Problem } from "@toolcrib/document";
import { type AdoptedSource, adoptedSource, type Manifest, offeredTools } from "@toolcrib/toolspec";
import type { ServerDeclaration } from "./config-layer.ts";
import type { AdoptedManifest, ConfigText, StdioTransportConfig } from "./config-types.ts";
import { quote } from "./display-source.ts";
import { defaultTools, suggestedSecretName } from "./toolspec-facts.ts";

type Report = (problem: Problem) => void;

/**
 * Reads the source of a manifest and the record of its package.
 *
 * @param lock the text of its lock, if it has one
 * @returns a problem where the manifest adopts no server, or its digest is not that of the lock.
 */
export function readAdoptedManifest(
  manifest: Manifest,
  { manifestFile, lock }: { readonly manifestFile: string; readonly lock: string | undefined },
): AdoptedManifest | (Problem & { readonly hint: string }) {
  const lockDigest = lock === undefined ? undefined : hash("sha256", lock, "hex");
  const source = adoptedSource(manifest, { lockDigest });
  if (!("kind" in source)) {
    const code = source.path === "image.digest" ? "CONFIG_MANIFEST_LOCK" : "CONFIG_MANIFEST_INVALID";
    return { code, message: source.message, hint: source.hint };
  }
  const isGo = source.kind === "go";
  return {
    manifest,
    manifestFile,
    source,
    // A lock without its digest is not a record.
    record: isGo ? { moduleDigest: source.digest } : { lock: source.digest === undefined ? undefined : lock },
  };
}

/** Returns `declared` with the process, the containment and the secrets of its manifest. */
export function completeAdopted(
  declared: ServerDeclaration,
  files: AdoptedManifest,
  report: Report,
  { needsSecrets }: { readonly needsSecrets: boolean },
): ServerDeclaration {
  const { adopted, transport } = declared;
  if (adopted === undefined || transport.kind !== "stdio") return declared;
  const completed = { ...adopted, files };
  lintCredentials(declared, completed, files, needsSecrets, report);
  lintTools(declared, completed, files, report);
  const { manifest, source } = files;
  const egress = manifest.entitlements?.egress ?? [];
  const isDenied = egress.length === 0 || declared.declared.networkEgress === "deny";
  return {
    ...declared,
    adopted: completed,
    transport: toTransport(transport, source, entrustedVariables(declared, manifest)),
    declared: {
      ...declared.declared,
      networkEgress: isDenied ? "deny" : "scoped",
      egressAllow: isDenied ? [] : egress,
      // The author of the manifest wrote the first of them.
      readsArguments: declared.declared.readsArguments ?? source.args.length === 0,
    },
    problems: declared.problems.filter(({ code }) => code !== "CONFIG_MANIFEST_NOT_FOUND"),
  };
}

/** The program that fetches and starts the package of an adopted server, and how to get it. */
export function runnerOf({ kind }: Pick<AdoptedSource, "kind">): {
  readonly command: string;
  readonly hint: string;
} {
  return runners[kind];
}

const runners = {
  go: {
    command: "go",
    hint: "install Go (go.dev/doc/install), which builds the server from its module, and start Toolcrib with a PATH that contains it",
  },
  npm: {
    command: "npx",
    hint: "install Node with npm (nodejs.org), and start Toolcrib with a PATH that contains npx",
  },
  python: {
    command: "uvx",
    hint: "install uv (docs.astral.sh/uv) and a Python, and start Toolcrib with a PATH that contains uvx",
  },
} as const;

/** The secrets that an entrusted server gets, by the variables that its manifest names. */
function entrustedVariables(
  { adopted, span }: ServerDeclaration,
  { tier, credentials = [] }: Manifest,
): { readonly [name: string]: ConfigText } {
  if (tier !== "entrusted") return {};
  return Object.fromEntries(
    credentials.flatMap(({ id, inject: { env } }) => {
      const ref = adopted?.credentials[id];
      if (env === undefined) return [];
      // Many servers list their tools only where the variable is set.
      const none: ConfigText = { kind: "literal", text: "not-set", isSecret: false, span };
      return [[env, ref === undefined ? none : { kind: "secret" as const, ref, prefix: "", span }] as const];
    }),
  );
}

/** The command line of the runner that launches the package, which the gateway replaces by the fetched program. */
function toTransport(
  transport: StdioTransportConfig,
  { kind, package: name, version, program, args: fixed }: AdoptedSource,
  secrets: { readonly [name: string]: ConfigText },
): StdioTransportConfig {
  const { span } = transport.command;
  const literal = (text: string): ConfigText => ({ kind: "literal", text, isSecret: false, span });
  const words = {
    go: ["run", `${name}@${version}`],
    npm: ["--yes", "--package", `${name}@${version}`, "--", program],
    python: ["--from", `${name}==${version}`, program],
  }[kind];
  const { command } = runners[kind];
  return {
    ...transport,
    command: literal(command),
    args: [...[...words, ...fixed].map(literal), ...transport.args],
    env: { ...transport.env, ...secrets },
  };
}

function lintCredentials(
  { id, node, span }: ServerDeclaration,
  { credentials: given }: NonNullable<ServerDeclaration["adopted"]>,
  { manifest, manifestFile }: AdoptedManifest,
  needsSecrets: boolean,
  report: Report,
): void {
  const known = (manifest.credentials ?? []).map((one) => one.id);
  const field = fieldOf(node, "credentials");
  for (const entry of field?.kind === "map" ? field.entries : []) {
    if (known.includes(entry.key)) continue;
    const near = nearestName(entry.key, known);
    report({
      code: "CONFIG_CREDENTIAL_UNKNOWN",
      message: `The manifest ${manifestFile} has no credential ${quote(entry.key)}`,
      hint:
        near !== undefined
          ? `did you mean ${near}?`
          : known.length === 0
            ? "remove it: the server needs no credentials"
            : `it has ${listOf(known)}`,
      span: entry.keySpan,
      path: ".credentials",
    });
  }
  const missing = known.filter((one) => !Object.hasOwn(given, one));
  if (missing.length === 0 || !needsSecrets) return;
  const names = missing.map((one) => ({ one, secret: suggestedSecretName(id, one) }));
  report({
    code: "CONFIG_CREDENTIAL_MISSING",
    message: `Tool server ${quote(id)} needs ${missing.length === 1 ? "a secret" : "secrets"} for ${listOf(missing.map(quote)).replace(" or ", " and ")}`,
    hint: `add credentials: { ${names.map(({ one, secret }) => `${one}: { secret_key_ref: ${secret} }`).join(", ")} } and run ${names.map(({ secret }) => `toolcrib secret set ${secret}`).join(", ")}`,
    span: entryOf(node, "credentials")?.keySpan ?? span,
    path: ".credentials",
  });
}

function lintTools(
  { id, node, span }: ServerDeclaration,
  { tools }: NonNullable<ServerDeclaration["adopted"]>,
  { manifest }: AdoptedManifest,
  report: Report,
): void {
  const known = (manifest.tools ?? []).map(({ name }) => name);
  if (offeredTools(manifest, manifest.tools ?? [], tools).length === 0) {
    report({
      severity: "warning",
      code: "CONFIG_TOOL_UNKNOWN",
      message: `Tool server ${quote(id)} offers no tool: its manifest ${known.length === 0 ? "names none" : "marks none with default: true"}`,
      hint:
        known.length === 0
          ? "write the tools of the server into it: toolcrib lint-manifests --live MANIFEST --write"
          : "write tools: all, or list the tools that you want",
      span,
      path: ".tools",
    });
  }
  if (typeof tools === "string") return;
  for (const [index, name] of tools.entries()) {
    if (name === defaultTools || known.includes(name)) continue;
    const near = nearestName(name, known);
    report({
      code: "CONFIG_TOOL_UNKNOWN",
      message: `The manifest has no tool ${quote(name)}`,
      hint: near === undefined ? `it has ${listOf(known.slice(0, 20))}` : `did you mean ${near}?`,
      span: nodeAt(node, ["tools", index])?.span ?? span,
      path: `.tools[${index}]`,
    });
  }
}
