/**
 * Derives the facts of saved tools, whether they may be called, and the definition
 * that clients see. The file of a tool that an agent saved contains its reach; the
 * reach of a file that was written or edited by hand is determined here.
 */

import { hasErrors } from "@toolcrib/diagnostics";
import type { JsonObject, SchemaValidator } from "@toolcrib/json";
import type { ApprovalStore, SavedTool } from "@toolcrib/store";
import {
  type Identity,
  normalizeTags,
  type Tool,
  type ToolDefinition,
  type ToolId,
  toToolId,
} from "@toolcrib/tool";
import { analyseComposite } from "../run/analyse/analyse-composite.ts";
import { type CompositeFacts, deriveFacts, type Reach } from "../run/analyse/reach.ts";
import type { Catalog, CatalogTool } from "../run/catalog.ts";
import { savedNamespace } from "../run/tool-directory.ts";
import { parseTestCases } from "../test/test-case.ts";
import { approvedReachOf } from "./approved-reach.ts";
import { responseSchema } from "./envelope.ts";
import { lintInputSchema } from "./lint-input-schema.ts";
import type { MetatoolDeps } from "./metatool.ts";
import { onlyListedFor } from "./ownership.ts";
import { digestCode, egressHostsOf, growthOf, keptReachOf } from "./tool-facts.ts";

/** A saved tool with its derived facts. */
export interface SavedEntry {
  readonly saved: SavedTool;
  /** The reach of its own code. */
  readonly reach: Reach;
  /** Facts of its transitive reach, through other saved tools. */
  readonly facts: CompositeFacts;
  readonly egressHosts: readonly string[];
  /** Its reach beyond the approved one; empty when it may be called. */
  readonly growth: readonly string[];
  /** The owner, while the definition is not approved: only the owner lists the tool, and limits its permissions. */
  readonly limitedBy: Identity | undefined;
}

/** Id of the source of saved tools. */
export const savedSourceId = "saved";

/** Returns the id of the saved tool `name`. */
export function toSavedId(name: string): ToolId {
  return toToolId(savedNamespace, name);
}

/** Derives the entries of saved tools from the tools that exist when it is created. Each program is analysed once. */
export class Assessment {
  readonly #whole: Catalog;
  readonly #approvals: ApprovalStore;
  readonly #byId: ReadonlyMap<ToolId, SavedTool>;
  readonly #reaches = new Map<string, OwnReach>();

  /** @param others all saved tools, for the transitive reach */
  constructor(
    { wholeCatalog, approvals }: Pick<MetatoolDeps, "wholeCatalog" | "approvals">,
    others: readonly SavedTool[],
  ) {
    this.#whole = wholeCatalog();
    this.#approvals = approvals;
    this.#byId = new Map(others.map((one) => [toSavedId(one.name), one]));
  }

  /** Returns the entry of a saved tool. */
  entryOf(saved: SavedTool): SavedEntry {
    const { reach, isSound } = this.#ownReachOf(saved);
    const reachOfOther = ({ id }: CatalogTool) => {
      const other = this.#byId.get(id);
      return other === undefined ? undefined : this.#ownReachOf(other).reach;
    };
    // The reach of a program that names unknown tools is unknown.
    const facts = deriveFacts({ ...reach, dynamic: reach.dynamic || !isSound }, this.#whole, reachOfOther);
    const approved = approvedReachOf(saved, this.#approvals);
    return {
      saved,
      reach,
      facts,
      egressHosts: egressHostsOf(facts.reach, this.#whole),
      // A file without an approved reach was written by the operator and needs no approval.
      growth: approved === undefined ? [] : growthOf(reach, approved),
      limitedBy: onlyListedFor(saved, this.#approvals),
    };
  }

  #ownReachOf(saved: SavedTool): OwnReach {
    const found = this.#reaches.get(saved.code) ?? ownReachOf(saved, this.#whole);
    this.#reaches.set(saved.code, found);
    return found;
  }
}

interface OwnReach {
  readonly reach: Reach;
  readonly isSound: boolean;
}

function ownReachOf({ name, code, toolcrib }: SavedTool, whole: Catalog): OwnReach {
  const { reach, codeDigest } = keptReachOf(toolcrib);
  if (reach !== undefined && codeDigest === digestCode(code)) return { reach, isSound: true };
  const analysis = analyseComposite(code, whole, { name });
  return { reach: analysis.reach, isSound: !hasErrors(analysis.diagnostics) };
}

/** Returns a saved tool as the gateway lists it; undefined when clients do not support its schema. */
export function toTool(
  { saved, facts, growth, limitedBy }: SavedEntry,
  validator: SchemaValidator,
): Tool | undefined {
  if (lintInputSchema(saved.inputSchema, validator).length > 0) return undefined;
  const { name, description } = saved;
  const { reach, annotations } = facts;
  // Names alone: the recorded parameters and replies are data.
  const tests = parseTestCases(saved.toolcrib).value.map((test) => test.name);
  const definition: ToolDefinition = {
    name,
    description,
    inputSchema: toObjectSchema(saved.inputSchema),
    outputSchema: responseSchema,
    annotations,
    _meta: {
      "toolcrib/reach": reach.tools,
      ...(reach.dynamic ? { "toolcrib/dynamic": true } : undefined),
      ...(growth.length > 0 ? { "toolcrib/needsApproval": true } : undefined),
    },
  };
  return {
    id: toSavedId(name),
    namespace: savedNamespace,
    tags: normalizeTags(["saved"]),
    origin: "saved",
    sourceId: savedSourceId,
    definition,
    ...(tests.length === 0 ? undefined : { examples: tests }),
    ...(limitedBy === undefined ? undefined : { listedFor: limitedBy }),
  };
}

/** Adds `type: object`, which MCP clients require. */
export function toObjectSchema(schema: JsonObject): JsonObject {
  return schema["type"] === undefined ? { type: "object", ...schema } : schema;
}

/** Returns the facts of a tool for answers. */
export function factsToJson({ facts, egressHosts, growth, limitedBy }: SavedEntry): JsonObject {
  const { reach, annotations, labels } = facts;
  return {
    reach: reach.tools,
    dynamic: reach.dynamic,
    annotations: { ...annotations },
    labels,
    egressHosts,
    needsApproval: growth.length > 0,
    permissions: limitedBy === undefined ? "caller" : "caller and owner",
  };
}
