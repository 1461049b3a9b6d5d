/**
 * The gateway as composite tools see it: the tools that a caller may call,
 * hidden ones included, and calls of them through the governed call. Toolcrib's
 * own tools are not among them: a composite changes nothing in the gateway.
 */

import type { IndexedTool } from "@toolcrib/inventory";
import { foldsOf, subjectOfId, toWireName } from "@toolcrib/inventory";
import type { JsonObject } from "@toolcrib/json";
import type { Catalog, CatalogTool, MetatoolHost } from "@toolcrib/metatool";
import type { SecretScrubber } from "@toolcrib/redaction";
import {
  type CallContext,
  foldName,
  type Identity,
  isListedFor,
  isOperator,
  rightsKey,
  savedNamespace,
  type ToolId,
  type ToolResult,
} from "@toolcrib/tool";
import type { GatewayCore } from "../gateway-core.ts";
import { GatewayError } from "../gateway-error.ts";

/** Maximum number of identities whose catalogs are kept. */
const maxCatalogs = 100;

/** The host of the composites of one gateway. */
export class CompositeHost implements MetatoolHost {
  readonly #core: Pick<
    GatewayCore,
    "index" | "policy" | "roster" | "visibility" | "callInner" | "reasonFor" | "untilListed"
  >;
  readonly #scrubber: Pick<SecretScrubber, "text" | "generation">;
  readonly #described = new WeakMap<IndexedTool, CatalogTool>();
  readonly #catalogs = new Map<string, Catalog>();
  #whole: Catalog = { generation: -1, tools: [] };

  constructor(
    core: Pick<
      GatewayCore,
      "index" | "policy" | "roster" | "visibility" | "callInner" | "reasonFor" | "untilListed"
    >,
    scrubber: Pick<SecretScrubber, "text" | "generation">,
  ) {
    this.#core = core;
    this.#scrubber = scrubber;
  }

  /** Every tool that composites can call, for any identity. */
  wholeCatalog(): Catalog {
    const { index, policy } = this.#core;
    const { tools } = index;
    const scrubber = this.#scrubber;
    // All only grow.
    const generation = index.generation + policy.generation + scrubber.generation;
    if (this.#whole.generation !== generation) {
      // A program sees names as identifiers, in which nothing recognizes a secret.
      const isClean = (id: string) => scrubber.text(id) === id;
      const callable = tools.filter(({ id, facts }) => facts.isCallableByComposites && isClean(id));
      this.#whole = { generation, tools: callable.map((entry) => this.#describe(entry)) };
      this.#catalogs.clear();
    }
    return this.#whole;
  }

  /** Whether `identity` may use a tool and finds it. */
  mayUse(identity: Identity, id: ToolId, wireName: string): boolean {
    const entry = this.#core.index.find(id);
    if (entry !== undefined && !isListedFor(entry.tool, identity)) return false;
    return this.#core.policy.allowsListing(
      identity,
      entry ?? subjectOfId(id, wireName, this.#core.roster.entries),
    );
  }

  catalog(identity: Identity): Catalog {
    const { generation, tools } = this.wholeCatalog();
    const key = `${isOperator(identity)} ${rightsKey(identity)}`;
    const known = this.#catalogs.get(key);
    if (known !== undefined) return known;
    const allowed = tools.filter(({ id, wireName }) => this.mayUse(identity, id, wireName));
    const explain = (name: string) => this.#core.reasonFor(identity, name);
    const catalog = { generation, tools: allowed, explain };
    if (this.#catalogs.size >= maxCatalogs) this.#catalogs.clear();
    this.#catalogs.set(key, catalog);
    return catalog;
  }

  untilListed(context: CallContext, code: string): Promise<unknown> | undefined {
    const { signal, deadline } = context;
    return this.#core.untilListed(context, { code, signal, deadline })?.then(() => context.recheck?.());
  }

  async callTool(context: CallContext, id: ToolId, args: JsonObject): Promise<ToolResult> {
    if (this.#core.index.find(id)?.facts.isCallableByComposites === false) {
      throw new GatewayError("TOOL_NOT_FOUND", `A composite cannot call "${id}"`, {
        hint: "it changes nothing of the gateway; call what the tool is about",
      });
    }
    return this.#core.callInner(context, id, args);
  }

  isNameTaken(name: string, identity: Identity | undefined): boolean {
    if (this.#isNameOfSource(name, identity)) return true;
    const folds = new Set(foldsOf("", name, toWireName("", name)));
    return this.#core.index.tools.some(
      ({ facts, folds: others }) => !facts.isComposite && others.some((fold) => folds.has(fold)),
    );
  }

  /** Whether `name` is that of a configured source that `identity` sees, which may not have listed its tools yet. */
  #isNameOfSource(name: string, identity: Identity | undefined): boolean {
    const fold = foldName(name);
    if (foldName(savedNamespace) === fold) return true;
    const { roster, visibility } = this.#core;
    return (
      identity !== undefined &&
      roster.configuredIds.some((id) => foldName(id) === fold && visibility.isVisible(identity, id))
    );
  }

  #describe(entry: IndexedTool): CatalogTool {
    let tool = this.#described.get(entry);
    if (tool === undefined) {
      tool = toCatalogTool(entry);
      this.#described.set(entry, tool);
    }
    return tool;
  }
}

function toCatalogTool({ id, wireName, tool, shownDefinition, facts }: IndexedTool): CatalogTool {
  const { namespace } = tool;
  // What a composite can do follows from the annotations: from those that are believed.
  const { name, description, inputSchema, outputSchema, annotations } = shownDefinition;
  const { isComposite, labels, egressHosts } = facts;
  return {
    id,
    namespace,
    name,
    wireName,
    isComposite,
    description,
    inputSchema,
    outputSchema,
    annotations,
    labels,
    ...(egressHosts === undefined ? undefined : { egressHosts }),
  };
}
