/**
 * What a server lists, as last read. All lists are read when a session is made;
 * one that changed is read again, once for a burst of announcements and never
 * twice at a time. What a server listed stays known while it is away.
 */

import { isDeepStrictEqual } from "node:util";
import { type Logger, messageOf } from "@toolcrib/diagnostics";
import type { JsonObject } from "@toolcrib/json";
import { McpError } from "@toolcrib/mcp";
import type { SourceChange, Tool } from "@toolcrib/tool";
import type { UpstreamSession } from "./open-session.ts";
import { listAll, toTools } from "./server-lists.ts";
import { UpstreamError } from "./upstream-error.ts";
import type { UpstreamLimits, UpstreamSettings } from "./upstream-options.ts";

/** The lists of one server. */
export interface Lists {
  readonly tools: readonly Tool[];
  readonly resources: readonly JsonObject[];
  readonly resourceTemplates: readonly JsonObject[];
  readonly prompts: readonly JsonObject[];
}

/** A kind of list that servers announce changes of. */
export type ListKind = Exclude<SourceChange["kind"], "health">;

export const listKinds: readonly ListKind[] = ["tools", "resources", "prompts"];

/** What the catalogue needs of its server. */
export interface CatalogueDeps {
  readonly settings: UpstreamSettings;
  readonly limits: Required<UpstreamLimits>;
  readonly logger: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** The shared session, if there is one. */
  readonly session: () => UpstreamSession | undefined;
  /** Aborts when the server is stopped. */
  readonly stopped: AbortSignal;
  /** A list is another one now, or was announced as one. */
  readonly changed: (kind: ListKind) => void;
}

/** The lists, and how they stay true. */
export interface Catalogue {
  readonly lists: Lists;
  /** Read all lists of a new session. @returns what puts them in place @throws when the tools cannot be read */
  read(session: UpstreamSession, signal: AbortSignal): Promise<() => void>;
  /** The server says that a list changed, or may have. */
  announced(kind: ListKind): void;
}

/** A burst of announcements ends within this. */
const burstMs = 20;

/** Create an empty catalogue. */
export function createCatalogue(deps: CatalogueDeps): Catalogue {
  const { settings, limits, logger, stopped } = deps;
  const log = { server: settings.id };
  /** Kinds that changed since they were read. */
  const stale = new Set<ListKind>();
  /** Kinds that are being read, or are about to be. */
  const busy = new Set<ListKind>();
  let lists: Lists = { tools: [], resources: [], resourceTemplates: [], prompts: [] };

  function schedule(kind: ListKind, pauseMs: number): void {
    if (busy.has(kind) || stopped.aborted) return;
    busy.add(kind);
    const timer = setTimeout(() => void refresh(kind), pauseMs);
    timer.unref();
  }

  async function refresh(kind: ListKind): Promise<void> {
    const session = deps.session();
    const startedAt = deps.now();
    try {
      // Without a session the kind stays stale until there is one.
      if (session === undefined) return;
      stale.delete(kind);
      put(await readKind(session, kind, stopped));
      // What a server announces is passed on, although it may be what it was: clients may know why.
      deps.changed(kind);
    } catch (error) {
      // A connection that ended meanwhile is told elsewhere, and all is read again with the next one.
      if (deps.session() === session) {
        const reason = messageOf(error);
        logger.warn({ ...log, kind, reason }, "changed list could not be read; the old one stays");
      }
    } finally {
      busy.delete(kind);
      // At most half of the time goes into reading, however often a server announces.
      const pauseMs = Math.max(burstMs, deps.now() - startedAt);
      if (stale.has(kind) && deps.session() !== undefined) schedule(kind, pauseMs);
    }
  }

  /** @returns whether it is another list than before */
  function put(fresh: Partial<Lists>): boolean {
    const isSame = Object.entries(fresh).every(([key, list]) =>
      isDeepStrictEqual(lists[key as keyof Lists], list),
    );
    if (!isSame) lists = { ...lists, ...fresh };
    return !isSame;
  }

  async function readKind(
    session: UpstreamSession,
    kind: ListKind,
    signal: AbortSignal,
  ): Promise<Partial<Lists>> {
    const isOffered = session.connection.capabilities[kind] !== undefined;
    if (kind === "tools") {
      return {
        tools: isOffered ? toOwnTools(session, await read(session, "tools/list", "tools", signal)) : [],
      };
    }
    if (kind === "prompts") {
      return { prompts: isOffered ? await readOptional(session, "prompts/list", "prompts", signal) : [] };
    }
    if (!isOffered) return { resources: [], resourceTemplates: [] };
    const [resources, resourceTemplates] = await Promise.all([
      readOptional(session, "resources/list", "resources", signal),
      readOptional(session, "resources/templates/list", "resourceTemplates", signal),
    ]);
    return { resources, resourceTemplates };
  }

  function read(
    session: UpstreamSession,
    method: string,
    key: string,
    signal: AbortSignal,
  ): Promise<readonly JsonObject[]> {
    const { listTimeoutMs: timeoutMs, listMaxItems: maxItems } = limits;
    return listAll(session.connection, method, key, { timeoutMs, maxItems, signal });
  }

  /** A server with tools is of use without its other lists; many declare resources and have no templates. */
  async function readOptional(
    session: UpstreamSession,
    method: string,
    key: string,
    signal: AbortSignal,
  ): Promise<readonly JsonObject[]> {
    try {
      return await read(session, method, key, signal);
    } catch (error) {
      const isRefused = error instanceof McpError && error.code === "MCP_REMOTE_ERROR";
      const isEndless = error instanceof UpstreamError && error.code === "UPSTREAM_LIST_ENDLESS";
      if (!isRefused && !isEndless) throw error;
      const record = { ...log, method, reason: messageOf(error) };
      if (method === "resources/templates/list") logger.debug(record, "list is left empty");
      else logger.warn(record, "list is left empty");
      return [];
    }
  }

  function toOwnTools(session: UpstreamSession, definitions: readonly JsonObject[]): readonly Tool[] {
    const isModernHttp = session.connection.era === "modern" && settings.kind === "streamable_http";
    const owner = { id: settings.id, tags: settings.tags ?? [], isModernHttp };
    const { tools, refused } = toTools(definitions, owner);
    for (const { name, reason } of refused) {
      logger.warn({ ...log, tool: name, reason }, "tool definition was left out");
    }
    return tools;
  }

  return {
    get lists() {
      return lists;
    },
    async read(session, signal) {
      // What is announced from now on may not be in what is read now.
      stale.clear();
      const fresh = await Promise.all(listKinds.map((kind) => readKind(session, kind, signal)));
      return () => {
        for (const [at, kind] of listKinds.entries()) if (put(fresh[at] ?? {})) deps.changed(kind);
        for (const kind of stale) schedule(kind, burstMs);
      };
    },
    announced(kind) {
      stale.add(kind);
      if (deps.session() !== undefined) schedule(kind, burstMs);
    },
  };
}
