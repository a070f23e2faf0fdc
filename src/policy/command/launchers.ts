import { HOLE } from "../matching/wildcard.ts";

/** Further programs started by a program. */
export type Launch =
  | { readonly type: "nothing" }
  /** The program named by the arguments. */
  | {
      readonly type: "program";
      readonly words: readonly string[];
      readonly variables?: readonly string[];
    }
  /** A script for a shell. */
  | { readonly type: "script"; readonly text: string }
  | { readonly type: "anything" };

/**
 * Determines which further program the arguments start. A program which reads its instructions from a file, such as
 * `make` or `python`, counts only as itself: a rule which allows the program allows those instructions too.
 */
export function resolveLaunch(program: string, args: readonly string[]): Launch {
  const name = toBareName(program).toLowerCase().replace(GNU_NAME, "");
  const [first = ""] = args;
  if (UNRESTRICTED_LAUNCHERS.has(name) || LOADER.test(name)) return ANY_LAUNCH;
  if (SHELLS.has(name)) return resolveShellLaunch(args);
  if (OTHER_SHELLS.has(name)) return isScriptFile(first) ? NO_LAUNCH : ANY_LAUNCH;
  if (BEFORE_A_PROGRAM.has(name)) return resolveRestLaunch(args);
  switch (name) {
    case "env":
      return resolveEnvLaunch(args);
    case "command":
      return /^-[vV]$/.test(first) ? NO_LAUNCH : resolveRestLaunch(args);
    case "timeout":
      return /^\d+(\.\d+)?[smhd]?$/.test(first) ? resolveRestLaunch(args.slice(1)) : ANY_LAUNCH;
    case "xargs":
      // `xargs` appends more arguments from its input.
      return resolveRestLaunch(args.length === 0 ? [] : [...args, HOLE]);
    case "printf":
      // Arguments after the format are only printed. With `-v`, the index of a variable name may contain a command.
      return first.startsWith("-v") || first.includes(HOLE) ? ANY_LAUNCH : NO_LAUNCH;
    default:
      return mayLaunchByWords(name, args) ? ANY_LAUNCH : NO_LAUNCH;
  }
}

/** A word with a hole may expand to any word, or to several words. */
function mayLaunchByWords(name: string, args: readonly string[]): boolean {
  const isHarmless = HARMLESS_WORDS.get(name);
  return isHarmless !== undefined && args.some((word) => word.includes(HOLE) || !isHarmless(word));
}

/** Programs which run another program only for certain words, each with a check for harmless words. */
const HARMLESS_WORDS: ReadonlyMap<string, (word: string) => boolean> = new Map([
  ...["find", "bfs"].map((name) => [name, isHarmlessFindWord] as const),
  ...["fd", "fdfind"].map((name) => [name, isHarmlessFdWord] as const),
  ...["test", "["].map((name) => [name, isHarmlessTestWord] as const),
  ["jobs", (word) => /^(-[lnprs]+|%[\w+-]*)$/.test(word)],
  ["wait", (word) => /^(-[fn]+|%[\w+-]*|\d+)$/.test(word)],
  // Other options, such as `-k`, turn words after a program into variables.
  ["set", (word) => /^([-+][aCefnuvx]*o?|errexit|noglob|nounset|pipefail|xtrace)$/.test(word)],
]);

function isHarmlessFindWord(word: string): boolean {
  return !/^-(exec|execdir|ok|okdir)$/.test(word);
}

function isHarmlessFdWord(word: string): boolean {
  return !/^(-[a-zA-Z]*[xX].*|--ex.*)$/.test(word);
}

