/** The explanations of each area, each in a file of its own. `protocol` and `events` have no `codes.ts`. */

import { explanations as admission } from "./areas/admission.ts";
import { explanations as auth } from "./areas/auth.ts";
import { explanations as cedar } from "./areas/cedar.ts";
import { explanations as cli } from "./areas/cli.ts";
import { explanations as clients } from "./areas/clients.ts";
import { explanations as config } from "./areas/config.ts";
import { explanations as diagnostics } from "./areas/diagnostics.ts";
import { explanations as discovery } from "./areas/discovery.ts";
import { explanations as egress } from "./areas/egress.ts";
import { explanations as embeddings } from "./areas/embeddings.ts";
import { explanations as events } from "./areas/events.ts";
import { explanations as extensions } from "./areas/extensions.ts";
import { explanations as files } from "./areas/files.ts";
import { explanations as gateway } from "./areas/gateway.ts";
import { explanations as hooks } from "./areas/hooks.ts";
import { explanations as http } from "./areas/http.ts";
import { explanations as inventory } from "./areas/inventory.ts";
import { explanations as json } from "./areas/json.ts";
import { explanations as learning } from "./areas/learning.ts";
import { explanations as mcp } from "./areas/mcp.ts";
import { explanations as mcpkg } from "./areas/mcpkg.ts";
import { explanations as mcpkgInstall } from "./areas/mcpkg-install.ts";
import { explanations as mcpkgRegistry } from "./areas/mcpkg-registry.ts";
import { explanations as mcpkgRuntime } from "./areas/mcpkg-runtime.ts";
import { explanations as metatool } from "./areas/metatool.ts";
import { explanations as oauth } from "./areas/oauth.ts";
import { explanations as openapi } from "./areas/openapi.ts";
import { explanations as process } from "./areas/process.ts";
import { explanations as protocol } from "./areas/protocol.ts";
import { explanations as registry } from "./areas/registry.ts";
import { explanations as runners } from "./areas/runners.ts";
import { explanations as sandbox } from "./areas/sandbox.ts";
import { explanations as search } from "./areas/search.ts";
import { explanations as secrets } from "./areas/secrets.ts";
import { explanations as starlark } from "./areas/starlark.ts";
import { explanations as store } from "./areas/store.ts";
import { explanations as toolpack } from "./areas/toolpack.ts";
import { explanations as toolpackImage } from "./areas/toolpack-image.ts";
import { explanations as toolspec } from "./areas/toolspec.ts";
import { explanations as upstream } from "./areas/upstream.ts";
import type { Explanations } from "./explanation.ts";

/** The explanations by area. */
export const areas: { readonly [area: string]: Explanations } = {
  admission,
  auth,
  cedar,
  cli,
  clients,
  config,
  diagnostics,
  discovery,
  egress,
  embeddings,
  extensions,
  files,
  gateway,
  hooks,
  http,
  inventory,
  json,
  learning,
  mcp,
  mcpkg,
  "mcpkg-install": mcpkgInstall,
  "mcpkg-registry": mcpkgRegistry,
  "mcpkg-runtime": mcpkgRuntime,
  metatool,
  oauth,
  openapi,
  process,
  registry,
  runners,
  sandbox,
  search,
  secrets,
  starlark,
  store,
  toolpack,
  "toolpack-image": toolpackImage,
  toolspec,
  upstream,
  protocol,
  events,
};
