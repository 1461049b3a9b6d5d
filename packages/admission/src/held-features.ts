/**
 * The resources, templates, prompts and instructions of a server without those that are held back until
 * the operator approves their definitions. `DefinitionPins` decides which they are. Lists are
 * checked once for as long as the server returns the same ones.
 *
 * Prompts, templates and instructions are texts that somebody wrote for a model: each is pinned. Resources
 * are data of the server, and their list changes with it. Whether a server may list resources at all
 * is pinned once; each entry is pinned only where the operator says so (`pin_resources`). Entries of
 * unverified servers that are not pinned are labelled, and lose their hidden characters.
 */

import { isJsonObject, type JsonObject } from "@toolcrib/json";
import { stripHidden, type TextScrubber, withoutHidden } from "@toolcrib/redaction";
import type { DefinitionPins, HeldReason, ListedDefinition, PinRules } from "@toolcrib/store";
import { type CheckedFeatures, toToolId } from "@toolcrib/tool";

/** A definition that is held back, and why. */
export interface HeldFeature extends ListedDefinition, HeldReason {}

/** Features without those that are held back. */
export interface HeldFeatures extends CheckedFeatures {
  /** The definitions that are held back, from the lists as they are now. */
  held(): readonly HeldFeature[];
  /** Returns why a prompt, or a resource that the offered lists do not have, is not offered; undefined for an unknown one. */
  reasonAgainst(kind: "resources" | "prompts", name: string): string | undefined;
  /** Decides again which definitions are held back. */
  reconsider(): void;
}

/** The acceptance of the features of a source. */
export interface FeaturePinning extends PinRules {
  /** Whether each resource is pinned. */
  readonly pinsResources: boolean;
}

/** The definition that is approved of a server that lists resources, where each of them is not pinned. */
const anyResources: JsonObject = { resources: "any" };

/** Wraps `features` of the source `sourceId`. */
export function holdFeatures(
  sourceId: string,
  features: CheckedFeatures,
  pins: Pick<DefinitionPins, "check">,
  rules: FeaturePinning,
): HeldFeatures {
  return new PinnedFeatures(sourceId, features, pins, rules);
}

/** Returns features of which none is held back. */
export function holdNothing(features: CheckedFeatures): HeldFeatures {
  return { ...features, held: () => [], reasonAgainst: () => undefined, reconsider() {} };
}

/** The lists of a server at one moment, divided. */
interface Decided {
  readonly source: FeatureLists;
  readonly offered: FeatureLists;
  readonly held: readonly HeldFeature[];
  /** Resources whose URI has hidden characters: without them, it would be another URI. */
  readonly malformed: ReturnType<CheckedFeatures["malformed"]>;
}

interface FeatureLists {
  readonly resources: readonly JsonObject[];
  readonly templates: readonly JsonObject[];
  readonly prompts: readonly JsonObject[];
  readonly instructions: string | undefined;
}

class PinnedFeatures implements HeldFeatures {
  readonly #sourceId: string;
  readonly #features: CheckedFeatures;
  readonly #pins: Pick<DefinitionPins, "check">;
  readonly #rules: FeaturePinning;
  #decided: Decided | undefined;

  constructor(
    sourceId: string,
    features: CheckedFeatures,
    pins: Pick<DefinitionPins, "check">,
    rules: FeaturePinning,
  ) {
    this.#sourceId = sourceId;
    this.#features = features;
    this.#pins = pins;
    this.#rules = rules;
  }

  capabilities = () => this.#features.capabilities();
  instructions = () => this.#current().offered.instructions;
  resources = () => this.#current().offered.resources;
  resourceTemplates = () => this.#current().offered.templates;
  prompts = () => this.#current().offered.prompts;
  malformed = () => [...this.#features.malformed(), ...this.#current().malformed];
  held = () => this.#current().held;
  request: CheckedFeatures["request"] = (...args) => this.#features.request(...args);
  watch: CheckedFeatures["watch"] = (uri, watcher) => this.#features.watch(uri, watcher);
  unwatch: CheckedFeatures["unwatch"] = (uri, watcher) => this.#features.unwatch(uri, watcher);

  reconsider(): void {
    this.#decided = undefined;
  }

  reasonAgainst(kind: "resources" | "prompts", name: string): string | undefined {
    const { held } = this.#current();
    if (kind === "prompts") return held.find((one) => one.kind === "prompt" && one.name === name)?.reason;
    const waiting = held.filter((one) => one.kind.startsWith("resource"));
    // Also a URI that the server does not list is not read while something of this kind waits.
    return (waiting.find((one) => one.name === name) ?? waiting[0])?.reason;
  }

  #current(): Decided {
    const lists: FeatureLists = {
      resources: this.#features.resources(),
      templates: this.#features.resourceTemplates(),
      prompts: this.#features.prompts(),
      instructions: this.#features.instructions(),
    };
    const known = this.#decided;
    if (known !== undefined && isSame(known.source, lists)) return known;
    const decided = this.#decide(lists);
    this.#decided = decided;
    return decided;
  }

