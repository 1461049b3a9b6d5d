// For other packages here.
export { FetchSandbox } from "./fetch-sandbox.ts";
export { findRegistries } from "./find-registries.ts";
export { lookUpPackage, type PublishedPackage, type WantedPackage } from "./look-up-package.ts";
export { readPackageRun } from "./package-run.ts";
export { PackageStore, type StoredPackage } from "./package-store.ts";
