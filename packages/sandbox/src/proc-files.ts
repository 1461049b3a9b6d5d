/** Files of the kernel below /proc that a sandbox covers. Data. */

/** Nothing of these may be written. */
export const readOnlyProc = ["sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi"];

/** Nothing of these may be read. */
export const maskedProc = [
  "kcore",
  "keys",
  "key-users",
  "latency_stats",
  "timer_list",
  "sched_debug",
  "kmsg",
  "kallsyms",
];
