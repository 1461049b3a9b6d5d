/** Requests of servers to the client that it has not answered (sampling, elicitation, roots), and who asked them. */

import type { RpcId } from "@toolcrib/mcp";

/** Most questions at once. */
const maxCount = 1000;

/** The open questions of one client. */
export class Questions {
  /** The connection on which each was asked, by its id. */
  readonly #open = new Map<RpcId, object>();

  /** Notes a question. @returns whether the client can be asked */
  ask(id: RpcId, connection: object, hasEnded: boolean): boolean {
    if (hasEnded || this.#open.size >= maxCount) return false;
    this.#open.set(id, connection);
    return true;
  }

  /** Removes a question that the client answers. @returns whether it was asked on `connection` */
  answer(id: RpcId, connection: object): boolean {
    const asked = this.#open.get(id);
    this.#open.delete(id);
    return asked === connection;
  }

  /** Removes a question that its server does not ask any more. */
  forget(id: RpcId): void {
    this.#open.delete(id);
  }

  /** Removes all. @returns the ids of those on `connection` */
  end(connection: object | undefined): readonly RpcId[] {
    const ids = [...this.#open].filter(([, asked]) => asked === connection).map(([id]) => id);
    this.#open.clear();
    return ids;
  }
}
