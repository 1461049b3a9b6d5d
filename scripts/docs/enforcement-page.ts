/** `docs/reference/enforcement.md`: what the gateway enforces for a tool server, from the table that it applies. */

import {
  believe,
  type MutabilityClass,
  needsApproval,
  settingOf,
  type ToolClaims,
  type TrustState,
  toolConditionText,
  trustRules,
} from "@toolcrib/policy";

const trustStates: readonly TrustState[] = ["unverified", "verified", "certified"];
const mutabilityClasses: readonly MutabilityClass[] = ["unknown", "read_only", "write"];

const hints = [undefined, true, false];
const allClaims: readonly ToolClaims[] = hints.flatMap((readOnlyHint) =>
  hints.flatMap((destructiveHint) =>
    hints.map((openWorldHint) => {
      const claims = { readOnlyHint, destructiveHint, openWorldHint };
      return Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== undefined));
    }),
  ),
);

/** Words for what a tool must declare, each with its meaning. */
const requirements: readonly (readonly [string, (claims: ToolClaims) => boolean])[] = [
  ["never", () => false],
  [
    "unless it declares `readOnlyHint: false` or `destructiveHint: true`",
    ({ readOnlyHint, destructiveHint }) => readOnlyHint !== false && destructiveHint !== true,
  ],
  [
    "it declares `readOnlyHint: true` and not `destructiveHint: true`",
    ({ readOnlyHint, destructiveHint }) => readOnlyHint === true && destructiveHint !== true,
  ],
  ["it declares `openWorldHint: false`", ({ openWorldHint }) => openWorldHint === false],
];

