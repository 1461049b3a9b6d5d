/**
 * The section `packages`: settings of installed packages (`.mcpkg`), by their toolIds. A
 * package that is installed runs without an entry, as an unverified one. No entry
 * installs anything.
 */

import { isAbsolute } from "node:path";
import { choice, dictionary, flag, integer, record, reportAt, text, type ValueOf } from "@toolcrib/document";
import { canonicalHost } from "@toolcrib/hosts";
import type { SecretRef } from "@toolcrib/secrets";
import type { PackageConfig, PackagesConfig, PolicyFloor } from "./config-types.ts";
import { effectiveContainment } from "./containment.ts";
import { quote } from "./display-source.ts";
import { toCompletePath } from "./egress-shape.ts";
import { credentialShape } from "./manifest-entry-shape.ts";
import { toContainment } from "./server-declaration.ts";
import { isLoopbackHost } from "./server-url.ts";
import { inspectVariables, reportInline } from "./text-shape.ts";
import {
  containmentFields,
  containmentShape,
  dataLabelsShape,
  labelsShape,
  toolServerFields,
} from "./tool-server-shape.ts";
import { urlContainsCredential } from "./transport-shape.ts";

const defaults = {
  maxConcurrentCalls: 4,
  outputMaxBytes: 10 * 1024 ** 2,
} as const;

/** The form of a toolId (MCPKG document, section 3). */
const toolIdSource = "[a-z0-9][a-z0-9_]*(?:\\.[a-z0-9][a-z0-9_]*)+";

const url = text({
  description:
    "Instead of the URL in the manifest. https with a host name, through the egress; http to this machine only. {name} stands for an input property, in the path and the query.",
  maxLength: 4096,
  examples: ["http://127.0.0.1:8080/mcp/echo"],
  inspect(value, node, place) {
    inspectVariables(value, node, place);
    if (urlContainsCredential(value)) {
      const hint = "write credentials: { token: { secret_key_ref: NAME } }";
      reportInline(node, place, "the URL of a package contains a possible secret", hint);
      return;
    }
    const problem = lintEndpointUrl(value.trim());
    if (problem === undefined) return;
    const [message, hint] = problem;
    reportAt(node, place, { code: "CONFIG_URL_INVALID", message, hint });
  },
});

