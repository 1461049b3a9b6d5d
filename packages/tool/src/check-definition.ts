/**
 * Checks of the definitions that sources list: tools, resources, resource
 * templates and prompts. Clients check the answer to a list as a whole, so one
 * malformed definition would hide every other one from them. The rules are
 * those that all protocol revisions share (schema of MCP 2025-11-25 and
 * 2026-07-28), and one of Toolcrib: no tool has the name of a resource or
 * prompt in policies. Unknown members pass.
 *
 * Pure: a check changes nothing, compiles no schema and never throws.
 */

import { isJsonObject } from "@toolcrib/json";
import { schemaProblems } from "./check-schema.ts";

/** A member that is not as the protocol demands. */
export interface DefinitionProblem {
  /** Path of the member, such as `annotations.readOnlyHint` or `icons[0].src`. */
  readonly member: string;
  /** The rule that the member breaks, such as `must be a string`. */
  readonly rule: string;
}

/** Names of resources and prompts in policies begin so after the id of their server; patterns can have text before it. */
const featureName = /(?:^|:|__)(?:resources|prompts)\//;

/** A list of definitions that a source offers. */
export type DefinitionKind = "tool" | "resource" | "resourceTemplate" | "prompt";

/**
 * Checks one definition.
 *
 * @returns the problems in the order of the members, none for a sound definition.
 */
export function checkDefinition(kind: DefinitionKind, definition: unknown): readonly DefinitionProblem[] {
  const problems: DefinitionProblem[] = [];
  membersOf[kind](definition, "", problems);
  return problems;
}

/** Formats problems as one text: `inputSchema.type must be "object"; title must be a string`. */
export function formatProblems(problems: readonly DefinitionProblem[]): string {
  return problems
    .slice(0, maxShown)
    .map(({ member, rule }) => `${member === "" ? "it" : member} ${rule}`)
    .join("; ");
}

/** Problems in one text. */
const maxShown = 3;

/** Adds the problems of `value`, the member at `path`. */
type Check = (value: unknown, path: string, problems: DefinitionProblem[]) => void;

function rule(text: string, isSound: (value: unknown) => boolean): Check {
  return (value, path, problems) => {
    if (!isSound(value)) problems.push({ member: path, rule: text });
  };
}

const string = rule("must be a string", (value) => typeof value === "string");
const filledString = rule(
  "must be a string that is not empty",
  (value) => typeof value === "string" && value !== "",
);
const toolName: Check = (value, path, problems) => {
  filledString(value, path, problems);
  if (typeof value === "string" && featureName.test(value))
    problems.push({ member: path, rule: notOfFeature });
};
const notOfFeature =
  'must not have "resources/" or "prompts/" at its start, after ":" or after "__": rules of a policy would take the tool for a resource or a prompt';
const boolean = rule("must be true or false", (value) => typeof value === "boolean");
const number = rule("must be a number", (value) => Number.isFinite(value));
const object = rule("must be an object", isJsonObject);
const fraction = rule(
  "must be a number from 0 to 1",
  (value) => typeof value === "number" && value >= 0 && value <= 1,
);
const timestamp = rule("must be a date and time such as 2026-01-31T12:00:00Z", isTimestamp);

function oneOf(...values: readonly string[]): Check {
  const text = `must be ${values.map((value) => `"${value}"`).join(" or ")}`;
  return rule(text, (value) => values.includes(value as string));
}

function listOf(item: Check): Check {
  return (value, path, problems) => {
    if (!Array.isArray(value)) {
      problems.push({ member: path, rule: "must be a list" });
      return;
    }
    for (const [at, one] of value.entries()) item(one, `${path}[${at}]`, problems);
  };
}

function members(
  required: { readonly [name: string]: Check },
  optional: { readonly [name: string]: Check },
): Check {
  const needed = Object.entries(required);
  const further = Object.entries(optional);
  return (value, path, problems) => {
    if (!isJsonObject(value)) {
      problems.push({ member: path, rule: "must be an object" });
      return;
    }
    for (const [name, check] of needed) {
      const member = path === "" ? name : `${path}.${name}`;
      if (value[name] === undefined) problems.push({ member, rule: "is missing" });
      else check(value[name], member, problems);
    }
    for (const [name, check] of further) {
      const member = path === "" ? name : `${path}.${name}`;
      if (value[name] !== undefined) check(value[name], member, problems);
    }
  };
}

const icons = listOf(
  members({ src: string }, { mimeType: string, sizes: listOf(string), theme: oneOf("light", "dark") }),
);
const shared = { title: string, description: string, icons, _meta: object };
const annotations = members(
  {},
  { audience: listOf(oneOf("user", "assistant")), priority: fraction, lastModified: timestamp },
);

const schema: Check = (value, path, problems) => {
  for (const { member, rule: broken } of schemaProblems(value)) {
    problems.push({ member: member === "" ? path : `${path}.${member}`, rule: broken });
  }
};

/**
 * The root of an input schema. Clients read its properties and leave the rest
 * to the validator of the call, which reports a schema that it cannot use.
 */
const inputSchema: Check = (value, path, problems) => {
  rootMembers(value, path, problems);
  if (isJsonObject(value) && value["type"] !== undefined && value["type"] !== "object") {
    problems.push({ member: `${path}.type`, rule: 'must be "object"' });
  }
};

const rootMembers = members(
  { type: () => {} },
  { $schema: string, properties: subschemas, required: listOf(string) },
);

function subschemas(value: unknown, path: string, problems: DefinitionProblem[]): void {
  object(value, path, problems);
  if (!isJsonObject(value)) return;
  for (const [name, one] of Object.entries(value)) {
    if (isJsonObject(one) || typeof one === "boolean") continue;
    problems.push({ member: `${path}.${name}`, rule: "must be a schema" });
  }
}

const membersOf: { readonly [Kind in DefinitionKind]: Check } = {
  tool: members(
    { name: toolName, inputSchema },
    {
      ...shared,
      // Its root may be any schema since 2026-07-28. Clients compile it when they list.
      outputSchema: schema,
      annotations: members(
        {},
        {
          title: string,
          readOnlyHint: boolean,
          destructiveHint: boolean,
          idempotentHint: boolean,
          openWorldHint: boolean,
        },
      ),
      execution: members({}, { taskSupport: oneOf("required", "optional", "forbidden") }),
    },
  ),
  resource: members(
    { name: string, uri: filledString },
    { ...shared, mimeType: string, size: number, annotations },
  ),
  resourceTemplate: members(
    { name: string, uriTemplate: filledString },
    { ...shared, mimeType: string, annotations },
  ),
  prompt: members(
    { name: filledString },
    {
      ...shared,
      arguments: listOf(members({ name: string }, { title: string, description: string, required: boolean })),
    },
  ),
};

/** Whether `value` is a date and time with its offset (RFC 3339) of a day that exists. */
function isTimestamp(value: unknown): boolean {
  if (typeof value !== "string") return false;
  const parts =
    /^(\d{4})-(\d\d)-(\d\d)T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/.exec(
      value,
    );
  if (parts === null) return false;
  const [year, month, day] = parts.slice(1, 4).map(Number) as [number, number, number];
  const date = new Date(Date.UTC(year, month - 1, day));
  // Years before 100 are taken for years of the last century.
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}