  #decide(source: FeatureLists): Decided {
    const held: HeldFeature[] = [];
    const isOffered = (kind: ListedDefinition["kind"], name: string, definition: JsonObject): boolean => {
      const listed = { sourceId: this.#sourceId, kind, name, definition };
      const reason = this.#pins.check(listed, this.#rules);
      if (reason !== undefined) held.push({ ...listed, ...reason });
      return reason === undefined;
    };
    const { instructions } = source;
    const isSilent = instructions === undefined || instructions.trim() === "";
    const { resources, malformed } = this.#decideResources(source.resources, isOffered);
    const offered: FeatureLists = {
      resources,
      templates: source.templates.filter((one) =>
        isOffered("resourceTemplate", String(one["uriTemplate"]), one),
      ),
      prompts: source.prompts.filter((one) => isOffered("prompt", String(one["name"]), one)),
      instructions:
        isSilent || isOffered("instructions", "instructions", { instructions }) ? instructions : undefined,
    };
    return { source, offered, held, malformed };
  }

  #decideResources(
    resources: readonly JsonObject[],
    isOffered: (kind: ListedDefinition["kind"], name: string, definition: JsonObject) => boolean,
  ): { readonly resources: readonly JsonObject[]; readonly malformed: Decided["malformed"] } {
    if (this.#rules.pinsResources) {
      const offered = resources.filter((one) => isOffered("resource", String(one["uri"]), withoutData(one)));
      return { resources: offered, malformed: [] };
    }
    const isListing = resources.length > 0 && isOffered("resources", "resources", anyResources);
    if (!isListing) return { resources: [], malformed: [] };
    if (this.#rules.trustState !== "unverified") return { resources, malformed: [] };
    const isReadable = ({ uri }: JsonObject) => stripHidden(String(uri)) === uri;
    const malformed = resources
      .filter((one) => !isReadable(one))
      .map((definition) => toMalformed(this.#sourceId, definition));
    return { resources: resources.filter(isReadable).map((one) => this.#labelled(one)), malformed };
  }

  /** Returns an entry of an unverified server as results of that server are: labelled, and without hidden characters. */
  #labelled(resource: JsonObject): JsonObject {
    const shown = visible.value(resource);
    const meta = isJsonObject(shown["_meta"]) ? shown["_meta"] : undefined;
    const label = { "toolcrib/server": this.#sourceId, "toolcrib/trustState": "unverified" };
    return { ...shown, _meta: { ...meta, ...label } };
  }
}

/** Removes hidden characters. Secrets are removed where lists are answered. */
const visible: TextScrubber = withoutHidden({ text: (text) => text, value: (value) => value });

/** A resource without its size and its date, which are data and hold no text for a model. */
function withoutData({ size: _size, annotations, ...resource }: JsonObject): JsonObject {
  if (!isJsonObject(annotations)) return resource;
  const { lastModified: _lastModified, ...rest } = annotations;
  return Object.keys(rest).length === 0 ? resource : { ...resource, annotations: rest };
}

function toMalformed(sourceId: string, definition: JsonObject): Decided["malformed"][number] {
  const uri = stripHidden(String(definition["uri"])).slice(0, shownMaxLength);
  const id = toToolId(sourceId, `resources/${uri}`);
  const reason = `"${id}" is malformed: uri has characters that people do not see`;
  return {
    kind: "resource",
    name: uri,
    id,
    code: "TOOL_DEFINITION_INVALID",
    member: "uri",
    reason,
    definition,
  };
}

/** Characters of a URI in a finding. */
const shownMaxLength = 200;

function isSame(one: FeatureLists, other: FeatureLists): boolean {
  return (
    one.resources === other.resources &&
    one.templates === other.templates &&
    one.prompts === other.prompts &&
    one.instructions === other.instructions
  );
}
