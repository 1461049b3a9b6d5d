/** The parts of undici in use. Loading the whole package takes twice as long. */
declare module "undici/lib/dispatcher/agent.js" {
  import { Agent } from "undici";
  export = Agent;
}
declare module "undici/lib/api/api-request.js" {
  import type { Dispatcher } from "undici";

  const request: Dispatcher["request"];
  export = request;
}
