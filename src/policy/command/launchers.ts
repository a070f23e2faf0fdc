import { HOLE } from "../matching/wildcard.ts";

/** What a program runs beside itself. */
export type Launch =
  | { readonly type: "nothing" }
  /** A program that its arguments name. */
  | {
      readonly type: "program";
      readonly words: readonly string[];
      readonly variables?: readonly string[];
    }
  /** Text for a shell. */
  | { readonly type: "script"; readonly text: string }
  | { readonly type: "anything" };

/**
 * What a program starts by what its arguments say. Programs that run what a file tells them, such as `make` or
 * `python`, are taken for themselves: whoever allows them allows that.
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
      // More arguments come from its input.
      return resolveRestLaunch(args.length === 0 ? [] : [...args, HOLE]);
    case "printf":
      // What comes after the format is only printed. A name of a variable may hold a command in its index.
      return first.startsWith("-v") || first.includes(HOLE) ? ANY_LAUNCH : NO_LAUNCH;
    default:
      return mayLaunchByWords(name, args) ? ANY_LAUNCH : NO_LAUNCH;
  }
}

/** A word that the shell completes may become any word, or several. */
function mayLaunchByWords(name: string, args: readonly string[]): boolean {
  const isHarmless = HARMLESS_WORDS.get(name);
  return isHarmless !== undefined && args.some((word) => word.includes(HOLE) || !isHarmless(word));
}

/** Programs that run something by a word among others, and the words by which they do not. */
const HARMLESS_WORDS: ReadonlyMap<string, (word: string) => boolean> = new Map([
  ...["find", "bfs"].map((name) => [name, isHarmlessFindWord] as const),
  ...["fd", "fdfind"].map((name) => [name, isHarmlessFdWord] as const),
  ...["test", "["].map((name) => [name, isHarmlessTestWord] as const),
  ["jobs", (word) => /^(-[lnprs]+|%[\w+-]*)$/.test(word)],
  ["wait", (word) => /^(-[fn]+|%[\w+-]*|\d+)$/.test(word)],
  // By others, such as -k, words after a program become variables.
  ["set", (word) => /^([-+][aCefnuvx]*o?|errexit|noglob|nounset|pipefail|xtrace)$/.test(word)],
]);

function isHarmlessFindWord(word: string): boolean {
  return !/^-(exec|execdir|ok|okdir)$/.test(word);
}

function isHarmlessFdWord(word: string): boolean {
  return !/^(-[a-zA-Z]*[xX].*|--ex.*)$/.test(word);
}

/** `test -v` reads the index of a name, and some shells do so wherever they want a number. */
function isHarmlessTestWord(word: string): boolean {
  return !/^-[vR]$|.\[/.test(word);
}

/** Without the folders that it lies in. */
export function readProgramName(program: string): string {
  return program.slice(program.lastIndexOf("/") + 1);
}

/** As it is called everywhere. */
export function toBareName(program: string): string {
  return readProgramName(program).replace(/\.exe$/i, "");
}

const NO_LAUNCH: Launch = { type: "nothing" };
const ANY_LAUNCH: Launch = { type: "anything" };

/** They run what their arguments, their options or their input say, or change what the commands after them mean. */
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

/** It runs the program that it is given: `ld-linux-x86-64.so.2`, `ld-musl-x86_64.so.1`. */
const LOADER = /^ld[\w.+-]*\.so(\.\d+)*$/;

/** As they are called beside those of another system. */
const GNU_NAME = /^g(?=(env|find|nice|nohup|printf|stdbuf|test|time|timeout|xargs)$)/;

/** Their texts are read as `sh` reads them. */
const SHELLS = new Set(["sh", "bash", "rbash", "dash", "ash"]);

/** They calculate where others do not, and have words of their own: nobody reads their texts. */
const OTHER_SHELLS = new Set(
  `zsh rzsh ksh mksh rksh ksh93 lksh oksh pdksh posh yash bosh osh hush sash`.split(" "),
);

const BEFORE_A_PROGRAM = new Set(["nohup", "nice", "exec", "time"]);

/** With an option in front it takes more knowledge than we have to find the program. */
function resolveRestLaunch(words: readonly string[]): Launch {
  const [first] = words;
  if (first === undefined) return NO_LAUNCH;
  return /^[-+]/.test(first) || first.includes(HOLE) ? ANY_LAUNCH : { type: "program", words };
}

function resolveEnvLaunch(args: readonly string[]): Launch {
  const start = args.findIndex((word) => !/^[A-Za-z_][A-Za-z0-9_]*=/.test(word));
  const set = start < 0 ? args : args.slice(0, start);
  // A value that the shell completes may go on with a program.
  if (set.some((word) => word.includes(HOLE))) return ANY_LAUNCH;
  if (start < 0) return NO_LAUNCH;
  const rest = resolveRestLaunch(args.slice(start));
  if (rest.type !== "program") return rest;
  return { ...rest, variables: set.map((word) => word.slice(0, word.indexOf("="))) };
}

/** A script file is taken for the shell's own business; text and input are not. */
function resolveShellLaunch(args: readonly string[]): Launch {
  const [first = "", text = ""] = args;
  // Other letters may take the next word for themselves.
  const isText = /^-[efux]*c$/.test(first) && !/^([-+]|$)/.test(text) && !text.includes(HOLE);
  if (isText) return { type: "script", text };
  return isScriptFile(first) ? NO_LAUNCH : ANY_LAUNCH;
}

function isScriptFile(word: string): boolean {
  return !/^([-+]|$)/.test(word) && !word.includes(HOLE) && !INPUT_BY_NAME.test(word);
}

/** Its input has names too: `/dev/stdin`, `/dev/fd/0`, `/proc/self/fd/0`. */
const INPUT_BY_NAME = /^\/[./]*(dev|proc)\/|(^|\/)(stdin|\d+)$/i;
