/**
 * The shape of the whole configuration document: every section that this version
 * reads, and the names of the sections that it does not read yet.
 */

import {
  anything,
  choice,
  integer,
  list,
  record,
  reportRepeated,
  text,
  type ValueOf,
} from "@toolcrib/document";
import { auditShape } from "./audit-shape.ts";
import { profilesShape, toolOverridesShape } from "./discovery-shape.ts";
import { quote } from "./display-source.ts";
import { registryHostsShape } from "./egress-allow-shape.ts";
import { egressShape } from "./egress-shape.ts";
import { executionShape } from "./execution-shape.ts";
import { guardsShape } from "./guards-shape.ts";
import { hooksShape } from "./hooks-shape.ts";
import { packagesShape } from "./packages-shape.ts";
import { policyShape } from "./policy-shape.ts";
import { registriesShape } from "./registries-shape.ts";
import { searchShape } from "./search-shape.ts";
import { serveShape } from "./serve-shape.ts";
import { telemetryShape } from "./telemetry-shape.ts";
import { testsShape } from "./tests-shape.ts";
import { maxToolServers, toolServerShape } from "./tool-server-shape.ts";
import { maxToolspecs, toolspecShape } from "./toolspec-shape.ts";

const toolServersShape = list(toolServerShape, {
  description:
    "Durable MCP servers. Several files compose: a later server replaces an earlier one with the same id.",
  maxItems: maxToolServers,
  otherTypeHint: (node) => (node.kind === "map" ? "write each server as an item: - id: NAME" : undefined),
  inspect: (_values, node, place) =>
    reportRepeated(node, place, "id", (id, lineNumber) => ({
      code: "CONFIG_ID_DUPLICATE",
      message: `Duplicate id ${quote(id)}: the tool server in line ${lineNumber} has the same id`,
      hint: "give each tool server of a file a different id",
    })),
});

const providersShape = record({
  description: "Routing of model traffic. Toolcrib only checks that no tool server is also a target.",
  isOpen: true,
  fields: {
    targets: list(
      record({
        description: "A provider target. Only its id is read.",
        isOpen: true,
        fields: {
          id: text({ description: "Unique identifier.", maxLength: 256 }),
          mcp: anything("Runtime bridge; ephemeral, and not a tool server."),
        },
      }),
      { description: "Provider targets.", maxItems: 1000 },
    ),
  },
});

const fields = {
  $schema: text({ description: "Location of this schema, for editors.", maxLength: 1000 }),
  tool_servers: toolServersShape,
  providers: providersShape,
  policy: policyShape,
  guards: guardsShape,
  hooks: hooksShape,
  serve: serveShape,
  profiles: profilesShape,
  tools: toolOverridesShape,
  audit: auditShape,
  telemetry: telemetryShape,
  secrets: record({
    description: "The secret store. This version has no settings for it; it never contains a secret.",
    fields: {},
    misplaced: ({ key }) => ({
      code: "CONFIG_INVALID_VALUE",
      message: `Section "secrets" has no fields in this version, but contains ${quote(key)}`,
      hint: "the configuration never contains secrets: refer to each one with secret_key_ref where it is used",
    }),
  }),
  toolspecs: list(toolspecShape, {
    description:
      "REST APIs as tools. Several files compose: a later entry replaces an earlier one with the same id.",
    maxItems: maxToolspecs,
    otherTypeHint: (node) =>
      node.kind === "map" ? "write each toolspec as an item: - name: NAME" : undefined,
  }),
  egress: egressShape,
  packages: packagesShape,
  tests: testsShape,
  registries: registriesShape,
  search: searchShape,
  execution: executionShape,
  sandbox: record({
    description: "Sandboxes of the processes of tool servers.",
    fields: {
      mode: choice({
        description:
          "required: a server whose containment this machine cannot enforce does not start. preferred: it starts uncontained, and status, doctor and the audit say so.",
        values: ["required", "preferred"],
        aliases: {
          strict: "required",
          enforced: "required",
          best_effort: "preferred",
          optional: "preferred",
        },
        default: "required",
      }),
      registry_hosts: registryHostsShape,
      max_sandboxes: integer({
        description: "Processes in sandboxes that run at a time; a start above it is refused.",
        minimum: 1,
        maximum: 10_000,
        default: 128,
      }),
      max_package_programs: integer({
        description: "Programs of installed packages that run at a time; further calls wait.",
        minimum: 2,
        maximum: 1000,
        default: 16,
      }),
      total_memory_mb: integer({
        description:
          "MiB of memory of all processes in sandboxes together, where control groups can be created.",
        minimum: 64,
        maximum: 16_777_216,
        default: 16_384,
      }),
      total_processes: integer({
        description: "Processes and threads in all sandboxes together, where control groups can be created.",
        minimum: 16,
        maximum: 1_000_000,
        default: 4096,
      }),
    },
    hints: {
      enabled: "write mode: required or mode: preferred",
      registries: "did you mean registry_hosts?",
      fetch_hosts: "did you mean registry_hosts?",
    },
  }),
};

/** The names of all sections. */
export const documentFields: readonly string[] = Object.keys(fields);

export const documentShape = record({
  description: "Configuration of Toolcrib (toolcrib.yaml).",
  fields,
  hints: {
    servers: "write tool_servers, or put the servers of another program into a separate file and pass both",
    mcpServers: "put the servers of another program into a separate file and pass both",
    projects: "this is the file of a client: toolcrib import takes its servers over",
    context_servers: "this is the file of a client: toolcrib import takes its servers over",
    mcp: "this is the file of another program, whose servers are not in mcp.servers or mcp.mcpServers: toolcrib import takes those of clients over",
    mcp_servers: "did you mean tool_servers?",
    profile: "did you mean profiles?",
    overrides: "did you mean tools?",
    tool_specs: "did you mean toolspecs?",
    apis: "did you mean toolspecs?",
    registry: "did you mean registries?",
    package_registries: "did you mean registries?",
    upstreamServers: "write all servers below tool_servers",
    toolServers: "did you mean tool_servers?",
    otlp: "write it below telemetry: telemetry: { otlp: … }",
    opentelemetry: "did you mean telemetry?",
    limits: "write it below guards: guards: { limits: … }",
    listen: "write it below serve: serve: { listen: … }",
    version: "remove it: the configuration has no version",
  },
});

/** A configuration document as written. */
export type ConfigDocument = ValueOf<typeof documentShape>;
