/** Explanations of the codes of the package cedar. A table is one piece. */

import type { Explanations } from "../explanation.ts";
import { library } from "../samples.ts";

export const explanations: Explanations = {
  CEDAR_ANNOTATION: {
    cause:
      "Annotations of policies are id, message, approval and description. Another name has no effect, and a misspelled one could hide an intention.",
    files: {
      "team.cedar": `@mesage("ask the team")
forbid(principal, action, resource);
`,
    },
    run: "toolcrib policy check team.cedar",
    fix: "Correct the name, as the hint says, or remove the annotation.",
  },
  CEDAR_ID_DUPLICATE: {
    cause:
      "The id of a policy names it in explanations and in the audit trail, so it has to be unique in its file.",
    files: {
      "team.cedar": `@id("all")
permit(principal, action, resource);
@id("all")
forbid(principal, action in Action::"manage", resource);
`,
    },
    run: "toolcrib policy check team.cedar",
    fix: "Give each policy its own @id.",
  },
  CEDAR_INVALID: {
    cause:
      "The policy is valid Cedar, but does not fit the schema of Toolcrib, such as an attribute that clients do not have. It would fail or never match.",
    files: { "team.cedar": 'permit(principal, action, resource) when { principal.owner == "ada" };\n' },
    run: "toolcrib policy check team.cedar",
    fix: "Use the entities, actions and attributes of the schema: toolcrib policy schema prints it.",
  },
  CEDAR_LOCKED_OUT: {
    cause:
      "A warning: with policy.files, everything that no policy permits is denied, and for this client there is none.",
    files: {
      "toolcrib.yaml": "tool_servers: []\npolicy: { files: [team.cedar] }\n",
      "team.cedar": 'permit(principal == Client::"ci", action, resource);\n',
    },
    before: ["toolcrib token create alice"],
    run: "toolcrib policy check",
    fix: "Permit it what it needs, as the hint shows, or remove its token if it should have no access.",
  },
  CEDAR_SUSPICIOUS: {
    cause:
      "The policy is valid and can have no effect, or mixes characters that look alike. Probably something else was meant.",
    files: { "team.cedar": 'permit(principal, action, resource) when { resource.name == "pаyload" };\n' },
    run: "toolcrib policy check team.cedar",
    fix: "Write what was meant. Replace letters of other alphabets by the plain ones.",
  },
  CEDAR_SYNTAX: {
    cause:
      "The file is not valid Cedar: a missing semicolon, bracket or comma, a word that Cedar does not have.",
    files: { "team.cedar": "permit(principal, action, resource)\n" },
    run: "toolcrib policy check team.cedar",
    fix: "Correct the place that the message shows. Each policy ends with a semicolon.",
  },
  CEDAR_TEMPLATE: {
    cause: "Templates (?principal, ?resource) need a program that fills them, which Toolcrib is not.",
    files: { "team.cedar": "permit(principal == ?principal, action, resource);\n" },
    run: "toolcrib policy check team.cedar",
    fix: "Write a policy for each client and tool, or for a role.",
  },
  CEDAR_TOOL_ID: {
    cause:
      "A tool is named by its id, SERVER:NAME, and not by its name on the wire (SERVER__NAME) nor by a pattern.",
    files: {
      "toolcrib.yaml": `tool_servers: []
policy: { files: [team.cedar] }
`,
      "team.cedar": 'permit(principal, action, resource == Tool::"github__list_issues");\n',
    },
    run: "toolcrib policy check",
    fix: 'Write the id: Tool::"github:list_issues". For several tools, compare the name: resource.name like "list_*".',
  },
  CEDAR_TOO_COMPLEX: {
    cause: "A condition nests or joins more than can be evaluated in bounded time.",
    files: { "toolcrib.yaml": "tool_servers: []\npolicy: { files: [team.cedar] }\n" },
    before: [
      "echo \"permit(principal, action, resource) when { $(printf '%200s' | tr ' ' '(')true$(printf '%200s' | tr ' ' ')') };\" > team.cedar",
    ],
    run: "toolcrib policy check",
    fix: "Divide it into several policies, or compare with a set: resource.name in […] as contains().",
  },
  CEDAR_TOO_LARGE: {
    cause: "A policy file is longer, or all together have more policies, than are read.",
    files: { "toolcrib.yaml": "tool_servers: []\npolicy: { files: [team.cedar] }\n" },
    before: ["yes 'permit(principal, action, resource);' | head -n 20000 > team.cedar"],
    run: "toolcrib policy check",
    fix: "Write policies for roles instead of persons, or split large files.",
  },
  CEDAR_UNAVAILABLE: {
    cause: "The policy engine could not be loaded, or it failed at a file. Nothing is permitted without it.",
    did: "A part of the installation is missing.",
    prints: "The policy engine cannot be loaded: Cannot find package\nreinstall Toolcrib",
    unrun: "machine",
    tested: "packages/cli/test/load-failure.process.test.ts",
    fix: "Install Toolcrib again. If the engine fails at one file, simplify its policies and report it.",
  },
  CEDAR_UNMATCHED: {
    cause:
      "A warning: a policy names a tool, server, label, role or client that does not exist. It may be misspelled, or not exist yet.",
    files: {
      "toolcrib.yaml": `tool_servers: [{ id: github, transport: { kind: stdio, command: node } }]
policy: { files: [team.cedar] }
`,
      "team.cedar": 'permit(principal == Client::"cly", action, resource);\n',
    },
    run: "toolcrib policy check",
    fix: "Correct the name, or keep it if it is added later.",
  },
  CEDAR_VALUE_UNKNOWN: {
    cause: "The policy compares an attribute with a value that it never has, so the condition is never true.",
    files: {
      "team.cedar":
        'forbid(principal, action, resource) when { resource has server && resource.server.trust_state == "unverifed" };\n',
    },
    run: "toolcrib policy check team.cedar",
    fix: "Use one of the values that the hint lists.",
  },
  POLICY_INVALID: {
    cause:
      "The policy files have errors, so there is no policy that could decide. The output lists each error with its place.",
    files: library(
      'const text = "permit(principal, action, resource)";',
      'await openOfflinePolicy({ clients: {}, files: [{ name: "team.cedar", text }] });',
    ),
    did: "An embedding program opens policy files with an error.",
    run: "node program.mjs",
    fix: "Fix the errors: toolcrib policy check lists them.",
  },
  POLICY_TEST_INVALID: {
    cause: "A test of the policy has an unknown, missing or invalid field.",
    files: {
      "toolcrib.yaml": `tool_servers: []
policy: { allow: ["github:*"] }
`,
      "team.policy-test.yaml": 'tests: [{ client: ci, tool: "github:list_issues", expects: allow }]\n',
    },
    run: "toolcrib policy test team.policy-test.yaml",
    fix: "Write client, tool and expect (allow or deny), as the hint shows.",
  },
  POLICY_TEST_SYNTAX: {
    cause: "A file of policy tests is neither YAML nor JSON that can be read.",
    files: {
      "toolcrib.yaml": `tool_servers: []
policy: { allow: ["github:*"] }
`,
      "team.policy-test.yaml": "tests: [{ client: ci\n",
    },
    run: "toolcrib policy test team.policy-test.yaml",
    fix: "Correct the place that the message shows.",
  },
  POLICY_TEST_TOO_LARGE: {
    cause: "A file of policy tests is longer than is read (1 MiB).",
    files: library(
      'const text = "# policy tests".padEnd(2 ** 21);',
      'const { diagnostics } = parsePolicyTests({ name: "team.test.yaml", text }, {});',
      "for (const { code, message } of diagnostics) console.log(code, message);",
    ),
    did: "An embedding program reads a generated file of policy tests.",
    run: "node program.mjs",
    fix: "Split it into several files.",
  },
  POLICY_TEST_UNMATCHED: {
    cause: "A test names a client, server, tool or rule that does not exist, so it tests nothing real.",
    files: {
      "toolcrib.yaml": `tool_servers: [{ id: github, transport: { kind: stdio, command: node } }]
policy: { allow: ["github:*"] }
`,
      "team.policy-test.yaml": 'tests: [{ client: cli, tool: "gitub:list_issues", expect: deny }]\n',
    },
    run: "toolcrib policy test team.policy-test.yaml",
    fix: "Correct the name, as the hint says.",
  },
};
