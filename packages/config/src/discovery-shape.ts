/**
 * Lists and search of clients: the fields `list` and `results` of `serve`, and the sections `profiles` and `tools`.
 * Defines the default of every budget.
 */

import { defaultResultTokenBudget } from "@toolcrib/discovery";
import {
  anyJson,
  choice,
  dictionary,
  flag,
  integer,
  list,
  record,
  reportAt,
  reportAtMap,
  text,
  type ValueOf,
} from "@toolcrib/document";
import type { JsonValue } from "@toolcrib/json";
import { looksLikeCredential } from "@toolcrib/redaction";
import type { PolicyConfig, ProfileConfig, ServeConfig, ToolOverrideConfig } from "./config-types.ts";
import { policyPatterns, toolPatterns } from "./pattern-shape.ts";

/** Documented defaults of lists. */
const listDefaults = { tokenBudget: 10_000, mostUsed: 8 } as const;

/** Longest instructions, descriptions and titles, in characters. */
const textMaxLength = 8000;

const names = { source: "[A-Za-z0-9][A-Za-z0-9_.-]{0,63}", meaning: "letters, digits and _ . -" };

/** The field `mode` of `serve` and of profiles. @param fallback for the JSON Schema */
export const modeShape = (fallback?: "full") =>
  choice({
    description:
      "Listed tools: full lists all tools, search lists a few that find, describe and call the others, auto lists all tools where they fit into list.token_budget, and else is search with the tools that the client used most.",
    values: ["full", "search", "auto"],
    aliases: { all: "full", list: "full", dynamic: "auto", lazy: "search" },
    ...(fallback === undefined ? {} : { default: fallback }),
  });

/** The field `list` of `serve` and of profiles. */
export const listShape = record({
  description: "Lists of the mode auto.",
  name: "ListSettings",
  fields: {
    token_budget: integer({
      description:
        "Estimated tokens that the definitions of a list may cost. With more, auto lists the tools that find the others.",
      minimum: 0,
      maximum: 10_000_000,
      default: listDefaults.tokenBudget,
    }),
    most_used: integer({
      description:
        "Most tools that auto lists next to these because the client used them most before the gateway started, as far as they fit into the budget.",
      minimum: 0,
      maximum: 100,
      default: listDefaults.mostUsed,
    }),
  },
  hints: { budget: "did you mean token_budget?", tokens: "did you mean token_budget?" },
});

/** The field `results` of `serve` and of profiles. */
export const resultsShape = record({
  description: "Results that clients read in parts.",
  name: "ResultSettings",
  fields: {
    token_budget: integer({
      description: `Estimated tokens of the texts of a result that a client receives at once; it reads the rest with read_more. 0: results are never cut. Default: ${defaultResultTokenBudget("search")} in the modes search and auto, 0 in full.`,
      minimum: 0,
      maximum: 10_000_000,
    }),
  },
  hints: { budget: "did you mean token_budget?", max_tokens: "did you mean token_budget?" },
});

/** The section `profiles`. */
export const profilesShape = dictionary(
  record({
    description:
      "A named subset of the tools, resources and prompts, with an endpoint of its own: /mcp/p/NAME.",
    name: "Profile",
    fields: {
      tools: policyPatterns("Tools, resources and prompts that it contains. Default: all."),
      servers: list(
        text({
          description: "Id of a tool server, toolspec or package, with the wildcards * and ?.",
          maxLength: 200,
          pattern: { source: "[A-Za-z0-9_.*?-]+", meaning: "an id, such as github; * and ? are wildcards" },
          examples: ["github"],
        }),
        {
          description:
            "Servers, toolspecs and packages, of which it contains nothing but what tools matches.",
          maxItems: 1000,
        },
      ),
      exclude: policyPatterns("Tools, resources and prompts that it does not contain."),
      clients: list(
        text({ description: "Name of a client, as in policy.clients.", maxLength: 128, examples: ["ci"] }),
        { description: "Clients that may use it. Default: all that are bound to no other.", maxItems: 1000 },
      ),
      mode: modeShape(),
      pinned: toolPatterns("Tools that are listed in every mode, besides those of serve.tools.pinned."),
      instructions: text({
        description: "Text for models, in place of the instructions of the servers.",
        maxLength: textMaxLength,
      }),
      list: listShape,
      results: resultsShape,
    },
    hints: {
      allow: "did you mean tools?",
      deny: "did you mean exclude?",
      hidden: "write exclude, or serve.tools.hidden",
      token: "write policy: { clients: { NAME: { profile: … } } }",
      tokens: "write policy: { clients: { NAME: { profile: … } } }",
    },
  }),
  {
    description:
      "Named subsets of what clients may use; the policy still decides. policy.clients.NAME.profile binds a client to one.",
    maxEntries: 100,
    key: names,
  },
);

/** A value that an argument gets; not a place for a secret. */
const argumentValue = (description: string) => {
  const shape = anyJson(description);
  return {
    ...shape,
    check: (...[node, place]: Parameters<typeof shape.check>) => {
      const value = shape.check(node, place);
      if (!textsIn(value).some(looksLikeCredential)) return value;
      return reportAt(node, place, {
        code: "CONFIG_INLINE_SECRET",
        message: "inline secret not allowed: the value of an argument contains a possible secret",
        hint: "give the secret to the server: secret_key_ref in its headers or env",
      });
    },
  };
};

