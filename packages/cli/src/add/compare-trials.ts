/** The differences between two trials of a server: its definitions, and what it brings and reaches. Pure. */

import { isSameJson } from "@toolcrib/json";
import type { StoredPackage } from "@toolcrib/runners";
import { findRefusedNeed } from "@toolcrib/sandbox";
import type { OfferFact } from "./offer.ts";
import { megabytes } from "./show-offer.ts";
import { type PassedTrial, type TriedDefinition, wantedVariables } from "./trial.ts";

/** A definition that both versions have, and that is not the same. */
export interface ChangedDefinition {
  readonly before: TriedDefinition;
  readonly after: TriedDefinition;
}

/** Definitions that differ. */
export interface DefinitionChanges {
  readonly added: readonly TriedDefinition[];
  readonly removed: readonly TriedDefinition[];
  readonly changed: readonly ChangedDefinition[];
}

/** Compares the definitions of two versions. */
export function compareDefinitions(
  before: readonly TriedDefinition[],
  after: readonly TriedDefinition[],
): DefinitionChanges {
  const keyOf = ({ kind, name }: TriedDefinition) => JSON.stringify([kind, name]);
  const old = new Map(before.map((one) => [keyOf(one), one]));
  const now = new Set(after.map(keyOf));
  return {
    added: after.filter((one) => !old.has(keyOf(one))),
    removed: before.filter((one) => !now.has(keyOf(one))),
    changed: after.flatMap((one) => {
      const known = old.get(keyOf(one));
      return known === undefined || isSameJson(known.definition, one.definition)
        ? []
        : [{ before: known, after: one }];
    }),
  };
}

/** One version, as it was tried. */
export interface TriedVersion {
  readonly trial: PassedTrial | undefined;
  readonly fetched: StoredPackage | undefined;
  /** Its publisher, according to the registry. */
  readonly facts: readonly OfferFact[];
}

/** Most names that one line lists. */
const namesMaxCount = 12;

/** Returns what differs besides definitions: publisher, size, dependencies, program, hosts, credentials and needs. */
export function compareReach(before: TriedVersion, after: TriedVersion): readonly OfferFact[] {
  return [
    ...publisherChanges(before.facts, after.facts),
    ...installChanges(before.fetched, after.fetched),
    ...listChange("hosts", hostsOf(before.trial), hostsOf(after.trial)),
    ...listChange("credentials", credentialsOf(before.trial), credentialsOf(after.trial)),
    ...listChange("wanted", wantedOf(before.trial), wantedOf(after.trial)),
    ...listChange("refused", needsOf(before.trial), needsOf(after.trial)),
  ];
}

/** Facts about the version itself, which differ anyway. */
const ownFacts: ReadonlySet<string> = new Set(["package", "runs", "released"]);

function publisherChanges(before: readonly OfferFact[], after: readonly OfferFact[]): readonly OfferFact[] {
  const old = new Map(before);
  const now = new Map(after);
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((label): readonly OfferFact[] => {
    const [was = "nothing", is = "nothing"] = [old.get(label), now.get(label)];
    return ownFacts.has(label) || was === is ? [] : [[label, `${was} → ${is}`]];
  });
}

function installChanges(
  before: StoredPackage | undefined,
  after: StoredPackage | undefined,
): readonly OfferFact[] {
  if (before === undefined || after === undefined) return [];
  const [old, now] = [before.receipt, after.receipt];
  const versions = ({ locked }: typeof old) => locked.map(({ name, version }) => `${name} ${version}`);
  return [
    ["install size", `${megabytes(old.bytes)} → ${megabytes(now.bytes)}, ${old.files} → ${now.files} files`],
    ...(old.program === now.program ? [] : [["program", `${old.program} → ${now.program}`] as const]),
    ...listChange("packages", versions(old), versions(now)),
  ];
}

function listChange(
  label: string,
  before: readonly string[],
  after: readonly string[],
): readonly OfferFact[] {
  const [old, now] = [new Set(before), new Set(after)];
  const gone = [...old].filter((one) => !now.has(one));
  const added = [...now].filter((one) => !old.has(one));
  if (gone.length === 0 && added.length === 0) return [];
  const parts = [
    ...(added.length === 0 ? [] : [`added ${listed(added)}`]),
    ...(gone.length === 0 ? [] : [`removed ${listed(gone)}`]),
  ];
  return [[label, parts.join("; ")]];
}

function listed(names: readonly string[]): string {
  const more = names.length - namesMaxCount;
  return `${names.slice(0, namesMaxCount).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

function hostsOf(trial: PassedTrial | undefined): readonly string[] {
  return trial?.server.containment.effective.egressAllow ?? [];
}

function credentialsOf(trial: PassedTrial | undefined): readonly string[] {
  return (trial?.server.adopted?.files?.manifest.credentials ?? []).map(({ id, type }) => `${id} (${type})`);
}

function wantedOf(trial: PassedTrial | undefined): readonly string[] {
  return trial === undefined ? [] : wantedVariables(trial.log, trial.server);
}

/** Returns the access that the containment refused while it started, as far as it printed it. */
function needsOf(trial: PassedTrial | undefined): readonly string[] {
  const need = findRefusedNeed(trial?.log.join("\n") ?? "");
  if (need === undefined) return [];
  if (need.kind === "network") return [`network ${need.host ?? ""}`.trim()];
  return [`${need.kind} ${need.path ?? ""}`.trim()];
}
