/**
 * The program of the watchdog, for any POSIX shell. It needs only the shell and
 * `sleep` (and `ps` on systems without `/proc`), so that it stays at about a
 * megabyte and does not depend on anything that the gateway depends on.
 *
 * The shell reads it from standard input instead of an argument, so that process
 * listings stay readable. On descriptor 3 it gets a line `INSTANCE BORN LIMIT`
 * (the id of the gateway, the gateway's start time in clock ticks: older
 * processes cannot belong to it, and the first digits of its resource limit, or
 * `-`), then `+ PID STARTED` and `- PID` for each
 * launch, and `done` from a gateway that has ended every server itself. The end
 * of that descriptor without `done` means that the gateway died.
 *
 * A process belongs to the gateway for the same reasons as in `process-tree.ts`;
 * a change of one needs a change of the other. It never signals any other
 * process, and never runs longer than its work.
 *
 * `read` of a POSIX shell skips NUL bytes, so an environment arrives as few long
 * lines, and the marker, whose random id cannot occur by accident, is searched
 * for within them. The name in `/proc/PID/stat` can contain any character,
 * including a line feed, so fields are counted from the last ") ".
 */
export const watchdogScript = String.raw`
trap '' HUP INT TERM PIPE

# Writes the processes of this machine to $table, as words "pid:parent:session:start:marked:group".
scan_proc() {
  table=' '
  for dir in /proc/[0-9]*; do
    pid=$\{dir#/proc/}
    case $pid in 1 | "$$") continue ;; esac
    stat=
    while IFS= read -r line || [ -n "$line" ]; do stat="$stat $line"; line=; done <"$dir/stat" || continue
    set -- $\{stat##*") "}
    [ $# -ge 20 ] || continue
    case $1 in Z | X | x) continue ;; esac
    [ "$\{20}" -lt "$born" ] && continue
    marked=-
    while IFS= read -r line || [ -n "$line" ]; do
      case $line in *"TOOLCRIB_INSTANCE=$instance"*) marked=+ ;; esac
      line=
    done <"$dir/environ"
    if [ "$marked" = - ] && [ "$limit" != - ]; then
      while IFS= read -r line; do
        case $line in "Max realtime timeout"*" $limit"[0-9][0-9][0-9][0-9][0-9][0-9]" "*) marked=+ ;; esac
      done <"$dir/limits"
    fi
    table="$table$pid:$2:$4:$\{20}:$marked:$3 "
  done
}

# ps does not show sessions on every system; the group, which is a part of a session, takes its place.
scan_ps() {
  table=' '
  listing=$(ps $ps_environment -o pid= -o ppid= -o pgid= -o stat= -o command=)
  while read -r pid parent group state line; do
    case $pid in *[!0-9]* | '' | 1 | "$$") continue ;; esac
    case $state in Z*) continue ;; esac
    marked=-
    case $line in *"TOOLCRIB_INSTANCE=$instance"*) marked=+ ;; esac
    table="$table$pid:$parent:$group:-:$marked:$group "
  done <<END
$listing
END
}

forget_session() {
  kept=' '
  for entry in $sessions; do
    case $entry in "$1":*) ;; *) kept="$kept$entry " ;; esac
  done
  sessions=$kept
}

add_session() {
  # Session 0 contains kernel threads, and processes whose session began outside of this container.
  [ "$1" -gt 1 ] || return
  case $sessions in *" $1:"*) return ;; esac
  leader=-
  case $table in
    *" $1:"*)
      leader=$\{table#*" $1:"}
      leader=$\{leader#*:*:}
      leader=$\{leader%%:*}
      ;;
  esac
  sessions="$sessions$1:$leader "
}

# Splits a word of $table into the positional parameters of the loop.
split='IFS=:; set -- $row; IFS=" "'

# Writes the pids that belong to the gateway to $owned, and those that were not known before to $fresh.
find_owned() {
  "scan_$source"
  # The kernel keeps the number of a session while it has members: an unknown leader means that the number was reused.
  for row in $table; do
    eval "$split"
    case $sessions in
      *" $1:$4 "*) ;;
      *" $1:"*) forget_session "$1" ;;
    esac
  done
  owned=' '
  found=yes
  while [ "$found" = yes ]; do
    found=no
    for row in $table; do
      eval "$split"
      case $owned in *" $1 "*) continue ;; esac
      belongs=$5
      case $owned in *" $2 "*) belongs=+ ;; esac
      case $sessions in *" $3:"*) belongs=+ ;; esac
      case $known in *" $1:$4 "*) belongs=+ ;; esac
      [ "$belongs" = + ] || continue
      found=yes
      owned="$owned$1 "
      add_session "$3"
      case $known in *" $1:$4 "*) ;; *) known="$known$1:$4 " fresh="$fresh $1" ;; esac
    done
  done
}

kill_owned() {
  killed=' '
  for row in $table; do
    eval "$split"
    case $owned in *" $1 "*) ;; *) continue ;; esac
    # The whole group, so that no member has time to fork.
    case $killed in
      *" $6 "*) ;;
      *)
        killed="$killed$6 "
        [ "$6" -gt 1 ] && kill -s KILL -- "-$6"
        ;;
    esac
    kill -s KILL -- "$1"
  done
}

# Sends SIGTERM once to each, SIGKILL after four scans and a second, until three scans in a row find nothing.
reap() {
  known=' '
  rounds=0
  quiet=0
  while [ "$rounds" -lt 100 ] && [ "$quiet" -lt 3 ]; do
    fresh=
    find_owned
    pause=0.1
    if [ "$owned" = ' ' ]; then
      quiet=$((quiet + 1))
    else
      quiet=0
      if [ "$rounds" -ge 4 ]; then
        kill_owned
      else
        for pid in $fresh; do kill -s TERM -- "$pid"; done
        pause=0.$((rounds + 1))
      fi
    fi
    rounds=$((rounds + 1))
    sleep "$pause" || sleep 1
  done
}

watch() {
  IFS=' '
  read -r instance born limit <&3 || exit 0
  case $instance in *[!0-9a-f]*) exit 1 ;; esac
  [ $\{#instance} -eq 32 ] || exit 1
  case $born in *[!0-9]* | '') exit 1 ;; esac
  case $limit in -) ;; *[!0-9]* | '') exit 1 ;; esac
  sessions=' '
  source=proc
  if [ ! -r /proc/self/stat ]; then
    source=ps
    case $(uname) in Darwin) ps_environment=-axEww ;; *) ps_environment=axeww ;; esac
  fi
  echo ready
  exec >/dev/null
  while read -r verb session started <&3; do
    case $verb in
      +) sessions="$sessions$session:$started " ;;
      -) forget_session "$session" ;;
      done) exit 0 ;;
    esac
  done
  reap
  exit 0
}

watch
`.replaceAll("$\\{", "${");
