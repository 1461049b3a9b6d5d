/** Guards of a home in a temporary folder, with a clock that tests set. */

import { randomBytes } from "node:crypto";
import { createGuards, type GuardDeps } from "@toolcrib/admission";
import { BudgetStore, createPauseStore } from "@toolcrib/store";
import { type Identity, localIdentity, localIdentityKeys, toToolId } from "@toolcrib/tool";

/** The operator. */
export const operator = localIdentity("cli", "operator");

/** Returns a call of a tool of the server `notes`, by a client. */
export function callOf(client: string, name = "write") {
  const target = {
    id: toToolId("notes", name),
    wireName: `notes__${name}`,
    shownName: `notes__${name}`,
    server: "notes",
    isOwn: false,
  };
  const identity: Identity = localIdentity("token", client);
  return { target, origin: { identity, owners: undefined } };
}

/** The records and the lines of the log that the guards caused. */
export interface GuardEvents {
  readonly recorded: { readonly type: string; readonly data: object }[];
  readonly logged: string[];
  /** Whether the trail refuses records, as one that is closing. */
  isClosed: boolean;
}

/** Creates the guards of a gateway whose home is `home`, if it has one. @param clock `ms` is the time since the epoch */
export function guardsOf(
  home: string | undefined,
  clock: { readonly ms: number },
  limits?: Parameters<typeof createGuards>[0],
  run = "1",
) {
  const events: GuardEvents = { recorded: [], logged: [], isClosed: false };
  const log = (_fields: object, message: string): void => void events.logged.push(message);
  const now = () => clock.ms;
  const deps: GuardDeps = {
    audit: {
      record: (type, data) => {
        if (events.isClosed) throw new Error("the trail is closed");
        events.recorded.push({ type, data });
      },
    },
    logger: { debug() {}, info() {}, warn: log, error: log },
    now,
    newCallId: () => run,
    clientKeys: localIdentityKeys,
    pauses: home === undefined ? undefined : createPauseStore(home, { randomBytes }),
    budgetStore: home === undefined ? undefined : new BudgetStore(home, { now, randomBytes }),
  };
  return { ...createGuards(limits, deps), events };
}
