/**
 * The filter of system calls of a contained program: allowed is what is not
 * refused. A call of another architecture or of the x32 interface, whose numbers
 * mean something else, and a call that is newer than the table do not exist for it.
 */

import { assembleBpf, type BpfItem, bpf } from "./bpf.ts";
import { type ArgumentCheck, lastKnownCall, type RefusedCall, refusedCalls } from "./refused-calls.ts";

/** The architectures with a filter, as Node names them. */
export type SeccompArchitecture = "x64" | "arm64";

/** AUDIT_ARCH_* of linux/audit.h. */
const auditNumbers = { x64: 0xc000_003e, arm64: 0xc000_00b7 } as const;

/** Offsets in struct seccomp_data. */
const offsets = { number: 0, architecture: 4, arguments: 16 } as const;

/** SECCOMP_RET_ALLOW, and SECCOMP_RET_ERRNO without its number. */
const allow = 0x7fff_0000;
const fail = 0x0005_0000;

const noSuchCall = 38;

/** Returns the architecture of this process; undefined where there is no filter for it. */
export function seccompArchitecture(): SeccompArchitecture | undefined {
  return process.arch === "x64" || process.arch === "arm64" ? process.arch : undefined;
}

/** Returns the bytes of the filter, as `bwrap --seccomp` reads them. */
export function assembleSeccompProgram(architecture: SeccompArchitecture): Uint8Array {
  const called = refusedCalls.flatMap((call) => {
    const number = call[architecture];
    return number === undefined ? [] : [{ call, number }];
  });
  const refusals = called.flatMap(({ call, number }) =>
    typeof call.rule === "number" ? [bpf.ifEqual(number, errorLabel(call.rule))] : [],
  );
  const checked = called.flatMap(({ call, number }) => checkOf(call, number));
  const numbers = new Set(
    called.flatMap(({ call: { rule } }) =>
      typeof rule === "number" ? [rule] : rule.map((check) => check.error),
    ),
  );
  return assembleBpf([
    bpf.load(offsets.architecture),
    bpf.ifEqual(auditNumbers[architecture], undefined, errorLabel(noSuchCall)),
    bpf.load(offsets.number),
    // Includes the calls of x32, whose numbers have bit 30.
    bpf.ifGreater(lastKnownCall, errorLabel(noSuchCall)),
    ...refusals,
    ...checked,
    { label: "allow" },
    bpf.return(allow),
    ...[...numbers].flatMap((number) => [{ label: errorLabel(number) }, bpf.return(fail + number)]),
  ]);
}

/** The checks of a call's arguments; they end in a decision, so the accumulator need not hold the number again. */
function checkOf({ name, rule }: RefusedCall, number: number): readonly BpfItem[] {
  if (typeof rule === "number") return [];
  const end = `after ${name}`;
  return [
    bpf.ifEqual(number, undefined, end),
    ...rule.flatMap((check, index) => argumentCheck(check, `${name} ${index}`)),
    bpf.return(allow),
    { label: end },
  ];
}

function argumentCheck(check: ArgumentCheck, name: string): readonly BpfItem[] {
  const { argument, refused, values, error, when } = check;
  const passed = `${name} passed`;
  const items: BpfItem[] = [];
  if (when !== undefined) {
    items.push(
      bpf.load(argumentOffset(when.argument)),
      "value" in when
        ? bpf.ifEqual(when.value, undefined, passed)
        : bpf.ifAnyBit(when.anyBit, undefined, passed),
    );
  }
  items.push(bpf.load(argumentOffset(argument)));
  for (const value of values) {
    if (refused === "noneOf") items.push(bpf.ifEqual(value, passed));
    else if (refused === "oneOf") items.push(bpf.ifEqual(value, errorLabel(error)));
    else items.push(bpf.ifAnyBit(value, errorLabel(error)));
  }
  if (refused === "noneOf") items.push(bpf.return(fail + error));
  return [...items, { label: passed }];
}

/** The low half of an argument; both architectures store it first. */
function argumentOffset(argument: number): number {
  return offsets.arguments + 8 * argument;
}

function errorLabel(error: number): string {
  return `error ${error}`;
}
