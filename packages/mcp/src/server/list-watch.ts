/**
 * Notifications that a list changed, for each client on its own: a client is notified when the list that it sees
 * is another one, and never because of an entry that is hidden from it. The clients of one
 * identity and view see one list, which is compared once for all of them.
 *
 * It keeps digests, not lists. Lists are compared in a later turn of the event loop, one in each turn, so that
 * several changes in a row cost one comparison and many clients do not block other work.
 */

import { hash } from "node:crypto";
import { isJsonObject, type JsonObject } from "@toolcrib/json";
import { type Identity, identityKey, isOperator } from "@toolcrib/tool";
import type { Listener, View } from "./service.ts";

/** A list that clients are notified about. `resources` stands for resources and templates. */
export type ListKind = "tools" | "resources" | "prompts";

/** A session or stream that gets notifications. */
type ListClient = Pick<Listener, "identity" | "view" | "notify">;

/** The clients that see the same lists. */
interface Audience extends Pick<Listener, "identity" | "view"> {
  readonly clients: Map<ListClient, ReadonlySet<ListKind>>;
  readonly seen: Map<ListKind, string>;
  readonly due: Set<ListKind>;
}

const kinds: readonly ListKind[] = ["tools", "resources", "prompts"];

/** The clients of a service that are notified about changes of its lists. */
export class ListWatch {
  readonly #itemsOf: (kind: ListKind, view: View, identity: Identity) => Iterable<JsonObject>;
  readonly #audiences = new Map<string, Audience>();
  /** Those with lists to compare. */
  readonly #due = new Set<Audience>();
  #isComparing = false;
  #holds = 0;

  /** @param itemsOf the entries of a list, as a client sees them */
  constructor(itemsOf: (kind: ListKind, view: View, identity: Identity) => Iterable<JsonObject>) {
    this.#itemsOf = itemsOf;
  }

  /** Notifies `client` of changes from now on. @param wanted lists that it is notified about. @default all */
  add(client: ListClient, wanted: readonly ListKind[] = kinds): void {
    const { view, identity } = client;
    const key = keyOf(client);
    let audience = this.#audiences.get(key);
    if (audience === undefined) {
      audience = { view, identity, clients: new Map(), seen: new Map(), due: new Set() };
      this.#audiences.set(key, audience);
    }
    audience.clients.set(client, new Set(wanted));
    for (const kind of wanted) {
      if (!audience.seen.has(kind)) audience.seen.set(kind, this.#digestOf(kind, audience));
    }
  }

  /**
   * Adds a client of an earlier run of the gateway, whose lists can be other ones by now.
   *
   * @param capabilities those of its view; it is notified once of each list whose changes they announce
   */
  addContinued(client: ListClient, capabilities: JsonObject): void {
    this.add(client);
    for (const kind of kinds) {
      const offered = capabilities[kind];
      if (isJsonObject(offered) && offered["listChanged"] === true) notifyChanged(client, kind);
    }
  }

  /** Ends the notifications of `client`. */
  remove(client: ListClient): void {
    const key = keyOf(client);
    const audience = this.#audiences.get(key);
    if (audience === undefined || !audience.clients.delete(client) || audience.clients.size > 0) return;
    this.#audiences.delete(key);
    this.#due.delete(audience);
  }

  /** Compares the lists of clients soon. @param isConcerned whether a list of a view and an identity can be another one */
  changed(kind: ListKind, isConcerned: (view: View, identity: Identity) => boolean): void {
    for (const audience of this.#audiences.values()) {
      if (!audience.seen.has(kind) || !isConcerned(audience.view, audience.identity)) continue;
      audience.due.add(kind);
      this.#due.add(audience);
    }
    if (this.#due.size > 0 && !this.#isComparing) this.#compareSoon();
  }

  /** Compares no list until the returned function is called, so that a change in several steps is one for clients. */
  hold(): () => void {
    let isHeld = true;
    this.#holds += 1;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#holds -= 1;
      if (this.#due.size > 0 && !this.#isComparing) this.#compareSoon();
    };
  }

  #compareSoon(): void {
    this.#isComparing = true;
    setImmediate(() => {
      this.#isComparing = false;
      const [audience] = this.#due;
      if (audience === undefined || this.#holds > 0) return;
      this.#due.delete(audience);
      try {
        this.#compare(audience);
      } finally {
        if (this.#due.size > 0 && !this.#isComparing) this.#compareSoon();
      }
    });
  }

  #compare(audience: Audience): void {
    const due = [...audience.due];
    audience.due.clear();
    for (const kind of due) {
      const digest = this.#digestOf(kind, audience);
      if (audience.seen.get(kind) === digest) continue;
      audience.seen.set(kind, digest);
      for (const [client, wanted] of audience.clients) {
        if (wanted.has(kind)) notifyChanged(client, kind);
      }
    }
  }

  #digestOf(kind: ListKind, { view, identity }: Audience): string {
    const items = Array.from(this.#itemsOf(kind, view, identity), digestOfItem);
    return hash("sha256", items.join(" "), "base64");
  }
}

function notifyChanged(client: ListClient, kind: ListKind): void {
  client.notify(`notifications/${kind}/list_changed`, {});
}

/** Digests are kept for as long as the entries that they are made of. */
const digests = new WeakMap<JsonObject, string>();

function digestOfItem(item: JsonObject): string {
  const known = digests.get(item);
  if (known !== undefined) return known;
  const digest = hash("sha256", JSON.stringify(item), "base64");
  digests.set(item, digest);
  return digest;
}

/** Roles decide, too, what an identity sees. */
function keyOf({ view, identity }: Pick<Listener, "view" | "identity">): string {
  return JSON.stringify([view, isOperator(identity), identityKey(identity)]);
}
