/**
 * The lists of a server, as last read. All lists are read when a session is
 * opened. A list that the server reports as changed is read again, once for a
 * burst of notifications and never twice at a time. The lists stay known while
 * the server is not available.
 */

import { cutText, type Logger, messageOf } from "@toolcrib/diagnostics";
import { isSameJson, type JsonObject } from "@toolcrib/json";
import type { StartTimer } from "@toolcrib/lifecycle";
import { McpError } from "@toolcrib/mcp";
import type { SourceChange, Tool } from "@toolcrib/tool";
import type { RememberedServer } from "./definition-memory.ts";
import { OwnLists } from "./own-lists.ts";
import { describeRefused, listAll, toTools } from "./server-lists.ts";
import { UpstreamError } from "./upstream-error.ts";
import type { UpstreamLimits, UpstreamSettings } from "./upstream-options.ts";
import type { UpstreamSession } from "./upstream-session.ts";

/** The lists of one server. */
export interface Lists {
  readonly tools: readonly Tool[];
  readonly resources: readonly JsonObject[];
  readonly resourceTemplates: readonly JsonObject[];
  readonly prompts: readonly JsonObject[];
}

/** A kind of list whose changes servers report. */
export type ListKind = Exclude<SourceChange["kind"], "health">;

/** Tools of a list, and which of its definitions are left out, in words. */
interface OwnTools {
  readonly tools: readonly Tool[];
  readonly leftOut: string | undefined;
}

const listKinds: readonly ListKind[] = ["tools", "resources", "prompts"];

/** Dependencies of `ServerCatalogue`. */
export interface ServerCatalogueDeps {
  readonly settings: UpstreamSettings;
  readonly limits: Required<UpstreamLimits>;
  readonly logger: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly startBackgroundTimer: StartTimer;
  /** Returns the shared session, if there is one. */
  readonly session: () => UpstreamSession | undefined;
  /** Aborts when the server is stopped. */
  readonly stopped: AbortSignal;
  /** Reports that a list changed, or that the server reported a change of it. */
  readonly onChange: (kind: ListKind) => void;
  /** Reports that a list of a session was read again. */
  readonly onRead: () => void;
}

/** A burst of notifications ends within this time. */
const burstMs = 20;

/** The lists of one server; at first those of an earlier connection, or empty. */
export class ServerCatalogue {
  readonly #deps: ServerCatalogueDeps;
  /** Kinds that changed since they were read. */
  readonly #stale = new Set<ListKind>();
  /** Kinds that are being read, or are scheduled to be. */
  readonly #busy = new Set<ListKind>();
  #lists: Lists;
  #leftOut: string | undefined;
  /** The offered tools of the list `of`. */
  #offered: { readonly of: readonly Tool[]; readonly tools: readonly Tool[] } | undefined;
  readonly #ownLists: OwnLists;

