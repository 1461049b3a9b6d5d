/**
 * Files of tests of a policy (`*.policy-test.yaml`): requests, and the decision that
 * each must get. They state the facts that a gateway would know; those of configured
 * servers can be left out. Unknown names are reported: a test about a misspelled
 * tool that expects a denial would pass. Parses texts; it decides nothing.
 */

import { type Diagnostic, hasErrors, nearestName, type Source } from "@toolcrib/diagnostics";
import {
  anyJson,
  checkDocument,
  choice,
  type DocumentKind,
  dictionary,
  flag,
  integer,
  list,
  nodeAt,
  type OpenDocument,
  openDocument,
  quote,
  record,
  text,
  type ValueOf,
} from "@toolcrib/document";
import { attributeValues } from "./cedar-schema.ts";

const testKind: DocumentKind = {
  noun: "policy test",
  codes: {
    fileTooLarge: "POLICY_TEST_TOO_LARGE",
    syntax: "POLICY_TEST_SYNTAX",
    tooComplex: "POLICY_TEST_SYNTAX",
    duplicateKey: "POLICY_TEST_SYNTAX",
    unknownField: "POLICY_TEST_INVALID",
    fieldRequired: "POLICY_TEST_INVALID",
    wrongType: "POLICY_TEST_INVALID",
    valueInvalid: "POLICY_TEST_INVALID",
  },
  allowsComments: true,
  tooLargeHint: "split it into several files",
  emptyHint: "write tests: [{ client: ci, tool: github:list_issues, expect: allow }]",
};

const name = (description: string, example: string) =>
  text({ description, maxLength: 2048, examples: [example] });

const anyKey = { source: ".{1,128}", meaning: "a text of at most 128 characters" };

const serverFacts = record({
  description: "The source of the tool. Facts about a configured server can be left out.",
  fields: {
    transport: choice({ description: "Its transport.", values: attributeValues["transport"] ?? [] }),
    trust_state: choice({ description: "Its trust state.", values: attributeValues["trust_state"] ?? [] }),
    mutability_class: choice({
      description: "Its mutability class.",
      values: attributeValues["mutability_class"] ?? [],
    }),
    labels: dictionary(text({ description: "A label.", minLength: 0, maxLength: 256 }), {
      description: "Its labels.",
      maxEntries: 64,
      key: anyKey,
    }),
  },
});

const testShape = record({
  description: "A request, and its decision.",
  fields: {
    name: text({ description: "What the test shows.", maxLength: 500 }),
    client: { required: name("Name of the client, as in policy.clients.", "ci") },
    action: choice({ description: "What the client does.", values: ["list", "call", "save", "approve"] }),
    tool: name("Id of a tool.", "github:list_issues"),
    resource: name("Server and URI of a resource.", "files:file:///tmp/x"),
    prompt: name("Server and name of a prompt.", "github:review"),
    server: serverFacts,
    read_only: flag("Whether the gateway believes that it only reads."),
    destructive: flag("Whether the gateway believes that it destroys."),
    idempotent: flag("Whether the gateway believes that a repetition changes nothing."),
    open_world: flag("Whether the gateway believes that it reaches other systems."),
    tags: list(text({ description: "A tag.", maxLength: 128 }), { description: "Tags.", maxItems: 100 }),
    arguments: dictionary(anyJson("An argument."), {
      description: "Arguments of the call.",
      maxEntries: 1000,
      key: anyKey,
    }),
    depth: integer({ description: "0 for a call of the client.", minimum: 0, maximum: 100 }),
    time: text({
      description: "Time of the call (RFC 3339).",
      maxLength: 40,
      examples: ["2026-01-31T12:00:00Z"],
    }),
    seen_labels: list(text({ description: "A label.", maxLength: 256 }), {
      description: "Labels of the results that the client received.",
      maxItems: 100,
    }),
    labels: list(text({ description: "A label.", maxLength: 256 }), {
      description: "Labels of the results that the run received.",
      maxItems: 100,
    }),
    expect: {
      required: choice({
        description: "The decision.",
        values: ["allow", "deny"],
        aliases: { permit: "allow", forbid: "deny" },
      }),
    },
    rule: name("The rule that must decide: a policy's @id or a path of the configuration.", "no-refunds"),
  },
  hints: { args: "did you mean arguments?", decision: "did you mean expect?", id: "did you mean name?" },
});