function textsIn(value: JsonValue | undefined): readonly string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap((one) => textsIn(one));
}

const argumentShape = record({
  description: "Changes of one argument.",
  name: "ArgumentOverride",
  fields: {
    hidden: flag("Whether clients neither see nor send it.", { default: false }),
    fixed: argumentValue(
      "Its value in every call. Clients neither see nor send it. Policies and approvals see it.",
    ),
    default: argumentValue("Its value in calls that leave it out; clients see it as the default."),
    description: text({ description: "Replaces its description.", maxLength: textMaxLength }),
  },
  hints: { value: "did you mean fixed?", hide: "did you mean hidden?" },
  inspect(value, node, place) {
    if (value.fixed === undefined || value.default === undefined) return;
    reportAtMap(node, place, {
      code: "CONFIG_INVALID_VALUE",
      message: "An argument has a fixed value and a default, which never applies",
      hint: "keep one of the two",
    });
  },
});

/** The section `tools`. */
export const toolOverridesShape = dictionary(
  record({
    description: "Changes of the tools that a pattern matches.",
    name: "ToolOverride",
    fields: {
      name: text({
        description:
          "Name that clients see in place of the server's own, for one tool. Policies, approvals and the audit trail keep the server's own.",
        maxLength: 64,
        pattern: { source: "[A-Za-z0-9_.-]+", meaning: "letters, digits and _ . -" },
      }),
      title: text({ description: "Replaces its title.", maxLength: 200 }),
      description: text({ description: "Replaces its description.", maxLength: textMaxLength }),
      result_token_budget: integer({
        description:
          "As results.token_budget, for results of these tools where the endpoint cuts results at all.",
        minimum: 0,
        maximum: 10_000_000,
      }),
      arguments: dictionary(argumentShape, {
        description: "Changes of its arguments, by name.",
        maxEntries: 200,
        key: { source: "[\\s\\S]{1,200}", meaning: "the name of an argument" },
      }),
    },
    hints: { args: "did you mean arguments?", hidden: "write serve: { tools: { hidden: […] } }" },
  }),
  {
    description:
      "Names, descriptions and arguments of tools as clients see them, by pattern of tools. They apply after the definition of the server was compared with the accepted one. Of several patterns that match, a later one wins.",
    maxEntries: 1000,
    key: { source: "[A-Za-z0-9_.:*?-]{1,256}", meaning: "a pattern of tools, such as github:create_issue" },
    inspect(value, node, place) {
      if (node.kind !== "map") return;
      for (const { key, keySpan } of node.entries) {
        if (value[key]?.name === undefined || !/[*?]/.test(key)) continue;
        place.reporter.report({
          code: "CONFIG_INVALID_VALUE",
          message: `Several tools cannot have the name ${place.reporter.quote(value[key]?.name ?? "")}`,
          hint: "give a name to one tool: write its id, such as github:create_issue",
          span: keySpan,
          path: `${place.path}.${key}`,
        });
      }
    },
  },
);

type ListDocument = ValueOf<typeof listShape>;

/** Returns the settings of lists with their defaults. */
export function toListConfig(document: ListDocument | undefined): ServeConfig["list"] {
  return {
    tokenBudget: document?.token_budget ?? listDefaults.tokenBudget,
    mostUsed: document?.most_used ?? listDefaults.mostUsed,
  };
}

/** Returns the profiles, completed with the settings of `serve`. */
export function toProfilesConfig(
  document: ValueOf<typeof profilesShape> | undefined,
  serve: Pick<ServeConfig, "mode" | "list" | "results" | "tools">,
): { readonly [name: string]: ProfileConfig } {
  return Object.fromEntries(
    Object.entries(document ?? {}).map(([name, profile]) => {
      const mode = profile.mode ?? serve.mode;
      const tokenBudget = profile.results?.token_budget ?? serve.results.tokenBudget;
      const config: ProfileConfig = {
        mode,
        tokenBudget: profile.list?.token_budget ?? serve.list.tokenBudget,
        mostUsed: profile.list?.most_used ?? serve.list.mostUsed,
        pinned: [...serve.tools.pinned, ...(profile.pinned ?? [])],
        resultTokenBudget: tokenBudget ?? defaultResultTokenBudget(mode),
        instructions: profile.instructions,
        clients: profile.clients,
      };
      return [name, config];
    }),
  );
}

/** Returns what the profiles contain, as a part of the policy; undefined where there are none. */
export function toProfileRules(
  document: ValueOf<typeof profilesShape> | undefined,
): Pick<PolicyConfig, "profiles"> {
  if (document === undefined) return {};
  const rules = Object.entries(document).map(
    ([name, { tools, servers, exclude = [] }]) =>
      [
        name,
        {
          ...(tools === undefined ? {} : { tools }),
          ...(servers === undefined ? {} : { servers }),
          exclude,
        },
      ] as const,
  );
  return { profiles: Object.fromEntries(rules) };
}

/** Returns the changes of tools in the order of the configuration. */
export function toOverridesConfig(
  document: ValueOf<typeof toolOverridesShape> | undefined,
): readonly ToolOverrideConfig[] {
  return Object.entries(document ?? {}).map(
    ([pattern, { result_token_budget, arguments: args = {}, ...one }]) => ({
      pattern,
      ...one,
      resultTokenBudget: result_token_budget,
      arguments: args,
    }),
  );
}
