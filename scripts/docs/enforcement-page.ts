/** `docs/reference/enforcement.md`: what the gateway enforces for a tool server, from the table that it applies. */

import {
  believe,
  type MutabilityClass,
  settingOf,
  type ToolBelief,
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
    "## Results of unverified servers",
    "",
    'Results, errors, progress and messages of a server that is `unverified` lose control characters, terminal sequences, bidirectional controls and invisible characters that can carry hidden text; visible text is unchanged. Each result carries its origin: `_meta["toolcrib/server"]`, and `_meta["toolcrib/trustState"]: "unverified"`. The size of results is limited for all servers (`serve.limits.result_max_bytes`).',
    "",
    "## How you can check it",
    "",
    "- `toolcrib call SERVER__TOOL` makes a call as the gateway would, and prints the reason if it is blocked.",
    "- `toolcrib audit list` shows the events; `toolcrib audit list --json` has their rules.",
    "- `toolcrib status` lists restrictions that nothing contains, and those by which calls are judged in place of that.",
    "- `toolcrib sandbox check` shows what this machine can contain.",
    "",
    "## What is not enforced",
    "",
    "- A call of an unverified server that is not known to be read-only needs no approval.",
    "- A changed tool definition needs no approval.",
    "- `scoped` network and files of a server that runs elsewhere.",
    "- Annotations reach clients as the server sent them. A client may believe what the gateway does not.",
    "- A server that runs elsewhere can do what its tools do not declare. A declared contradiction is all that blocks the tools of a `verified` one.",
  ].join("\n")}\n`;
}

function beliefRows(): string[] {
  return trustStates.flatMap((trustState) =>
    mutabilityClasses.map((mutabilityClass) => {
      const wordsFor = (aspect: keyof ToolBelief): string => {
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
