/**
 * The section `guards`: limits of calls that the policy allows, by rate, by budget and by time, and what
 * calls cost.
 */

import {
  choice,
  type DocumentNode,
  decimal,
  dictionary,
  integer,
  invalid,
  list,
  type Place,
  record,
  reportAtMap,
  reportRepeated,
  text,
  type ValueOf,
} from "@toolcrib/document";
import { costUnit, isTimeZone } from "@toolcrib/guards";
import type { GuardsConfig } from "./config-types.ts";
import { quote } from "./display-source.ts";
import { policyPatterns } from "./pattern-shape.ts";

type LimitRule = GuardsConfig["rules"][number];
type Amounts = NonNullable<LimitRule["budget"]>["limits"];
type OpenWindow = NonNullable<LimitRule["windows"]>[number];

const unitsMs: { readonly [unit: string]: number } = { second: 1000, minute: 60_000, hour: 3_600_000 };
const unitAliases: { readonly [alias: string]: string } = {
  s: "second",
  sec: "second",
  m: "minute",
  min: "minute",
  h: "hour",
  hr: "hour",
};
const sizeUnits: { readonly [unit: string]: number } = {
  kb: 1024,
  mb: 1024 ** 2,
  gb: 1024 ** 3,
  tb: 1024 ** 4,
};
const dayNames = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const maxAmount = 1_000_000_000;
const maxBytes = 2 ** 50;

const budgetShape = record({
  description: "Most that is used in each hour or day. At least one of calls, bytes and cost.",
  name: "GuardBudget",
  fields: {
    calls: integer({ description: "Calls.", minimum: 1, maximum: maxAmount }),
    bytes: text({
      description: "Size of arguments and results as JSON. The call that reaches it is answered.",
      maxLength: 20,
      examples: ["10MB"],
      inspect: inspectSize,
      otherTypeHint: () => "write a number and a unit, such as 10MB",
    }),
    cost: decimal({ description: "Sum of guards.costs.", minimum: 0.000001, maximum: maxAmount }),
  },
  hints: { every: "write every beside budget, not in it", tokens: "write calls, bytes or cost" },
  inspect(_value, node, place) {
    if (node.kind !== "map" || node.entries.length > 0) return;
    invalid(node, place, `${quote(place.path)} limits nothing`, "write calls, bytes or cost");
  },
});

const clock = (description: string) =>
  text({
    description,
    maxLength: 5,
    pattern: { source: "(?:[01][0-9]|2[0-3]):[0-5][0-9]|24:00", meaning: "a time such as 09:00" },
    instead: (value) => (/^[0-9]:/.test(value) ? `0${value}` : undefined),
    otherTypeHint: () => 'write it in quotes, such as "09:00"',
    examples: ["09:00"],
  });

const windowShape = record({
  description: "A window of time in which calls are allowed.",
  name: "GuardWindow",
  fields: {
    days: list(
      text({
        description: "A weekday, or a range of them.",
        maxLength: 7,
        pattern: {
          source: `(?:${dayNames.join("|")})(?:-(?:${dayNames.join("|")}))?`,
          meaning: "a weekday such as mon, or a range such as mon-fri",
        },
        instead: (value) =>
          value
            .toLowerCase()
            .replace(/\s/g, "")
            .replace(/([a-z]{3})[a-z]*/g, "$1"),
        examples: ["mon-fri", "sat"],
      }),
      { description: "Weekdays. Default: all.", maxItems: 14, emptyCode: "CONFIG_INVALID_VALUE" },
    ),
    from: { required: clock("Start, in the time zone of the rule.") },
    to: { required: clock("End, not included. At or before from: on the next day.") },
  },
  hints: {
    timezone: "write it beside windows, not in it",
    start: "did you mean from?",
    end: "did you mean to?",
  },
});