/** `test -v` evaluates the index of a name, and some shells do so wherever a number is expected. */
function isHarmlessTestWord(word: string): boolean {
  return !/^-[vR]$|.\[/.test(word);
}

/** The file name of a program, without its folders. */
export function readProgramName(program: string): string {
  return program.slice(program.lastIndexOf("/") + 1);
}

/** The program name without folders and without `.exe`. */
export function toBareName(program: string): string {
  return readProgramName(program).replace(/\.exe$/i, "");
}

const NO_LAUNCH: Launch = { type: "nothing" };
const ANY_LAUNCH: Launch = { type: "anything" };

/**
 * Programs which run commands from their arguments, options or input, or which change the meaning of later commands.
 */
const UNRESTRICTED_LAUNCHERS = new Set(
  `sudo doas su runuser pkexec sg newgrp gosu su-exec setpriv capsh runcon chroot unshare nsenter firejail bwrap proot
  fakeroot fakechroot setarch linux32 linux64 i386 i486 i586 i686 x86_64 uname26
  setsid stdbuf ionice chrt taskset numactl prlimit cpulimit flock cgexec systemd-run systemd-inhibit start-stop-daemon
  daemonize chpst softlimit setuidgid envuidgid envdir setlock s6-setuidgid tini dumb-init catatonit
  ssh ssh-agent dbus-run-session dbus-launch xvfb-run torify torsocks proxychains proxychains4
  parallel watch entr script expect unbuffer rlwrap screen tmux dtach abduco at batch crontab
  strace ltrace gdb lldb valgrind perf catchsegv heaptrack eatmydata faketime chronic ifne pee ccache distcc
  busybox toybox cmd pwsh powershell fish csh tcsh nu xonsh elvish rc es
  eval source . trap alias unalias hash builtin enable bind complete compgen shopt read mapfile readarray let declare
  typeset local readonly export unset getopts fc
  noglob nocorrect repeat emulate autoload zmodload setopt unsetopt functions integer float sched vared`.split(
    /\s+/,
  ),
);

/** The dynamic loader runs the program passed to it: `ld-linux-x86-64.so.2`, `ld-musl-x86_64.so.1`. */
const LOADER = /^ld[\w.+-]*\.so(\.\d+)*$/;

/** GNU tools have a `g` prefix when installed next to another system's tools. */
const GNU_NAME = /^g(?=(env|find|nice|nohup|printf|stdbuf|test|time|timeout|xargs)$)/;

/** Shells whose scripts are parsed with the grammar of `sh`. */
const SHELLS = new Set(["sh", "bash", "rbash", "dash", "ash"]);

/** Shells with a different grammar, such as arithmetic in other places. Their scripts are not analyzed. */
const OTHER_SHELLS = new Set(
  `zsh rzsh ksh mksh rksh ksh93 lksh oksh pdksh posh yash bosh osh hush sash`.split(" "),
);

const BEFORE_A_PROGRAM = new Set(["nohup", "nice", "exec", "time"]);

/** An option before the program would require knowledge of the launcher's options to find the program. */
function resolveRestLaunch(words: readonly string[]): Launch {
  const [first] = words;
  if (first === undefined) return NO_LAUNCH;
  return /^[-+]/.test(first) || first.includes(HOLE) ? ANY_LAUNCH : { type: "program", words };
}

function resolveEnvLaunch(args: readonly string[]): Launch {
  const start = args.findIndex((word) => !/^[A-Za-z_][A-Za-z0-9_]*=/.test(word));
  const set = start < 0 ? args : args.slice(0, start);
  // An expanded value may continue with a program.
  if (set.some((word) => word.includes(HOLE))) return ANY_LAUNCH;
  if (start < 0) return NO_LAUNCH;
  const rest = resolveRestLaunch(args.slice(start));
  if (rest.type !== "program") return rest;
  return { ...rest, variables: set.map((word) => word.slice(0, word.indexOf("="))) };
}

/**
 * A script file is accepted as the shell's own input; a script in an argument is analyzed, and standard input is
 * unknown.
 */
function resolveShellLaunch(args: readonly string[]): Launch {
  const [first = "", text = ""] = args;
  // Other option letters may take the next word as their value.
  const isText = /^-[efux]*c$/.test(first) && !/^([-+]|$)/.test(text) && !text.includes(HOLE);
  if (isText) return { type: "script", text };
  return isScriptFile(first) ? NO_LAUNCH : ANY_LAUNCH;
}

function isScriptFile(word: string): boolean {
  return !/^([-+]|$)/.test(word) && !word.includes(HOLE) && !INPUT_BY_NAME.test(word);
}

/** Standard input also has file names: `/dev/stdin`, `/dev/fd/0`, `/proc/self/fd/0`. */
const INPUT_BY_NAME = /^\/[./]*(dev|proc)\/|(^|\/)(stdin|\d+)$/i;
