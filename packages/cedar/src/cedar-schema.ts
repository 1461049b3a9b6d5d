/**
 * The schema of policies: the entities, actions and facts that a policy can refer
 * to. Policies are validated against it when they are loaded, and
 * `toolcrib policy schema` prints it. A change of it can break the policies of users.
 */

/** The schema in the syntax of Cedar schemas. */
export const cedarSchema = `// The facts that policies of Toolcrib can refer to.

// A role: operator, admin or viewer of an identity, and policy.clients.NAME.roles.
entity Role;

// A client. Its id is the name of its token, or stdio, cli, library, anonymous; for a client of an
// identity provider it is "ISSUER SUBJECT". Tags: policy.clients.NAME.labels.
entity Client in [Role] {
  name: String,
  issuer: String,
  subject: String,
} tags String;

// A tool server or toolspec; "toolcrib" for Toolcrib's own tools, "saved" for saved ones. Tags: its labels.
entity ToolServer {
  // stdio, sse, streamable_http; https for a toolspec; none
  transport: String,
  // unverified, verified, certified; none where it is not a tool server
  trust_state: String,
  // read_only, write, unknown
  mutability_class: String,
} tags String;

// A tool, a resource or its template, and a prompt. Their ids: "SERVER:NAME" ("toolcrib:NAME" for Toolcrib's own
// tools, "saved:NAME" for saved ones), "SERVER:resources/URI", "SERVER:prompts/NAME".
entity Tool, Resource, Prompt in [ToolServer] {
  // The name at its server; the URI of a resource.
  name: String,
  // The name on the endpoint of all servers.
  wire_name: String,
  server: ToolServer,
  // server, toolspec, local, meta, saved, package
  origin: String,
  version: String,
  tags: Set<String>,
  // Annotations as the gateway believes them, by the trust in the server. To read a resource or to
  // fetch a prompt is read-only.
  read_only: Bool,
  destructive: Bool,
  idempotent: Bool,
  open_world: Bool,
};

// Texts, numbers, true and false among the top-level arguments of a call, as texts, by name.
entity Arguments tags String;

// Whole numbers among them, as numbers, by name.
entity Integers tags Long;

// In UTC. weekday is monday to sunday, date is YYYY-MM-DD, unix is in seconds.
type Time = {
  unix: Long,
  hour: Long,
  minute: Long,
  weekday: String,
  date: String,
};

// To list, find or use something.
action use;

// To see it in lists, search and descriptions.
action list in [use] appliesTo {
  principal: Client,
  resource: [Tool, Resource, Prompt],
  context: {},
};

// To call a tool, read a resource or fetch a prompt.
action call in [use] appliesTo {
  principal: Client,
  resource: [Tool, Resource, Prompt],
  context: {
    arguments: Arguments,
    integers: Integers,
    // 0 for a call of the client; inner calls of composites are deeper.
    depth: Long,
    // Id of the tool that makes an inner call; empty for a call of the client.
    parent: String,
    // legacy or modern
    era: String,
    time: Time,
    // Labels of the results that this call tree received, such as "personal".
    labels: Set<String>,
    // Labels of the results that this client received.
    seen_labels: Set<String>,
  },
};

// To save a composite tool.
action save appliesTo {
  principal: Client,
  resource: Tool,
  context: {},
};

// To approve its own call of a tool in a form; policy.clients.NAME.approvals must allow it, too.
action approve appliesTo {
  principal: Client,
  resource: Tool,
  context: {},
};
`;

/** The values that attributes can have, by the name of the attribute. */
export const attributeValues: { readonly [attribute: string]: readonly string[] } = {
  transport: ["stdio", "sse", "streamable_http", "https", "none"],
  trust_state: ["unverified", "verified", "certified", "none"],
  mutability_class: ["read_only", "write", "unknown"],
  origin: ["server", "toolspec", "local", "meta", "saved", "package"],
  era: ["legacy", "modern"],
  weekday: ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"],
};
