// For the tests of all packages.
export { acmeManifest, startAcmeRegistry } from "./adopted-package.ts";
export { anyCharacter } from "./any-character.ts";
export { clientCall } from "./client-call.ts";
export { testApprovalStore } from "./contracts/approval-store-contract.ts";
export { testPinStore } from "./contracts/pin-store-contract.ts";
export { testSavedToolStore } from "./contracts/saved-tool-store-contract.ts";
export { rejectsWith, testSecretStore } from "./contracts/secret-store-contract.ts";
export { testSessionStore } from "./contracts/session-store-contract.ts";
export { testTestHistory } from "./contracts/test-history-contract.ts";
export type { EchoOptions } from "./echo/echo-options.ts";
export type { EchoHttpOptions, EchoHttpServer } from "./echo/http-options.ts";
export { type EchoStreamableHttpOptions, startEchoHttpServer } from "./echo-http-server.ts";
export { startEchoSseServer } from "./echo-sse-server.ts";
export {
  conformanceHttpPath,
  conformanceStdioPath,
  conformanceV1Path,
  echoHttpPath,
  echoStdioPath,
  fixtureCommand,
  hostileStdioPath,
  tasksModernStdioPath,
  tasksV1StdioPath,
  trackerStdioPath,
  watchedNetworkPath,
} from "./fixtures.ts";
export { freePort } from "./free-port.ts";
export { checkGolden, readGolden, syncGolden } from "./golden.ts";
export { hostileArchives } from "./hostile-archives.ts";
export { type DnsServer, startDnsServer } from "./hosts/dns-server.ts";
export {
  addressCases,
  benignHosts,
  caseHost,
  caseHosts,
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
export { ManualTimers } from "./manual-timers.ts";
export { notesServer } from "./notes-server.ts";
export { NpmRegistry } from "./npm-registry.ts";
export {
  browse,
  type IdentityProviderOptions,
  startIdentityProvider,
} from "./oauth/identity-provider.ts";
export { startProtectedServer } from "./oauth/protected-server.ts";
export { type OtlpCollector, startOtlpCollector } from "./otlp-collector.ts";
export {
  canFindProcesses,
  findProcessesByEnvironment,
  isProcessAlive,
} from "./processes.ts";
export { needsSuite, readSuite } from "./public-suites.ts";
export {
  type RawExchange,
  type RawScript,
  rawEvent,
  startRawServer,
} from "./raw-http-server.ts";
export { rawZip } from "./raw-zip.ts";
export {
  type ProcessOutcome,
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
export { fastSample, leftOut, runCount, runsAll, sampled, slowTest } from "./sampled.ts";
export { loadTasksV1 } from "./tasks/load-tasks-v1.ts";
export { serveV1 } from "./tasks/serve-v1.ts";
export { serveModernTasks } from "./tasks/tasks-modern-server.ts";
export { makeTemporaryDirectory, type TemporaryDirectory } from "./temporary-directory.ts";
export {
  clearDefaultRoots,
  createTestAuthority,
  type TestAuthority,
  type TestCertificate,
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
