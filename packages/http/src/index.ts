// For the gateway.
export { startControlServer } from "./control-server.ts";
export { type HttpServerDeps, startHttpServer } from "./http-server.ts";
export { GatewayMetrics } from "./metrics.ts";
export { operatorRoutes } from "./operator-routes.ts";
export { serverRoutes } from "./server-routes.ts";