const limitShape = record({
  description: "A limit of calls. At least one of rate, budget and windows; all of them hold.",
  name: "GuardLimit",
  fields: {
    name: {
      required: text({
        description: "Unique name, in refusals, in the status and for what was used.",
        maxLength: 64,
        pattern: { source: "[A-Za-z0-9][A-Za-z0-9_.-]*", meaning: "letters, digits and _ . -" },
        examples: ["github-writes"],
      }),
    },
    tools: policyPatterns(
      "Tools, resources and prompts that it limits. Without this list: all, except for Toolcrib's own tools.",
    ),
    clients: list(
      text({ description: "Name of a client, as in policy.clients.", maxLength: 128, examples: ["ci"] }),
      {
        description: "Clients that it limits. Default: all.",
        maxItems: 1000,
        emptyCode: "CONFIG_INVALID_VALUE",
      },
    ),
    per: choice({
      description:
        "What is counted together: the calls of each client, of each tool, of each server, or all.",
      values: ["client", "tool", "server", "all"],
      aliases: { user: "client", identity: "client", total: "all", global: "all" },
      default: "client",
    }),
    rate: text({
      description: "Calls in a second, minute or hour, evenly.",
      maxLength: 30,
      pattern: {
        source: "[1-9][0-9]{0,6}/(?:second|minute|hour)",
        meaning: "a rate such as 60/minute, 5/second or 100/hour",
      },
      instead: rateMeant,
      examples: ["60/minute"],
    }),
    burst: integer({
      description: "Calls that can be made at once. Default: the number in rate.",
      minimum: 1,
      maximum: 1_000_000,
    }),
    budget: budgetShape,
    every: choice({
      description: "Period of the budget: a UTC hour, or a day of the time zone.",
      values: ["hour", "day"],
      aliases: { hourly: "hour", daily: "day" },
    }),
    windows: list(windowShape, {
      description: "Windows of time in which calls are allowed.",
      maxItems: 50,
      emptyCode: "CONFIG_INVALID_VALUE",
    }),
    timezone: text({
      description: "Time zone of days and windows.",
      maxLength: 64,
      default: "UTC",
      examples: ["Europe/Berlin"],
      inspect(value, node, place) {
        if (isTimeZone(value)) return;
        const hint = "write a name such as Europe/Berlin, America/New_York or UTC";
        invalid(node, place, `${quote(place.path)} must be a time zone, but is ${quote(value)}`, hint);
      },
    }),
  },
  hints: {
    limit: "write rate, budget or windows",
    calls: "write budget: { calls: … }",
    cost: "write budget: { cost: … }",
    bytes: "write budget: { bytes: … }",
    period: "did you mean every?",
    client: "write clients: [NAME]",
    tool: "write tools: [PATTERN]",
  },
  inspect: inspectLimit,
});

function inspectLimit(_value: object, node: DocumentNode, place: Place): void {
  if (node.kind !== "map") return;
  // By the names that were written: a field with an error of its own is there.
  const has = (name: string) => node.entries.some(({ key }) => key === name);
  const report = (message: string, hint: string) =>
    reportAtMap(node, place, {
      code: "CONFIG_INVALID_VALUE",
      message: `${quote(place.path)} ${message}`,
      hint,
    });
  if (!has("rate") && !has("budget") && !has("windows"))
    report("limits nothing", "write rate, budget or windows, or remove it");
  if (has("burst") && !has("rate"))
    report("has a burst without a rate", "write rate: 60/minute, or remove burst");
  if (has("budget") && !has("every"))
    report("has a budget without a period", "write every: hour or every: day");
  if (has("every") && !has("budget"))
    report("has a period without a budget", "write budget, or remove every");
}

