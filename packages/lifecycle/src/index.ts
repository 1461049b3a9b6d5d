// For users.
export { abortable, whenAborted } from "./abortable.ts";
export { disposeOnce } from "./dispose-once.ts";
export { FairQueue } from "./fair-queue.ts";
export { FairShare, type ShareRefusal } from "./fair-share.ts";
export { InFlight } from "./in-flight.ts";
export { ListenerSet } from "./listener-set.ts";
export { LiveValues } from "./live-values.ts";
export type { StartTimer } from "./start-timer.ts";
