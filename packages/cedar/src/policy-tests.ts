/**
 * Files of tests of a policy (`*.policy-test.yaml`): requests, and the decision that
 * each must get. They state the facts that a gateway would know; those of configured
 * servers can be left out. Parses texts; it decides nothing.
 */

import type { Diagnostic, Source } from "@toolcrib/diagnostics";
import {
  anyJson,
  checkDocument,
  choice,
  type DocumentKind,
  dictionary,
  flag,
  integer,
  list,
  openDocument,
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

/** Parses a file of tests. `value` is `undefined` when `diagnostics` contains an error. */
export function parsePolicyTests(source: Source): {
  readonly value: readonly PolicyTest[] | undefined;
  readonly diagnostics: readonly Diagnostic[];
} {
  const open = openDocument(source, testKind);
  const value = checkDocument(open, fileShape)?.tests;
  return { value, diagnostics: open.reporter.diagnostics };
}
