import { Command, CommanderError } from "commander";
import type { CommandIo } from "../platform/process/command-io.ts";
import { formatUnknownName } from "../text/unknown-name.ts";
import { readPackageVersion } from "../platform/package-version.ts";
import { addAcpCommand } from "./acp/acp-command.ts";
import type { AddCommand } from "./commands.ts";
import type { ExecuteCommand } from "./shared/execute-command.ts";

/** Runs the command line. Exit codes: 0 success, 1 failure, 2 invalid input or command line, 130 interrupted. */
export async function runCommandLine(io: CommandIo): Promise<number> {
  const { argv, stdout, stderr } = io;
  let exitCode = 0;
  const spanline = new Command("spanline")
    .description("Connects managed agents to editors, browsers, terminals and HTTP clients")
    .version(readPackageVersion(), "-V, --version", "print the version")
    .helpOption("-h, --help", "show help")
    .showHelpAfterError("(add --help for the available commands and options)")
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      writeErr: (text) => void stderr.write(text),
      getOutHelpWidth: () => stdout.columns ?? DEFAULT_WIDTH,
      getErrHelpWidth: () => stderr.columns ?? DEFAULT_WIDTH,
      outputError: (text, write) => write(rewordUnknownName(text, spanline, argv.slice(1))),
    })
    .exitOverride();

  const execute: ExecuteCommand = async (run) => void (exitCode = await run(io));
  for (const add of await loadCommands(argv[1])) add(spanline, execute);

  // The reader of the help may close the pipe early. Commands handle write errors themselves.
  for (const stream of [stdout, stderr]) stream.on("error", () => {});
  try {
    await spanline.parseAsync(moveHelpLast(argv.slice(1)), { from: "user" });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    throw error;
  }
}

/** Commander's default width without a terminal. */
const DEFAULT_WIDTH = 80;

/** Replaces Commander's messages for an unknown command or option by the standard wording. */
function rewordUnknownName(text: string, program: Command, args: readonly string[]): string {
  const [whole, kind, name = ""] = UNKNOWN_NAME.exec(text) ?? [];
  if (whole === undefined) return text;
  const command = findCommand(program, args);
  const help = command.createHelp();
  // The list of options would be long, and the next line refers to --help.
  const message =
    kind === "command"
      ? formatUnknownName("Command", name, {
          names: help.visibleCommands(command).map((known) => known.name()),
        })
      : formatUnknownName("Option", name, {
          names: help.visibleOptions(command).flatMap(({ long }) => long ?? []),
          isListed: false,
        });
  return `error: ${message}\n${text.slice(whole.length)}`;
}

const UNKNOWN_NAME = /^error: unknown (command|option) '(.*)'\n(?:\(Did you mean [^)]*\)\n)?/s;

/** Finds the innermost command that the arguments name. */
function findCommand(program: Command, args: readonly string[]): Command {
  let command = program;
  for (const arg of args) {
    command = command.commands.find((known) => known.name() === arg) ?? command;
  }
  return command;
}

/** Loads only the requested command: loading all of them takes time, and editors wait for `acp` to start. */
async function loadCommands(name: string | undefined): Promise<readonly AddCommand[]> {
  if (name === "acp") return [addAcpCommand];
  const { COMMANDS } = await import("./commands.ts");
  const named = COMMANDS.get(name ?? "");
  return named === undefined ? [...COMMANDS.values()] : [named];
}

/** Rewrites `help policy check` as `policy check --help`, because Commander's `help` ignores names after the first. */
function moveHelpLast(args: readonly string[]): string[] {
  const [first, ...names] = args;
  const isPath = names.length > 1 && names.every((name) => /^[a-z]/.test(name));
  return first === "help" && isPath ? [...names, "--help"] : [...args];
}
