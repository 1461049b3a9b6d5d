/**
 * The section `egress`: properties of the network that toolspecs send requests
 * to. The manifests of the toolspecs list the hosts that they may reach.
 */

import { isIP } from "node:net";
import { dirname, isAbsolute, resolve } from "node:path";
import {
  type DocumentNode,
  dictionary,
  list,
  type Place,
  record,
  reportAt,
  text,
  type ValueOf,
} from "@toolcrib/document";
import { parseHostName } from "@toolcrib/hosts";
import type { EgressConfig } from "./config-types.ts";
import { quote } from "./display-source.ts";

const range = text({
  description: "A range of addresses, such as 10.0.0.0/8 or fd00::/8.",
  maxLength: 64,
  examples: ["10.0.0.0/8"],
  inspect(value, node, place) {
    if (isRange(value)) return;
    const hint =
      isIP(value) === 0
        ? "write an address and the length of its prefix: 10.0.0.0/8"
        : `write ${value}/${isIP(value) === 4 ? 32 : 128}`;
    invalidAt(node, place, `${quote(value)} is not a range of addresses`, hint);
  },
});

/** Whether `value` is an address, a slash, and a valid prefix length. */
function isRange(value: string): boolean {
  const [, address = "", bits = ""] = /^([0-9a-fA-F:.]+)\/(0|[1-9][0-9]{0,2})$/.exec(value) ?? [];
  const family = isIP(address);
  return family !== 0 && Number(bits) <= (family === 4 ? 32 : 128);
}

const endpoint = text({
  description: "Address and port to connect to instead, such as 10.1.2.3:8443 or [fd00::1]:443.",
  maxLength: 64,
  examples: ["10.1.2.3:8443"],
  inspect(value, node, place) {
    if (isEndpoint(value)) return;
    const hint =
      isIP(value) === 0
        ? "write 10.1.2.3:8443, or [fd00::1]:443"
        : `write ${isIP(value) === 4 ? value : `[${value}]`}:443`;
    invalidAt(node, place, `${quote(value)} is not an address with a port`, hint);
  },
});

function isEndpoint(value: string): boolean {
  const [, four = "", six = "", port = ""] =
    /^(?:([0-9.]+)|\[([0-9a-fA-F:.]+)\]):([1-9][0-9]{0,4})$/.exec(value) ?? [];
  const isAddress = isIP(four) === 4 || isIP(six) === 6;
  return isAddress && Number(port) >= 1 && Number(port) <= 65_535;
}

function invalidAt(node: DocumentNode, place: Place, message: string, hint: string): void {
  reportAt(node, place, { code: "CONFIG_INVALID_VALUE", message: `${quote(place.path)}: ${message}`, hint });
}

export const egressShape = record({
  description:
    "Network egress of toolspecs: addresses that requests may reach in addition to public ones, and trusted certificates.",
  fields: {
    internal_ranges: list(range, {
      description:
        "Address ranges that connections may reach although they are not public. All other private, loopback and link-local addresses are refused, for every host name.",
      maxItems: 100,
    }),
    connect_to: dictionary(endpoint, {
      description:
        "Hosts with a fixed address that replaces DNS. Their certificates and addresses are checked like all others.",
      maxEntries: 100,
      key: { source: "[A-Za-z0-9.-]{1,253}", meaning: "a host name" },
      inspect(_value, node, place) {
        for (const { key, keySpan } of node.kind === "map" ? node.entries : []) {
          const verdict = parseHostName(key);
          if (verdict.kind === "valid") continue;
          place.reporter.report({
            code: "CONFIG_INVALID_VALUE",
            message: `${quote(key)} is not a host name: ${verdict.reason}`,
            hint: "write the host as in the toolspec, such as api.example.com",
            span: keySpan,
            path: place.path,
          });
        }
      },
    }),
    ca_files: list(
      text({
        description: "A file with certificates (PEM).",
        maxLength: 4096,
        examples: ["./corporate-ca.pem"],
      }),
      {
        description:
          "Certificate authorities to trust in addition to those of the system; paths are relative to the folder of this file.",
        maxItems: 100,
      },
    ),
  },
  hints: {
    allow: "the manifest of a toolspec lists the hosts that it may reach",
    hosts: "the manifest of a toolspec lists the hosts that it may reach",
    ca_file: "did you mean ca_files?",
    internal_range: "did you mean internal_ranges?",
    proxy: "this version sends requests directly",
    insecure: "certificates are always checked: add your own authority to ca_files",
  },
});

/** `egress` as written. */
export type EgressDocument = ValueOf<typeof egressShape>;

/** Returns `document` with complete paths. @param fileName the file that contains it */
export function withCompletePaths(
  document: EgressDocument | undefined,
  fileName: string,
): EgressDocument | undefined {
  if (document?.ca_files === undefined) return document;
  const caFiles = document.ca_files.map((path) => toCompletePath(path, fileName));
  return { ...document, ca_files: caFiles };
}

/** Resolves `path` from the folder of the file that names it; `~/` stays, because the home folder is unknown here. */
export function toCompletePath(path: string, fileName: string): string {
  return isAbsolute(path) || /^~[\\/]/.test(path) ? path : resolve(dirname(fileName), path);
}

/** Translates `egress` and fills in its defaults. @param certificates contents of the files, by path */
export function toEgressConfig(
  document: EgressDocument | undefined,
  certificates: ReadonlyMap<string, string>,
): EgressConfig {
  const caFiles = document?.ca_files ?? [];
  return {
    internalRanges: document?.internal_ranges ?? [],
    connectTo: document?.connect_to ?? {},
    caFiles,
    caCertificates: caFiles.flatMap((path) => certificates.get(path) ?? []),
  };
}
