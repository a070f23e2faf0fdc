import { HOLE } from "../wildcard.ts";

/** What a program runs beside itself. */
export type Launch =
  | { readonly type: "nothing" }
  /** A program that its arguments name. */
  | {
      readonly type: "program";
      readonly words: readonly string[];
      readonly sets?: readonly string[];
    }
  /** Text for a shell. */
  | { readonly type: "script"; readonly text: string }
  | { readonly type: "anything" };

/**
 * What a program starts by what its arguments say. Programs that run what a file tells them, such as `make` or
 * `python`, are taken for themselves: whoever allows them allows that.
 */
export function launchOf(program: string, args: readonly string[]): Launch {
  const name = nameOfProgram(program)
    .toLowerCase()
    .replace(/\.exe$/, "");
  const [first = ""] = args;
  if (ANYTHING.has(name)) return { type: "anything" };
  if (SHELLS.has(name)) return launchOfShell(args);
  if (BEFORE_A_PROGRAM.has(name)) return launchOfRest(args);
  switch (name) {
    case "env":
      return launchOfEnv(args);
    case "command":
      return /^-[vV]$/.test(first) ? NOTHING : launchOfRest(args);
    case "timeout":
      return /^\d+(\.\d+)?[smhd]?$/.test(first) ? launchOfRest(args.slice(1)) : ANY;
    case "xargs":
      // More arguments come from its input.
      return launchOfRest(args.length === 0 ? [] : [...args, HOLE]);
    case "find":
      return args.some((word) => word.startsWith(HOLE) || FIND_RUNS.test(word)) ? ANY : NOTHING;
    case "fd":
    case "fdfind":
      return args.some((word) => word.startsWith(HOLE) || FD_RUNS.test(word)) ? ANY : NOTHING;
    case "set":
      return args.every((word) => /^([-+][A-Za-z]+|pipefail)$/.test(word)) ? NOTHING : ANY;
    case "printf":
      // A name of a variable may hold a command in its index, here and for `test -v`.
      return first === "-v" || first.startsWith(HOLE) ? ANY : NOTHING;
    case "test":
    case "[":
      return args.includes("-v") ? ANY : NOTHING;
    default:
      return NOTHING;
  }
}

/** Without the folders that it lies in. */
export function nameOfProgram(program: string): string {
  return program.slice(program.lastIndexOf("/") + 1);
}

const NOTHING: Launch = { type: "nothing" };
const ANY: Launch = { type: "anything" };

/** They run what their arguments, their options or their input say, or change what the commands after them mean. */
const ANYTHING = new Set(
  `sudo doas su runuser pkexec ssh parallel watch setsid stdbuf ionice chrt taskset chroot unshare nsenter flock
  script expect strace ltrace gdb systemd-run at batch crontab busybox toybox cmd pwsh powershell fish csh tcsh
  nu xonsh elvish rc es
  eval source . trap alias unalias hash builtin enable bind complete compgen shopt read mapfile readarray let declare
  typeset local readonly export unset getopts fc`.split(/\s+/),
);

const SHELLS = new Set(
  `sh bash dash ash zsh ksh mksh rbash rksh rzsh ksh93 lksh oksh pdksh posh yash bosh osh hush sash`.split(
    " ",
  ),
);

const BEFORE_A_PROGRAM = new Set(["nohup", "nice", "exec", "time"]);

const FIND_RUNS = /^-(exec|execdir|ok|okdir)$/;
const FD_RUNS = /^(-[a-zA-Z]*[xX].*|--exec.*)$/;

/** With an option in front it takes more knowledge than we have to find the program. */
function launchOfRest(words: readonly string[]): Launch {
  const [first] = words;
  if (first === undefined) return NOTHING;
  return /^[-+]/.test(first) || first.includes(HOLE) ? ANY : { type: "program", words };
}

function launchOfEnv(args: readonly string[]): Launch {
  const start = args.findIndex((word) => !/^[A-Za-z_][A-Za-z0-9_]*=/.test(word));
  if (start < 0) return NOTHING;
  const rest = launchOfRest(args.slice(start));
  if (rest.type !== "program") return rest;
  return { ...rest, sets: args.slice(0, start).map((word) => word.slice(0, word.indexOf("="))) };
}

/** A script file is taken for the shell's own business; text and input are not. */
function launchOfShell(args: readonly string[]): Launch {
  const [first = "", text = ""] = args;
  // Other letters may take the next word for themselves.
  const isText = /^-[efux]*c$/.test(first) && !/^([-+]|$)/.test(text) && !text.includes(HOLE);
  if (isText) return { type: "script", text };
  return /^([-+]|$)/.test(first) || first.includes(HOLE) ? ANY : NOTHING;
}