export const guardsShape = record({
  description: "Limits of calls that the policy allows.",
  fields: {
    limits: list(limitShape, {
      description: "Limits. A call needs the consent of every one that applies to it.",
      maxItems: 200,
      otherTypeHint: (node) =>
        node.kind === "map" ? "write each limit as an item: - name: NAME" : undefined,
      inspect: (_values, node, place) =>
        reportRepeated(node, place, "name", (name, lineNumber) => ({
          code: "CONFIG_ID_DUPLICATE",
          message: `Duplicate name ${quote(name)}: the limit in line ${lineNumber} has the same name`,
          hint: "give each limit a different name",
        })),
    }),
    costs: dictionary(decimal({ description: "Cost of one call.", minimum: 0, maximum: maxAmount }), {
      description:
        'What a call costs, by pattern of tools, such as "stripe:create_refund": 1.5. The first that matches decides; other calls cost nothing.',
      maxEntries: 1000,
      key: { source: "[A-Za-z0-9_.:*?-]{1,256}", meaning: "a pattern of tools, such as stripe:*" },
    }),
  },
  hints: { rules: "did you mean limits?", rates: "write limits: [{ name: …, rate: … }]" },
  inspect(value, node, place) {
    const isCounted = value.limits?.some(({ budget }) => budget?.cost !== undefined) === true;
    if (!isCounted || Object.keys(value.costs ?? {}).length > 0) return;
    reportAtMap(node, place, {
      code: "CONFIG_INVALID_VALUE",
      message: `${quote(place.path)} has a budget of cost, but no call costs anything`,
      hint: "write costs: { PATTERN: COST }",
    });
  },
});

/** `guards` as it is written. */
export type GuardsDocument = ValueOf<typeof guardsShape>;

function rateMeant(value: string): string | undefined {
  const [, count = "", word = ""] = /^\s*([0-9]+)\s*(?:\/|per)\s*([a-z]+?)s?\s*$/i.exec(value) ?? [];
  const unit = word.toLowerCase();
  return count === "" ? undefined : `${count}/${unitAliases[unit] ?? unit}`;
}

/** Returns a size in bytes; undefined for one that is not valid. */
function sizeOf(value: string): number | undefined {
  const [, digits, unit = ""] = /^([1-9][0-9]{0,9})([kmgt]b)$/i.exec(value) ?? [];
  const bytes = Number(digits) * (sizeUnits[unit.toLowerCase()] ?? Number.NaN);
  return bytes <= maxBytes ? bytes : undefined;
}

function inspectSize(value: string, node: DocumentNode, place: Place): void {
  if (sizeOf(value) !== undefined) return;
  const message = `${quote(place.path)} must be a size from 1KB to 1024TB, but is ${quote(value)}`;
  invalid(node, place, message, "write a number and a unit, such as 10MB");
}

/** Translates the section. */
export function toGuardsConfig(document: GuardsDocument | undefined): GuardsConfig {
  return {
    rules: (document?.limits ?? []).map(toRule),
    costs: Object.entries(document?.costs ?? {}).map(([pattern, cost]) => ({
      pattern,
      cost: Math.round(cost * costUnit),
    })),
  };
}

function toRule(written: NonNullable<GuardsDocument["limits"]>[number]): LimitRule {
  const {
    name,
    tools,
    clients,
    per = "client",
    rate,
    budget,
    every = "day",
    windows,
    timezone = "UTC",
  } = written;
  const [count = "", unit = ""] = rate?.split("/") ?? [];
  return {
    name,
    tools,
    clients,
    per,
    rate:
      rate === undefined
        ? undefined
        : { count: Number(count), perMs: unitsMs[unit] ?? 0, burst: written.burst ?? Number(count) },
    budget: budget === undefined ? undefined : { limits: toAmounts(budget), every },
    windows: windows?.map(toWindow),
    timeZone: timezone,
  };
}

function toAmounts({ calls, bytes, cost }: ValueOf<typeof budgetShape>): Amounts {
  return {
    ...(calls === undefined ? {} : { calls }),
    ...(bytes === undefined ? {} : { bytes: sizeOf(bytes) ?? 0 }),
    ...(cost === undefined ? {} : { cost: Math.round(cost * costUnit) }),
  };
}

function toWindow({ days, from, to }: ValueOf<typeof windowShape>): OpenWindow {
  const minuteOf = (time: string) => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
  const named = (days ?? ["sun-sat"]).flatMap((range) => {
    const [first = "", last = first] = range.split("-");
    const start = dayNames.indexOf(first);
    const count = ((dayNames.indexOf(last) - start + 7) % 7) + 1;
    return Array.from({ length: count }, (_, index) => (start + index) % 7);
  });
  return { days: [...new Set(named)], fromMinute: minuteOf(from), toMinute: minuteOf(to) };
}