const fileShape = record({
  description: "Tests of a policy.",
  fields: {
    tests: { required: list(testShape, { description: "The tests.", maxItems: 10_000 }) },
  },
});

/** One test of a policy, as its file writes it. */
export type PolicyTest = ValueOf<typeof testShape>;

/** The names that tests can refer to. */
export interface KnownTestNames {
  /** Names of clients. */
  readonly clients: readonly string[];
  /** Ids of tool servers and toolspecs. */
  readonly servers: readonly string[];
  /** Returns the names of the tools of a server, without its id; `undefined` where they are not known. */
  readonly toolsOf: (server: string) => readonly string[] | undefined;
  /** Rules that can decide: policies as `FILE#ID`, and paths of the configuration. */
  readonly rules: readonly string[];
}

/**
 * Parses a file of tests. `value` is `undefined` when `diagnostics` contains an error.
 *
 * @param known names that exist: an unknown rule is an error, an unknown client, server or tool a warning.
 */
export function parsePolicyTests(
  source: Source,
  known: KnownTestNames,
): {
  readonly value: readonly PolicyTest[] | undefined;
  readonly diagnostics: readonly Diagnostic[];
} {
  const open = openDocument(source, testKind);
  const tests = checkDocument(open, fileShape)?.tests;
  for (const [index, test] of tests?.entries() ?? []) reportUnknownNames(open, index, test, known);
  const { diagnostics } = open.reporter;
  return { value: hasErrors(diagnostics) ? undefined : tests, diagnostics };
}

/** Whether a test means `rule` by `written`: the whole rule, its id, or its file without folders and its id. */
export function isNamedRule(rule: string, written: string): boolean {
  return rule === written || rule.endsWith(`#${written}`) || rule.endsWith(`/${written}`);
}

function reportUnknownNames(
  { reporter, tree }: OpenDocument,
  index: number,
  { client, tool, resource, prompt, server: stated, rule }: PolicyTest,
  { clients, servers, toolsOf, rules }: KnownTestNames,
): void {
  const report = (field: string, severity: "error" | "warning", message: string, fix: string) =>
    reporter.report({
      severity,
      code: "POLICY_TEST_UNMATCHED",
      message,
      hint: fix,
      span: nodeAt(tree, ["tests", index, field])?.span,
      path: `tests[${index}].${field}`,
    });
  const fixOf = (near: string | undefined, otherwise: string) =>
    near === undefined ? otherwise : `did you mean ${quote(near)}?`;
  if (!clients.includes(client)) {
    const message = `No client is called ${quote(client)}: it has no token and no entry in policy.clients`;
    const fix = "correct it, or keep it for a client that does not exist";
    report("client", "warning", message, fixOf(nearestName(client, clients), fix));
  }
  if (rule !== undefined && !rules.some((one) => isNamedRule(one, rule))) {
    const names = rules.map((one) => one.slice(one.indexOf("#") + 1));
    const fix = "write the @id of a policy, or a path of the configuration such as policy.deny[0]";
    report("rule", "error", `No rule is called ${quote(rule)}`, fixOf(nearestName(rule, names), fix));
  }
  const written = tool ?? resource ?? prompt ?? "";
  const field = tool !== undefined ? "tool" : resource !== undefined ? "resource" : "prompt";
  const at = written.indexOf(":");
  const server = at === -1 ? written : written.slice(0, at);
  if (!servers.includes(server)) {
    // A test that states the facts about its server is about one that is not configured.
    if (stated !== undefined || written === "") return;
    const near = nearestName(server, servers);
    const fix = "correct it, or state the facts about the server: server: { trust_state: verified }";
    const message = `No tool server and no toolspec has the id ${quote(server)}`;
    report(field, "warning", message, fixOf(near && near + written.slice(server.length), fix));
    return;
  }
  const tools = tool === undefined ? undefined : toolsOf(server);
  const own = written.slice(server.length + 1);
  if (tools === undefined || tools.includes(own)) return;
  const near = nearestName(own, tools);
  const fix = "correct it, or keep it for a tool that is added later";
  report(field, "warning", `"${server}" has no tool ${quote(own)}`, fixOf(near && `${server}:${near}`, fix));
}
