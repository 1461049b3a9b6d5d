/** The shape of `containment.egress_allow`: hosts, written as texts, or as maps with a way to treat their TLS. */

import {
  choice,
  type DocumentNode,
  either,
  list,
  type Place,
  record,
  reportAt,
  text,
  type ValueOf,
} from "@toolcrib/document";
import { parseHostPattern } from "@toolcrib/hosts";
import { quote } from "./display-source.ts";

const hostPattern = {
  source:
    "(?:\\*\\.)?[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*(?::[0-9]{1,5})?",
  meaning:
    "a host name such as api.example.com, *.example.com or api.example.com:8443, without scheme and path",
};

const hostText = text({
  description: "A host, optionally with a port; *. matches one label.",
  pattern: hostPattern,
  maxLength: 260,
  inspect: inspectHost,
});

const hostRecord = record({
  name: "AllowedHost",
  description: "A host, and how its TLS is treated.",
  fields: {
    host: { required: hostText },
    tls: choice({
      description:
        "intercept: the proxy reads each request, with a certificate of its own. passthrough: it checks the name in the handshake and reads nothing, so a server behind that name can be asked for other hosts (fronting).",
      values: ["intercept", "passthrough"],
      default: "intercept",
      aliases: { pass_through: "passthrough", unread: "passthrough", inspect: "intercept" },
    }),
  },
  hints: {
    port: "write it after the host: host: api.example.com:8443",
    url: "did you mean host?",
    name: "did you mean host?",
    passthrough: "write tls: passthrough",
  },
});

/** The list of a server with `network_egress: scoped`. */
export const egressAllowShape = list(
  either(
    (node) => node.kind !== "map",
    hostText,
    hostRecord,
    "A host, or a host with the way to treat its TLS.",
  ),
  { description: "Hosts that network_egress: scoped allows.", maxItems: 1000 },
);

/** Hosts for `sandbox.registry_hosts`. */
export const registryHostsShape = list(
  text({
    description: "A host, optionally with a port.",
    pattern: {
      source: "[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::[0-9]{1,5})?",
      meaning: "a host name such as files.example.com or files.example.com:8443, without scheme and path",
    },
    maxLength: 260,
    inspect(value, node, place) {
      const port = value.split(":")[1];
      if (port === undefined || (Number(port) >= 1 && Number(port) <= 65_535)) return;
      report(value, "a port is between 1 and 65535", node, place);
    },
  }),
  {
    description:
      "Hosts that fetches of npx, uvx and go run reach in addition to the registries of their own settings, by TLS.",
    maxItems: 100,
  },
);

/** Returns the hosts of the list, and those whose TLS is passed through: a host that is written both ways is read. */
export function toEgressAllow(document: ValueOf<typeof egressAllowShape>): {
  readonly hosts: readonly string[];
  readonly passedThrough: readonly string[];
} {
  const entries = document.map((entry) =>
    typeof entry === "string" ? { host: entry, tls: undefined } : entry,
  );
  const read = new Set(
    entries.flatMap(({ host, tls }) => (tls === "passthrough" ? [] : [host.toLowerCase()])),
  );
  return {
    hosts: entries.map(({ host }) => host),
    passedThrough: entries.flatMap(({ host }) => (read.has(host.toLowerCase()) ? [] : [host])),
  };
}

/** Reports a host that the egress proxy refuses, such as an address. */
function inspectHost(value: string, node: DocumentNode, place: Place): void {
  const [name = "", port] = value.split(":");
  const verdict = parseHostPattern(name.toLowerCase());
  const isPort = port === undefined || (Number(port) >= 1 && Number(port) <= 65_535);
  if (verdict.kind === "valid" && isPort) return;
  const reason = verdict.kind === "invalid" ? verdict.reason : "a port is between 1 and 65535";
  report(value, reason, node, place);
}

function report(value: string, reason: string, node: DocumentNode, place: Place): void {
  reportAt(node, place, {
    code: "CONFIG_INVALID_VALUE",
    message: `${quote(place.path)} is no host that a server can reach: ${reason}, but it is ${quote(value)}`,
    hint: "write a host name such as api.example.com, *.example.com or api.example.com:8443",
  });
}
