import { CodedError } from "@toolcrib/diagnostics";
import type { DiscoveryCode } from "./codes.ts";

/** A meta-tool cannot do what it was asked to do. */
export class DiscoveryError extends CodedError<DiscoveryCode> {}
