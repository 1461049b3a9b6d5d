/** Types of parameters that the package does not export by name. */

import type {
  HttpEndpoint,
  HttpTransport,
  MessageRouter,
  openConnection,
  SseDecoder,
  SseEndpoint,
  StdioTransport,
  startStdioServer,
  staticCredentials,
} from "@toolcrib/mcp";

export type ConnectionHandlers = Parameters<typeof openConnection>[1];
export type ConnectionOptions = Parameters<typeof openConnection>[2];
export type CredentialProvider = ReturnType<typeof staticCredentials>;
export type CredentialRequest = Parameters<CredentialProvider>[0];
export type HttpCaller = Parameters<HttpEndpoint["handle"]>[2];
export type HttpEndpointOptions = NonNullable<ConstructorParameters<typeof HttpEndpoint>[2]>;
export type HttpTransportOptions = ConstructorParameters<typeof HttpTransport>[1];
export type RouterHandlers = ConstructorParameters<typeof MessageRouter>[1];
export type RouterOptions = NonNullable<ConstructorParameters<typeof MessageRouter>[2]>;
export type RpcMessage = Parameters<ConstructorParameters<typeof MessageRouter>[0]>[0];
export type SseEndpointOptions = NonNullable<ConstructorParameters<typeof SseEndpoint>[2]>;
export type SseEvent = Parameters<ConstructorParameters<typeof SseDecoder>[0]["event"]>[0];
export type StdioServerOptions = Parameters<typeof startStdioServer>[2];
export type StdioTransportOptions = NonNullable<ConstructorParameters<typeof StdioTransport>[1]>;
