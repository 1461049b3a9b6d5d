/** The routes of the switches: servers and tools are enabled and disabled. All need the role of an operator. */

import type { Identity } from "@toolcrib/tool";
import { changeAccess, operatorRoute } from "./operator-route.ts";
import type { ApiRoute } from "./route-access.ts";

/** The switches of a gateway, for its operator. */
export interface OperatorSwitches {
  /** Switches servers or tools, all or none of them, and returns what changed. */
  change(
    request: { readonly kind: string; readonly names: readonly string[]; readonly isEnabled: boolean },
    operator: Identity,
  ): Promise<object>;
}

const switchPath = /^\/api\/v1\/(server|tool)s\/([^/]{1,1024})\/(enable|disable)$/;

/**
 * Returns the function that finds the route of a path: `POST /api/v1/servers/ID/enable` and `…/disable`, and
 * `POST /api/v1/tools/NAME/enable` and `…/disable`, where `NAME` is percent-encoded. `?also=…`, which can be repeated,
 * adds a further id or name: all of them are switched, or none.
 */
export function switchRoutes(switches: OperatorSwitches): (path: string) => ApiRoute | undefined {
  return (path) => {
    const [, kind = "", encoded = "", action] = switchPath.exec(path) ?? [];
    const name = decoded(encoded);
    if (kind === "" || name === undefined) return undefined;
    return operatorRoute(changeAccess, (query, operator) =>
      switches.change(
        { kind, names: [name, ...query.getAll("also")], isEnabled: action === "enable" },
        operator,
      ),
    );
  };
}

/** Undefined for an invalid encoding. */
function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
