// For users.
// For other packages here.
export { ToolspecSources } from "./configured/toolspec-sources.ts";
export { createToolpackSource } from "./create-toolpack-source.ts";
export { type ExchangeDeps, exchange, type SendRequest } from "./exchange.ts";
export { jsonPathFault } from "./json-path.ts";