/** Returns the page. @throws {Error} when a belief has no words yet */
export function enforcementPage(): string {
  return `${[
    "# What is enforced, where, and how you can check it",
    "",
    "<!-- Written by `npm run docs` from packages/policy/src/server-trust.ts. -->",
    "",
    "`trust_state`, `mutability_class` and `containment` of a tool server are your word about it. Annotations (`readOnlyHint`, `destructiveHint`, `openWorldHint`) are the server's word about its tools. This page lists what the gateway does with both, for each call of a client, a composite, the command line or an embedding program.",
    "",
    "## What the gateway believes about a tool",
    "",
    "Where nothing safe is believed, the defaults of MCP apply: the tool writes, and it reaches other systems.",
    "",
    "| `trust_state` | `mutability_class` | read-only | reaches only its server |",
    "|---|---|---|---|",
    ...beliefRows(),
    "",
    "Reading a resource and fetching a prompt count as read-only tools that declare nothing else.",
    "",
    "Lists, `describe_tool`, search and the command line show tools with the annotations that are believed: `readOnlyHint` and `openWorldHint` by this table, and where nothing safe is believed (`unverified`, or `write`) also no `destructiveHint: false` and no `idempotentHint: true`. `describe_tool` and `toolcrib describe` add what the server declares under `toolcrib/declared` in `_meta`, where it differs. What a composite declares follows from these. `toolcrib approve` shows what the server declares, and that is what the gateway remembers.",
    "",
    "## Calls that are blocked",
    "",
    "The rules about containment apply to servers over `sse` and `streamable_http`, whose process is not on this machine, and only to what you declare (or `policy.floor` requires), not to the defaults of `trust_state`. A process of this machine is contained by its [sandbox](containment.md), whatever its tools declare; with `sandbox.mode: preferred` it can run uncontained, and is then marked so.",
    "",
    "| Rule | `trust_state` | Your setting | The tool | Then | To allow it |",
    "|---|---|---|---|---|---|",
    ...ruleRows(),
    "",
    "A blocked call never reaches the server. Its error names the reason and the setting. The audit trail gets a `call.denied` record with the rule, and an event of its own: `mutability.violation` or `containment.violation`. A call that is only recorded is made, with the event.",
    "",
    "## Definitions that wait for approval",
    "",
    "The gateway remembers the whole definition of each tool, prompt and resource template that it accepted (name, title, description, schemas, arguments, annotations, icons, `_meta`), and the instructions of the server. What has another definition is held back: it is not listed, searched or called until the operator approves it, a call explains that, and instructions that wait are left out of the gateway's own. `toolcrib approve SERVER` shows every text of what is new and every difference of what changed. Of many definitions it names each, and shows completely those that changed or are suspicious; `--full` shows all texts. An approval applies to exactly the definitions from which that was made, and with `--digest` to those of an earlier run. A call that waited (for a person, for a place in a queue, or while its server was started or connected again) is compared with the lists again before it is sent, and is refused if the definition of its tool changed. It points out what is suspicious: hidden characters, sentences addressed to a model, names of other servers' tools and names that look like them, and texts that grew. That helps to read; a definition without such a finding is not known to be harmless.",
    "",
    "| `trust_state` | a definition that is listed for the first time | a definition that changed |",
    "|---|---|---|",
    "| `unverified` | held back, unless the server has `first_contact: pin` | held back |",
    "| `verified` | accepted, unless the server has `first_contact: ask` | held back |",
    "| `certified` | accepted, unless the server has `first_contact: ask` | accepted, with the event `definition.changed` |",
    "",
    "The resources that a server lists change with its data. What is approved is therefore that it lists any: until then, none is listed or read. Later entries need no approval; those of an `unverified` server are labelled with their origin and lose hidden characters, as its results do. With `pin_resources: true`, each resource waits for itself, when it is new or changed (except for its size and date). While a resource, template or list waits, a URI that the approved lists do not offer is not read from its server.",
    "",
    "At most 12,000 definitions of a server are accepted; more are held back. While definitions wait that a client may list, it finds the tool `list_waiting_servers`, which names their servers and the command. Events, which name the kind of the definition: `definition.changed`, `definition.approved`.",
    "",
    "## Calls that need an approval",
    "",
    `Each call of a tool needs an approval of the operator where its server is ${approvalStates()} and the tool is not known to be read-only (first table), unless \`policy.waive_approval\` names it. The call is refused with an id; \`toolcrib approve call:ID\` shows its arguments and approves exactly this call once, within ten minutes, and \`--deny\` refuses it for ten minutes. Secrets of the configuration are replaced, and nothing is hidden because of its name. Long texts, long lists and values in the form of a credential are left out with a mark at first; then the call can be approved only with \`--full\`, which shows all of its arguments as JSON. The arguments are kept in the home (\`approvals/calls.json\`, mode 0600) until the decision, for at most an hour; a call whose arguments have more than 65,536 bytes cannot be approved. An approval is bound to the client, the tool, the arguments, the definition of the tool and the policy. Of the \`_meta\` of an approved call, only the progress token and the trace (\`traceparent\`, \`tracestate\`) reach the server: the rest is chosen by the client and shown to nobody. At most 20 calls of a client wait, each for an hour. The operator's own calls need no approval, and neither do resources and prompts. With \`approvals: { elicitation: true }\` in \`policy.clients.NAME\`, the person at that client decides in a form that the client shows, with all arguments; calls whose arguments do not fit into it (2,000 characters) and calls of composites are left to the operator. The decisions and the use of an approval are on the audit trail (\`approval.call.granted\`, \`approval.call.denied\`, \`approval\` in \`call.intent\` and \`call.denied\`).`,
    "",
    "## Results of unverified servers",
    "",
    'Results, errors, progress and messages of a server that is `unverified` lose control characters, terminal sequences, bidirectional controls and every other character without a visible form; joiners and variation selectors stay where a script or an emoji needs one, and unusual spaces become ordinary ones, except for a single one before something visible. Other visible text is unchanged. Each result carries its origin: `_meta["toolcrib/server"]`, and `_meta["toolcrib/trustState"]: "unverified"`. The size of results is limited for all servers (`serve.limits.result_max_bytes`).',
    "",
    "The characters are removed before anything checks a result: its form, its output schema, its members. A result in which two names become equal by that is refused (`UPSTREAM_RESULT_INVALID`). Resources that are sent as bytes lose them too, where their media type is one of text and the bytes are UTF-8. The label is set last. An error of the server itself keeps its JSON-RPC code and its data, and the label is in the data; `code` and `hint`, which errors of the gateway have there, are removed.",
    "",
    "The first 64 KiB of the texts of such a result are searched for sentences that are addressed to a model, by the patterns of `toolcrib approve`. What is found is recorded (`result.suspicious`: what it asks for and its place, not the text) and never blocked: harmless texts can match, and an attacker can avoid the patterns.",
    "",
    "## Results of all servers",
    "",
    "Members of `_meta` that start with `toolcrib/` are removed in every part of a result and from the data of errors: only the gateway writes them. Structured content is data of the tool and stays as it is. Members about the request between the gateway and the server (`resultType`, `inputRequests`, `requestState`, `ttlMs`, `cacheScope`) are not passed on, in either direction: a server asks a client through the gateway, or not at all.",
    "",
    'At the endpoint of all servers, a URI that several servers list is read from the first of them in the order of the configuration. The result of a read names its server in every trust state: `_meta["toolcrib/server"]`.',
    "",
    "## How you can check it",
    "",
    "- `toolcrib approve` lists the definitions and the calls that wait.",
    "- `toolcrib call SERVER__TOOL` makes a call as the gateway would, and prints the reason if it is blocked.",
    "- `toolcrib audit list` shows the events; `toolcrib audit list --json` has their rules.",
    "- `toolcrib status` lists restrictions that nothing contains, and those by which calls are judged in place of that.",
    "- `toolcrib sandbox check` shows what this machine can contain.",
    "",
    "## What is not enforced",
    "",
    "- Texts of resources (names, titles, descriptions) need no approval, unless the server has `pin_resources: true`.",
    "- `scoped` network and files of a server that runs elsewhere.",
    "- A call that is sent before the gateway has read a changed list reaches the changed server. Lists are read from the session that clients share, not from those of clients that a server can ask.",
    "- A server that runs elsewhere can do what its tools do not declare. A declared contradiction is all that blocks the tools of a `verified` one.",
  ].join("\n")}\n`;
}

/** The trust states in which calls need an approval, in Markdown. */
function approvalStates(): string {
  return trustStates
    .filter((trustState) =>
      needsApproval({ trustState, mutabilityClass: "unknown", transport: "stdio", denied: [] }, {}),
    )
    .map((trustState) => `\`${trustState}\``)
    .join(" or ");
}

function beliefRows(): string[] {
  return trustStates.flatMap((trustState) =>
    mutabilityClasses.map((mutabilityClass) => {
      const wordsFor = (aspect: keyof ReturnType<typeof believe>): string => {
        const server = { trustState, mutabilityClass, transport: "stdio", denied: [] } as const;
        const found = requirements.find(([, isMet]) =>
          allClaims.every((claims) => believe(server, claims)[aspect] === isMet(claims)),
        );
        if (found === undefined)
          throw new Error(`No words for ${aspect} of ${trustState} ${mutabilityClass}`);
        return found[0];
      };
      return `| \`${trustState}\` | \`${mutabilityClass}\` | ${wordsFor("isReadOnly")} | ${wordsFor("isClosedWorld")} |`;
    }),
  );
}

function ruleRows(): string[] {
  return trustRules.map((rule) =>
    [
      "",
      ` \`${rule.id}\` `,
      ` ${rule.trustState === undefined ? "any" : `\`${rule.trustState}\``} `,
      ` \`${settingOf(rule)}\` `,
      ` ${toolConditionText(rule)} `,
      ` ${rule.effect === "block" ? "blocked" : "recorded"} `,
      ` ${rule.remedy ?? ""} `,
      "",
    ].join("|"),
  );
}
