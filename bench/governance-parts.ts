/**
 * The parts of governance that the benchmark leaves out, and the configuration that uses all of them: a file of twenty
 * policies with roles, labels of clients and servers, labels of data, arguments and the time, as a team would write it.
 */

import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** A part of governance. */
export type GovernancePart = "policy" | "pins" | "audit";

/** All parts. */
export const governanceParts: readonly GovernancePart[] = ["policy", "pins", "audit"];

/** Returns the parts in a text such as `policy+audit`, `none` or `ungoverned`. @throws {Error} for another one */
export function partsOf(text: string): ReadonlySet<GovernancePart> | "ungoverned" {
  if (text === "ungoverned") return text;
  const words = text === "none" ? [] : text.split("+");
  const parts = words.map((word) => {
    const part = governanceParts.find((one) => one === word);
    if (part !== undefined) return part;
    throw new Error(`"${word}" is no part of governance; allowed are ${governanceParts.join(", ")}`);
  });
  return new Set(parts);
}

/** Which arguments the policies about the measured tool read. */
export type PolicyKind = "shared" | "argument";

/** Twenty policies. None of them reads an argument of the tool that is measured. */
const policies = `
@id("operator")
permit(principal in Role::"operator", action, resource);

@id("agents-own-team")
permit(principal in Role::"agent", action in Action::"use", resource)
  when {
    principal.hasTag("team") && resource.server.hasTag("team") &&
    principal.getTag("team") == resource.server.getTag("team")
  };

@id("agents-read-verified")
permit(principal in Role::"agent", action in Action::"use", resource)
  when { resource.read_only && resource.server.trust_state == "verified" };

@id("robots-read")
permit(principal in Role::"robot", action in Action::"use", resource)
  when { resource.read_only && !resource.open_world };

@id("support-tickets")
permit(principal in Role::"support", action in Action::"use", resource in ToolServer::"tickets");

@id("support-customers-read")
permit(principal in Role::"support", action in Action::"use", resource in ToolServer::"customers")
  when { resource.read_only };

@id("finance-payments")
permit(principal in Role::"finance", action in Action::"use", resource in ToolServer::"payments");

@id("release-managers")
permit(principal in Role::"release", action in Action::"use", resource in ToolServer::"deployments");

@id("auditors-list")
permit(principal in Role::"auditor", action == Action::"list", resource);

@id("no-unverified-for-robots")
forbid(principal in Role::"robot", action, resource)
  when { resource.server.trust_state == "unverified" };

@id("no-destruction") @message("Ask an operator to delete it")
forbid(principal, action == Action::"call", resource)
  when { resource.destructive && resource.server.hasTag("tier") && resource.server.getTag("tier") == "production" }
  unless { principal in Role::"operator" };

@id("no-sending-of-personal-data") @message("This client has read personal data")
forbid(principal, action == Action::"call", resource in ToolServer::"mail")
  when { context.seen_labels.contains("personal") };

@id("no-secrets-outside") @message("This run has read secrets")
forbid(principal, action == Action::"call", resource)
  when { resource.server.hasTag("zone") && resource.server.getTag("zone") == "outside" && context.labels.contains("secret") };

@id("large-payments") @message("Payments above 1000 need a person")
forbid(principal, action == Action::"call", resource == Tool::"payments:transfer")
  when { context.integers.hasTag("amount") && context.integers.getTag("amount") > 1000 };

@id("known-currencies")
forbid(principal, action == Action::"call", resource == Tool::"payments:transfer")
  unless { context.arguments.hasTag("currency") && ["EUR", "USD"].contains(context.arguments.getTag("currency")) };

@id("main-branch") @message("The main branch is changed by pull requests")
forbid(principal, action == Action::"call", resource == Tool::"code:push")
  when { context.arguments.hasTag("branch") && context.arguments.getTag("branch") == "main" };

@id("no-system-files")
forbid(principal, action == Action::"call", resource in ToolServer::"files")
  when { context.arguments.hasTag("path") && context.arguments.getTag("path") like "/etc/*" };

@id("no-release-on-weekends") @message("Releases wait for Monday")
forbid(principal, action == Action::"call", resource in ToolServer::"deployments")
  when { context.time.weekday == "saturday" || context.time.weekday == "sunday" };

@id("no-deep-calls-of-payments")
forbid(principal, action == Action::"call", resource in ToolServer::"payments")
  when { context.depth > 1 };

@id("interns")
forbid(principal in Role::"intern", action == Action::"call", resource)
  unless { resource.read_only };
`;

/** The same number of policies; one of them reads the argument of the measured tool, so that no two calls are alike. */
const readingPolicies = policies.replace(
  /@id\("interns"\)[^;]*;/,
  `@id("no-names-of-projects")
forbid(principal, action == Action::"call", resource in ToolServer::"echo")
  when { context.arguments.hasTag("text") && context.arguments.getTag("text") like "*project-x*" };`,
);

/** Number of policies in each file. */
export const policyCount = [...policies.matchAll(/^@id\(/gm)].length;

/** The text of a policy file. */
export function policyText(kind: PolicyKind): string {
  return kind === "argument" ? readingPolicies : policies;
}

/** The containment of the measured server in every configuration: it runs without a sandbox, so that all start the same process. */
const uncontained = { containment: { network_egress: "allow", filesystem_write: "allow" } };

/** Changed definitions are held back, and its data has labels. */
const governedServer = {
  ...uncontained,
  trust_state: "verified",
  labels: { team: "web", tier: "staging", zone: "inside" },
  data_labels: ["personal"],
};

/** Rights of clients; those without a token are `anonymous`. */
const clients = {
  anonymous: { roles: ["agent", "support"], labels: { team: "web" } },
  cli: { roles: ["operator"] },
};

/**
 * Writes the policy files of a configuration that uses all parts of governance into `folder`, next to the configuration.
 *
 * @returns what the configuration says about its server, and its sections
 */
export function governedConfig(folder: string, kind: PolicyKind) {
  writeFileSync(join(folder, "team.cedar"), policyText(kind));
  return { server: governedServer, sections: { policy: { files: ["team.cedar"], clients } } };
}

/**
 * Returns a configuration that switches off what a configuration can: no policy files, no labels, definitions that may
 * change, no fingerprints in records. Calls are recorded nevertheless.
 */
export function leastConfig() {
  const server = { ...uncontained, trust_state: "certified" };
  return { server, sections: { audit: { fingerprints: false } } };
}
