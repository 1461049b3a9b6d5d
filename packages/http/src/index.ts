// For the gateway.
export { type ControlServer, startControlServer } from "./control-server.ts";
export { type HttpServer, type HttpServerDeps, startHttpServer } from "./http-server.ts";
export { GatewayMetrics } from "./metrics.ts";
export { operatorRoutes } from "./operator-routes.ts";
export { serverRoutes } from "./server-routes.ts";
