// For users.
export { clientCall } from "./client-call.ts";
export type { EchoCapability, EchoOptions } from "./echo/echo-options.ts";
export type { EchoHttpOptions, EchoHttpServer } from "./echo/http-options.ts";
export type { AnswerForm } from "./echo/http-session.ts";
export { type EchoStreamableHttpOptions, startEchoHttpServer } from "./echo-http-server.ts";
export { startEchoSseServer } from "./echo-sse-server.ts";
export {
  conformanceHttpPath,
  conformanceStdioPath,
  echoHttpPath,
  echoStdioPath,
  fixtureCommand,
  trackerStdioPath,
  watchedNetworkPath,
} from "./fixtures.ts";
export { freePort } from "./free-port.ts";
export { checkGolden, readGolden } from "./golden.ts";
export { type DnsAnswer, type DnsServer, startDnsServer } from "./hosts/dns-server.ts";
export {
  type AddressCase,
  addressCases,
  benignHosts,
  caseHost,
  caseHosts,
  type HostCase,
  hostCases,
} from "./hosts/host-cases.ts";
export {
  benignNames,
  type DnsCase,
  dnsCases,
  endpointCases,
  hostileValues,
  hostTexts,
  redirectTargets,
} from "./hosts/hostile-cases.ts";
export {
  type ConnectCase,
  connectCases,
  type InsideCase,
  type InsideHttp2Case,
  insideCases,
  insideHttp2Cases,
  serverNameCases,
} from "./hosts/proxy-host-cases.ts";
export { ownAddresses, type Sinks, startSinks } from "./hosts/sinks.ts";
export {
  canFindProcesses,
  type FoundProcess,
  findProcessesByEnvironment,
  isProcessAlive,
} from "./processes.ts";
export {
  type ProcessOutcome,
  type RunOptions,
  runProcess,
  type ServerProcess,
  startServerProcess,
} from "./run-process.ts";
export {
  type SampleManifestOptions,
  sampleCatalog,
  sampleManifest,
  sampleToolspec,
} from "./sample-toolspecs.ts";
export { leftOut, runsAll, sampled } from "./sampled.ts";
export { makeTemporaryDirectory, type TemporaryDirectory } from "./temporary-directory.ts";
export {
  createTestAuthority,
  type TestAuthority,
  type TestCertificate,
  type TestCertificateOptions,
} from "./test-certificates.ts";
export {
  type RecordedRequest,
  startTlsServer,
  type TlsServer,
  type TlsServerOptions,
} from "./tls-server.ts";
export { trackerExample } from "./tracker-example.ts";
export { waitUntil } from "./wait-until.ts";
export { writeFiles } from "./write-files.ts";
