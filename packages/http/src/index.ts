// For the gateway.
export { approvalRoutes } from "./approval-routes.ts";
export { type ControlServer, startControlServer } from "./control-server.ts";
export { type HttpServer, type HttpServerDeps, startHttpServer } from "./http-server.ts";
export { GatewayMetrics } from "./metrics.ts";
export { pauseRoutes } from "./pause-routes.ts";
export { policyRoutes } from "./policy-routes.ts";
export { serverRoutes } from "./server-routes.ts";
