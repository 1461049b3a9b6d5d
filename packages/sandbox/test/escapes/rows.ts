/**
 * The table of what each tier blocks, as data: a line for people, the probes that try
 * it, and what each tier does. The tests compare it with what the probes do in every
 * tier of this machine, and the page Containment has exactly this table.
 */

import type { TierId } from "../sandbox-harness.ts";

/**
 * `group`: blocked where a control group can be created; `root-group`: the same, and for an ordinary user everywhere.
 * `depends`: open, unless the settings of a kernel refuse it.
 */
export type RowState = "blocked" | "open" | "depends" | "group" | "root-group";

/** One line of the table. */
export interface Row {
  readonly what: string;
  readonly probes: readonly string[];
  readonly tiers: { readonly [tier in TierId]: RowState };
}

const everywhere = { bubblewrap: "blocked", unshare: "blocked" } as const;
const byFilter = { bubblewrap: "blocked", unshare: "open" } as const;
const byFilterOrKernel = { bubblewrap: "blocked", unshare: "depends" } as const;

/** The table. Every probe is in one line. */
export const rows: readonly Row[] = [
  {
    what: "reading files of the machine that are not shown: by path, by `..`, by links, through other processes",
    probes: [
      ...["read_a_file_outside", "read_by_dots", "read_through_a_link", "read_through_a_hard_link"],
      ...[
        "read_through_the_root_of_a_process",
        "read_through_the_folder_of_a_process",
        "watch_a_folder_outside",
      ],
    ],
    tiers: everywhere,
  },
  {
    what: "reading the home, keys, accounts, the home of Toolcrib, and the state of other servers",
    probes: [
      ...["read_a_file_of_the_home", "read_keys_of_the_home", "list_the_home", "read_the_accounts"],
      ...[
        "read_the_state_of_another_server",
        "read_the_home_of_the_gateway",
        "read_the_environment_of_the_gateway",
      ],
    ],
    tiers: everywhere,
  },
  {
    what: "writing and renaming what is shown, the system, and settings of the kernel",
    probes: [
      ...["write_a_file_outside", "change_a_file_outside", "change_a_file_that_is_shown"],
      ...["create_a_file_in_a_folder_that_is_shown", "change_the_mode_of_a_file_that_is_shown"],
      ...[
        "rename_a_file_that_is_shown",
        "change_the_system",
        "add_to_the_system",
        "change_settings_of_the_kernel",
      ],
      ...["ask_the_kernel_to_crash", "protect_itself_from_the_lack_of_memory"],
    ],
    tiers: everywhere,
  },
  {
    what: "disks, devices, `/sys`, `/run`, control groups, the log and the symbols of the kernel",
    probes: [
      ...["read_a_disk", "make_a_device", "see_devices_of_the_machine", "see_groups_of_control"],
      ...["see_services_of_the_machine", "read_the_log_of_the_kernel", "read_symbols_of_the_kernel"],
      "read_keys_of_the_kernel",
    ],
    tiers: everywhere,
  },
  {
    what: "opening a file by a handle of the kernel",
    probes: ["open_a_file_by_its_handle"],
    tiers: everywhere,
  },
  {
    what: "learning the handle of a file that is shown",
    probes: ["learn_the_handle_of_a_file"],
    tiers: byFilterOrKernel,
  },
  {
    what: "network, with `network_egress: deny`: the loopback of the machine, other machines, the metadata of a cloud, DNS, packets",
    probes: [
      ...["reach_a_server_of_the_machine", "reach_a_server_over_another_loopback_address"],
      ...["reach_a_server_over_ipv6", "reach_a_server_over_udp", "reach_a_public_address"],
      ...["reach_a_private_address", "reach_the_metadata_of_a_cloud", "tunnel_through_dns", "read_packets"],
      ...["make_packets", "see_the_interfaces_of_the_machine"],
    ],
    tiers: everywhere,
  },
  {
    what: "Unix sockets of the machine, abstract ones with `network_egress: deny` or `scoped`",
    probes: ["reach_a_socket_of_the_machine", "reach_an_abstract_socket"],
    tiers: everywhere,
  },
  {
    what: "sockets to the host of a virtual machine (vsock) and to the audit of the kernel",
    probes: ["talk_to_the_host_of_a_virtual_machine", "talk_to_the_audit_of_the_kernel"],
    tiers: byFilterOrKernel,
  },
  {
    what: "seeing, signalling, tracing, slowing and limiting processes of others",
    probes: [
      ...["see_a_process_of_the_machine", "signal_a_process_of_the_machine", "signal_a_group_of_the_machine"],
      ...[
        "trace_a_process_of_the_machine",
        "read_the_variables_of_a_process",
        "hold_a_process_of_the_machine",
      ],
      ...["slow_a_process_of_the_machine", "bind_a_process_of_the_machine_to_a_processor"],
      "limit_a_process_of_the_machine",
    ],
    tiers: everywhere,
  },
  {
    what: "tracing a process of its own (`ptrace`)",
    probes: ["trace_a_process_of_its_own"],
    tiers: byFilter,
  },
  {
    what: "reading the memory of a process of its own (`process_vm_readv`)",
    probes: ["read_the_memory_of_a_process"],
    tiers: byFilterOrKernel,
  },
  {
    what: "shared memory, queues and semaphores of the machine",
    probes: [
      ...[
        "read_shared_memory_of_the_machine",
        "read_a_segment_of_the_machine",
        "read_a_queue_of_the_machine",
      ],
      "use_a_semaphore_of_the_machine",
    ],
    tiers: everywhere,
  },
  {
    what: "keys of the kernel: adding one (`add_key`)",
    probes: ["use_keys_of_the_kernel"],
    tiers: byFilter,
  },
  {
    what: "old behavior of programs (`personality`)",
    probes: ["behave_like_an_old_program"],
    tiers: byFilter,
  },
  {
    what: "`keyctl`, `io_uring`, `userfaultfd`, `perf_event_open`",
    probes: [
      ...["ask_for_the_keys_of_the_user", "make_rings_of_the_kernel", "handle_faults_of_pages"],
      "count_events_of_the_processor",
    ],
    tiers: byFilterOrKernel,
  },
  {
    what: "programs for the kernel (`bpf`), namespaces, mounts, another root",
    probes: [
      ...["load_a_program_into_the_kernel", "create_a_user_namespace", "create_a_user_namespace_by_cloning"],
      ...[
        "create_a_mount_namespace",
        "enter_a_namespace_of_the_machine",
        "mount_memory",
        "mount_the_new_way",
      ],
      ...["copy_a_tree_of_mounts", "make_a_mount_writable_again", "change_the_root"],
    ],
    tiers: everywhere,
  },
  {
    what: "set-user-id programs, other user ids and groups, owners of files",
    probes: [
      ...[
        "run_with_the_rights_of_a_file",
        "become_another_user",
        "change_its_groups",
        "own_a_file_as_another_user",
      ],
    ],
    tiers: everywhere,
  },
  {
    what: "leaving a set-user-id program in a folder that it may write",
    probes: [
      ...["make_a_file_run_as_its_owner", "create_a_file_that_runs_as_its_owner", "make_such_a_file_by_node"],
      ...["make_a_file_run_as_its_group", "make_an_open_file_run_as_its_owner"],
    ],
    tiers: byFilter,
  },
  {
    what: "the host name, `fanotify`, accounting, real-time and higher priority",
    probes: [
      ...["rename_the_machine", "watch_every_file", "stop_the_accounting", "run_before_all_others"],
      "become_more_urgent",
    ],
    tiers: everywhere,
  },
  {
    what: "more private memory and larger files than its limits",
    probes: ["allocate_five_gigabytes", "write_a_file_of_five_gigabytes"],
    tiers: everywhere,
  },
  {
    what: "a thousand processes",
    probes: ["start_a_thousand_processes"],
    tiers: { bubblewrap: "root-group", unshare: "root-group" },
  },
  {
    what: "more shared memory than its limit",
    probes: ["fill_two_gigabytes_to_share"],
    tiers: { bubblewrap: "group", unshare: "group" },
  },
  {
    what: "file descriptors that the gateway itself inherited and does not close on exec",
    probes: ["read_a_descriptor_that_it_inherited"],
    tiers: { bubblewrap: "open", unshare: "open" },
  },
];

/** Probes of the network of the machine, which `network_egress: allow` opens in every tier. */
export const openWithNetwork = [
  "reach_a_server_of_the_machine",
  "reach_a_server_over_udp",
  "reach_an_abstract_socket",
];

/** Words of the page for each state. */
const words: { readonly [state in RowState]: string } = {
  blocked: "blocked",
  open: "**not blocked**",
  depends: "**not blocked**, unless the kernel refuses it to ordinary users",
  group: "blocked by a control group; **not blocked** without one",
  "root-group": "blocked; for user id 0 only by a control group",
};

/** The table of the page. */
export function rowsTable(): string {
  const lines = rows.map(
    ({ what, tiers }) => `| ${what} | ${words[tiers.bubblewrap]} | ${words[tiers.unshare]} |`,
  );
  return ["| attempt | `bubblewrap` | `unshare` |", "|---|---|---|", ...lines].join("\n");
}
