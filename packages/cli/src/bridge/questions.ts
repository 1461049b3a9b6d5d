/** Requests of servers to the client that it has not answered (sampling, elicitation, roots), and who asked them. */

import type { HttpTransport, RpcId } from "@toolcrib/mcp";

/** Most questions at once. */
const maxCount = 1000;

/** The open questions of one client. */
export class Questions {
  /** The connection on which each was asked, by its id. */
  readonly #open = new Map<RpcId, HttpTransport>();

  /** Notes a question. @returns whether the client can be asked */
  ask(id: RpcId, connection: HttpTransport, hasEnded: boolean): boolean {
    // Another gateway, which ends, can have a question with the same id.
    const asked = this.#open.get(id) ?? connection;
    if (hasEnded || this.#open.size >= maxCount || asked !== connection) return false;
    this.#open.set(id, connection);
    return true;
  }

  /** Removes a question that the client answers. @returns the connection on which it was asked, if that is open */
  answer(id: RpcId): HttpTransport | undefined {
    const asked = this.#open.get(id);
    this.#open.delete(id);
    return asked;
  }

  /** Removes a question that its server does not ask any more. */
  forget(id: RpcId, connection: HttpTransport): void {
    if (this.#open.get(id) === connection) this.#open.delete(id);
  }

  /** Removes those of a connection. @returns their ids */
  end(connection: HttpTransport): readonly RpcId[] {
    const ids = [...this.#open].filter(([, asked]) => asked === connection).map(([id]) => id);
    for (const id of ids) this.#open.delete(id);
    return ids;
  }
}