/** Returns what is wrong with the URL of an endpoint, and what to write. */
function lintEndpointUrl(value: string): readonly [message: string, hint: string] | undefined {
  const authority = /^https?:\/\/([^/?#]*)/.exec(value)?.[1];
  const sample = value.replaceAll(/\{[^{}]*\}/g, "x");
  const parsed = URL.canParse(sample) ? new URL(sample) : undefined;
  if (authority === undefined || parsed === undefined || /[{}@]/.test(authority) || value.includes("#")) {
    return [
      "Cannot read the URL of a package: it is not a complete http or https URL without user and fragment, or has a placeholder in its host",
      "write https://HOST/PATH, or http://127.0.0.1:PORT/PATH",
    ];
  }
  if (parsed.protocol === "http:") {
    if (isLoopbackHost(parsed.hostname)) return undefined;
    return [
      `The URL of a package cannot be http to ${quote(parsed.hostname)}: http is allowed to this machine only`,
      "write https",
    ];
  }
  if (canonicalHost(authority.replace(/:[0-9]*$/, "")) !== undefined) return undefined;
  return [
    `The URL of a package cannot have the host ${quote(parsed.hostname)}: https needs a host name of letters, digits, - and dots, without an address`,
    "write a name such as api.example.com; egress.connect_to gives a name an address, and egress.internal_ranges allows it",
  ];
}

const { trust_state, mutability_class } = toolServerFields;

const first_contact = choice({
  description:
    "The definition of the tool when it is listed for the first time: pin offers it at once, because the operator installed exactly this archive; ask offers it after toolcrib approve. A definition that changes later is held back either way, unless the package is certified.",
  values: ["ask", "pin"],
  default: "pin",
  aliases: { approve: "ask", accept: "pin", trust: "pin" },
});

const packageShape = record({
  name: "Package",
  description: "Settings of one installed package.",
  fields: {
    enabled: flag("Whether its tool is offered. Default: true.", { default: true }),
    trust_state,
    mutability_class,
    first_contact,
    endpoint: record({
      description: "Where an http endpoint is called.",
      fields: { url },
      hints: { method: "the manifest names the method", timeout: "write limits or containment" },
    }),
    credentials: dictionary(credentialShape, {
      description:
        "The secrets of the package: token for bearer and api_key; client_id, client_secret and refresh_token for oauth2.",
      maxEntries: 16,
      key: { source: "[a-z][a-z0-9_]{0,63}", meaning: "such as token, client_id or client_secret" },
    }),
    read_paths: containmentFields.read_paths,
    containment: containmentShape,
    language: text({
      description: "The only language whose implementations run, such as javascript or python.",
      maxLength: 100,
    }),
    implementation: text({ description: "The only implementation that runs, by its id.", maxLength: 100 }),
    labels: labelsShape,
    data_labels: dataLabelsShape,
    limits: record({
      description: "Limits of its calls.",
      fields: {
        max_concurrent_calls: integer({
          description: "Calls that run at a time; further ones wait. For a local package, its processes.",
          minimum: 1,
          maximum: 256,
          default: defaults.maxConcurrentCalls,
        }),
        output_max_bytes: integer({
          description: "Bytes of the output of its program; a longer one is an error.",
          minimum: 1024,
          maximum: 256 * 1024 ** 2,
          default: defaults.outputMaxBytes,
        }),
      },
      hints: {
        timeout_ms: "write containment: { max_execution_seconds: … }",
        max_processes: "did you mean max_concurrent_calls?",
      },
    }),
  },
  hints: {
    disabled: "write enabled: false",
    url: "write endpoint: { url: … }",
    token: "write credentials: { token: { secret_key_ref: NAME } }",
    secret_key_ref: "write credentials: { token: { secret_key_ref: NAME } }",
    trust: "did you mean trust_state?",
    network_egress: "write containment: { network_egress: … }",
    filesystem_write: "write containment: { filesystem_write: … }",
    max_execution_seconds: "write containment: { max_execution_seconds: … }",
    timeout: "write containment: { max_execution_seconds: … }",
    version: "toolcrib install TOOLID@VERSION chooses the version",
  },
});

export const packagesShape = dictionary(packageShape, {
  description:
    "Settings of installed packages, by their toolIds. A package without an entry runs as an unverified one.",
  maxEntries: 2000,
  key: { source: toolIdSource, meaning: "the toolId of a package, such as demo.echo" },
});

/** `packages` as written. */
export type PackagesDocument = ValueOf<typeof packagesShape>;
type PackageDocument = PackagesDocument[string];

/** Returns `document` with complete paths. @param fileName the file that contains it */
export function withCompletePackagePaths(
  document: PackagesDocument | undefined,
  fileName: string,
): PackagesDocument | undefined {
  if (document === undefined) return undefined;
  const complete = (path: string): string => toCompletePath(path, fileName);
  return Object.fromEntries(
    Object.entries(document).map(([toolId, entry]) => [toolId, withPaths(entry, complete)]),
  );
}

function withPaths(entry: PackageDocument, complete: (path: string) => string): PackageDocument {
  const { read_paths: readPaths, containment, credentials } = entry;
  const refs = Object.entries(credentials ?? {}).map(([id, ref]): [string, SecretRef] => [
    id,
    ref.kind === "file" && !isAbsolute(ref.path) ? { ...ref, path: complete(ref.path) } : ref,
  ]);
  return {
    ...entry,
    ...(readPaths === undefined ? {} : { read_paths: readPaths.map(complete) }),
    ...(credentials === undefined ? {} : { credentials: Object.fromEntries(refs) }),
    ...(containment === undefined
      ? {}
      : {
          containment: {
            ...containment,
            read_paths: containment.read_paths?.map(complete),
            write_paths: containment.write_paths?.map(complete),
          },
        }),
  };
}

/** Translates `packages` and fills in its defaults. */
export function toPackagesConfig(
  document: PackagesDocument | undefined,
  floor: PolicyFloor,
  maxPrograms: number,
): PackagesConfig {
  return {
    byId: Object.fromEntries(
      Object.entries(document ?? {}).map(([toolId, entry]) => [toolId, toPackageConfig(entry, floor)]),
    ),
    others: toPackageConfig({}, floor),
    maxPrograms,
  };
}

function toPackageConfig(document: PackageDocument, floor: PolicyFloor): PackageConfig {
  const { limits, trust_state: trustState = "unverified" } = document;
  const { containment, read_paths: readPaths } = document;
  const granted = [...(containment?.read_paths ?? []), ...(readPaths ?? [])];
  const declared = toContainment(
    granted.length === 0 ? containment : { ...containment, read_paths: granted },
  );
  return {
    isEnabled: document.enabled ?? true,
    trustState,
    mutabilityClass: document.mutability_class ?? "unknown",
    firstContact: document.first_contact ?? "pin",
    declared,
    effective: effectiveContainment(declared, trustState, floor),
    endpointUrl: document.endpoint?.url?.trim(),
    credentials: document.credentials ?? {},
    language: document.language,
    implementation: document.implementation,
    labels: document.labels ?? {},
    dataLabels: document.data_labels ?? [],
    limits: {
      maxConcurrentCalls: limits?.max_concurrent_calls ?? defaults.maxConcurrentCalls,
      outputMaxBytes: limits?.output_max_bytes ?? defaults.outputMaxBytes,
    },
  };
}
