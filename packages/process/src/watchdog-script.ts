/**
 * The program of the watchdog, for any POSIX shell. It uses nothing but the
 * shell itself and `sleep` (and `ps` where there is no `/proc`), so it stays at
 * about a megabyte and depends on nothing that the gateway depends on.
 *
 * It is read from standard input, not passed as an argument, so that process
 * listings stay readable. On descriptor 3 it gets a line `INSTANCE BORN` (the
 * gateway's id, and the gateway's own start in clock ticks: what is older can
 * not be ours), then `+ PID STARTED` and `- PID` for each launch, and
 * `done` from a gateway that has ended every server itself. The end of that
 * descriptor without `done` is the gateway's death.
 *
 * A process is ours on the same grounds as in `process-tree.ts`; the two are
 * kept alike. It never signals anything else, and never outlives its work.
 *
 * Notes for readers: `read` of a POSIX shell skips NUL bytes, so an environment
 * arrives as few long lines, and the marker, whose random id can not occur by
 * chance, is looked for within them. The name in `/proc/PID/stat` may contain
 * anything, a line feed included, so fields count from the last ") ".
 */
export const watchdogScript = String.raw`
trap '' HUP INT TERM PIPE

# The processes of this machine as words "pid:parent:session:start:marked:group", into $table.
look_proc() {
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
    table="$table$pid:$2:$4:$\{20}:$marked:$3 "
  done
}

# ps knows no sessions everywhere; a group, which is part of one, stands in.
look_ps() {
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
  # Session 0 is that of kernel threads, and of what began outside this container.
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

# Split a word of $table into the positional parameters of the caller's loop.
split='IFS=:; set -- $row; IFS=" "'

# What is ours into $owned, by pid; what was not known before, into $fresh.
find_owned() {
  "look_$source"
  # The kernel keeps a session's number while it has members: a leader that we do not know means that it was given anew.
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
      mine=$5
      case $owned in *" $2 "*) mine=+ ;; esac
      case $sessions in *" $3:"*) mine=+ ;; esac
      case $known in *" $1:$4 "*) mine=+ ;; esac
      [ "$mine" = + ] || continue
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
    # A group at once: no member can fork past that.
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

# SIGTERM once to each, SIGKILL after four looks and a second, until three looks in a row show nothing.
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
  read -r instance born <&3 || exit 0
  case $instance in *[!0-9a-f]*) exit 1 ;; esac
  [ $\{#instance} -eq 32 ] || exit 1
  case $born in *[!0-9]* | '') exit 1 ;; esac
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
