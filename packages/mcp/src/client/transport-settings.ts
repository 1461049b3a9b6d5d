/** Settings from which a transport is opened, with all secrets in place. Types only. */

import type { NetworkSettings } from "./http-client.ts";

/** The process of a server, or its address. */
export type TransportSettings =
  | {
      readonly kind: "stdio";
      readonly command: string;
      readonly args: readonly string[];
      readonly env: { readonly [name: string]: string };
      /** Absolute. @default the folder of the gateway */
      readonly cwd?: string;
    }
  | {
      readonly kind: "sse" | "streamable_http";
      readonly url: string;
      readonly headers: { readonly [name: string]: string };
      /** The network path to the server. @default a direct connection */
      readonly network?: NetworkSettings;
    };