  constructor(deps: ServerCatalogueDeps) {
    this.#deps = deps;
    this.#ownLists = new OwnLists({
      read: async (session) => (await this.#readTools(session, deps.stopped)).tools,
      now: deps.now,
      startBackgroundTimer: deps.startBackgroundTimer,
      pauseMs: burstMs,
      onChange: () => deps.onChange("tools"),
    });
    const { remembered } = deps.settings;
    const { tools, leftOut } = this.#toOwnTools(remembered?.tools ?? [], false);
    this.#leftOut = leftOut;
    this.#lists = {
      tools,
      resources: remembered?.resources ?? [],
      resourceTemplates: remembered?.resourceTemplates ?? [],
      prompts: remembered?.prompts ?? [],
    };
  }

  /** A sentence about tools that are left out; undefined if there are none. */
  get leftOut(): string | undefined {
    return this.#leftOut;
  }

  /** The tools that are offered; the same array until the list changes. */
  get offered(): readonly Tool[] {
    const tools = this.#ownLists.addedTo(this.#lists.tools);
    const { offers } = this.#deps.settings;
    if (offers === undefined) return tools;
    if (this.#offered?.of !== tools)
      this.#offered = { of: tools, tools: tools.filter(({ definition }) => offers(definition.name)) };
    return this.#offered.tools;
  }

  get lists(): Lists {
    return this.#lists;
  }

  /** The lists with the definitions of the tools alone. */
  definitions(): Pick<RememberedServer, "tools" | "resources" | "resourceTemplates" | "prompts"> {
    const { tools, resources, resourceTemplates, prompts } = this.#lists;
    const definitions = tools.map(({ definition }) => definition as unknown as JsonObject);
    return { tools: definitions, resources, resourceTemplates, prompts };
  }

  /**
   * Reads all lists of a new session.
   *
   * @returns a function that replaces the current lists by them.
   * @throws when the tools cannot be read.
   */
  async read(session: UpstreamSession, signal: AbortSignal): Promise<() => void> {
    // A change that is reported from now on may be missing in the lists that are read now.
    this.#stale.clear();
    const fresh = await Promise.all(listKinds.map((kind) => this.#readKind(session, kind, signal)));
    return () => {
      for (const [at, kind] of listKinds.entries()) {
        if (this.#replace(fresh[at] ?? {})) this.#deps.onChange(kind);
      }
      for (const kind of this.#stale) this.#schedule(kind, burstMs);
    };
  }

  /** Reads the tools of a client's own session, which reports that they changed, for that client. */
  announcedTo(session: UpstreamSession): void {
    this.#ownLists.announced(session);
  }

  /** Reads the list again that a notification of this method reports as changed, if it reports one. */
  notified(method: string): void {
    const kind = listKinds.find((one) => method === `notifications/${one}/list_changed`);
    if (kind !== undefined) this.#announced(kind);
  }

  /** Reads all lists again, because changes of them can have been missed. */
  missed(): void {
    for (const kind of listKinds) this.#announced(kind);
  }

  #announced(kind: ListKind): void {
    this.#stale.add(kind);
    if (this.#deps.session() !== undefined) this.#schedule(kind, burstMs);
  }

  #schedule(kind: ListKind, pauseMs: number): void {
    if (this.#busy.has(kind) || this.#deps.stopped.aborted) return;
    this.#busy.add(kind);
    this.#deps.startBackgroundTimer(pauseMs, () => void this.#refresh(kind));
  }

  async #refresh(kind: ListKind): Promise<void> {
    const { settings, logger, now, stopped, onChange } = this.#deps;
    const session = this.#deps.session();
    const startedAt = now();
    try {
      // Without a session the kind stays stale until there is one.
      if (session === undefined) return;
      this.#stale.delete(kind);
      this.#replace(await this.#readKind(session, kind, stopped));
      // The notification is passed on even if the list is equal: it can have another meaning to the client.
      onChange(kind);
      this.#deps.onRead();
    } catch (error) {
      // The end of a connection is reported elsewhere, and the next session reads all lists again.
      if (this.#deps.session() === session) {
        const reason = messageOf(error);
        logger.warn(
          { server: settings.id, kind, reason },
          "changed list could not be read; the old one stays",
        );
      }
    } finally {
      this.#busy.delete(kind);
      // Reading takes at most half of the time, however often a server reports changes.
      const pauseMs = Math.max(burstMs, now() - startedAt);
      if (this.#stale.has(kind) && this.#deps.session() !== undefined) this.#schedule(kind, pauseMs);
    }
  }

  /** @returns whether a list changed */
  #replace(fresh: Partial<Lists>): boolean {
    const isSame = Object.entries(fresh).every(([key, list]) =>
      isSameJson(this.#lists[key as keyof Lists], list),
    );
    if (!isSame) this.#lists = { ...this.#lists, ...fresh };
    return !isSame;
  }

  async #readKind(session: UpstreamSession, kind: ListKind, signal: AbortSignal): Promise<Partial<Lists>> {
    if (kind === "tools") {
      const { tools, leftOut } = await this.#readTools(session, signal);
      this.#leftOut = leftOut;
      return { tools };
    }
    const isOffered = session.connection.capabilities[kind] !== undefined;
    if (kind === "prompts") {
      if (!isOffered) return { prompts: [] };
      return { prompts: await this.#readOptional(session, "prompts/list", "prompts", signal) };
    }
    if (!isOffered) return { resources: [], resourceTemplates: [] };
    const [resources, resourceTemplates] = await Promise.all([
      this.#readOptional(session, "resources/list", "resources", signal),
      this.#readOptional(session, "resources/templates/list", "resourceTemplates", signal),
    ]);
    return { resources, resourceTemplates };
  }

  async #readTools(session: UpstreamSession, signal: AbortSignal): Promise<OwnTools> {
    const { capabilities, era } = session.connection;
    if (capabilities["tools"] === undefined) return { tools: [], leftOut: undefined };
    const definitions = await this.#read(session, "tools/list", "tools", signal);
    return this.#toOwnTools(definitions, era === "modern" && this.#deps.settings.kind === "streamable_http");
  }

  #read(
    session: UpstreamSession,
    method: string,
    key: string,
    signal: AbortSignal,
  ): Promise<readonly JsonObject[]> {
    const { listTimeoutMs: timeoutMs, listMaxItems: maxItems } = this.#deps.limits;
    return listAll(session.connection, method, key, { timeoutMs, maxItems, signal });
  }

  /**
   * Reads a list without which the server is still usable, and treats a refusal as an empty list. Many servers
   * declare resources and refuse to list templates.
   */
  async #readOptional(
    session: UpstreamSession,
    method: string,
    key: string,
    signal: AbortSignal,
  ): Promise<readonly JsonObject[]> {
    try {
      return await this.#read(session, method, key, signal);
    } catch (error) {
      const isRefused = error instanceof McpError && error.code === "MCP_REMOTE_ERROR";
      const isEndless = error instanceof UpstreamError && error.code === "UPSTREAM_LIST_ENDLESS";
      if (!isRefused && !isEndless) throw error;
      const { logger, settings } = this.#deps;
      const record = { server: settings.id, method, reason: messageOf(error) };
      if (method === "resources/templates/list") logger.debug(record, "list is left empty");
      else logger.warn(record, "list is left empty");
      return [];
    }
  }

  #toOwnTools(definitions: readonly JsonObject[], isModernHttp: boolean): OwnTools {
    const { settings, logger } = this.#deps;
    const { id, namespace = id, scrub = (text: string) => text } = settings;
    const owner = { id, namespace, tags: settings.tags ?? [], isModernHttp };
    const { tools, refused } = toTools(definitions, owner);
    for (const { name, reason } of refused) {
      logger.warn(
        { server: settings.id, tool: cutText(scrub(name), 256), reason: scrub(reason) },
        "tool definition was left out",
      );
    }
    return { tools, leftOut: describeRefused(refused, scrub) };
  }
}
