import { Command, CommanderError } from "commander";
import type { CommandIo } from "../platform/process/command-io.ts";
import { readPackageVersion } from "../platform/package-version.ts";
import { addAcpCommand } from "./acp/acp-command.ts";
import type { AddCommand } from "./commands.ts";
import type { ExecuteCommand } from "./shared/execute-command.ts";

/** Exit codes: 0 done, 1 something failed, 2 the input or the command line cannot be used, 130 interrupted. */
export async function runCommandLine(io: CommandIo): Promise<number> {
  const { argv, stdout, stderr } = io;
  let exitCode = 0;
  const spanline = new Command("spanline")
    .description("The bridge between managed agents and the places where people use them")
    .version(readPackageVersion(), "-V, --version", "print the version")
    .helpOption("-h, --help", "show help")
    .showHelpAfterError("(add --help to see what there is)")
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      writeErr: (text) => void stderr.write(text),
      getOutHelpWidth: () => stdout.columns ?? DEFAULT_WIDTH,
      getErrHelpWidth: () => stderr.columns ?? DEFAULT_WIDTH,
      outputError: (text, write) => write(removeFarGuess(text)),
    })
    .exitOverride();

  const execute: ExecuteCommand = async (run) => void (exitCode = await run(io));
  for (const add of await loadCommands(argv[1])) add(spanline, execute);

  // Whoever reads the help may leave before its end; commands look after themselves.
  for (const stream of [stdout, stderr]) stream.on("error", () => {});
  try {
    await spanline.parseAsync(moveHelpLast(argv.slice(1)), { from: "user" });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    throw error;
  }
}

/** Commander's own width where there is no terminal. */
const DEFAULT_WIDTH = 80;

/** The library guesses commands that have little in common with what was typed. */
function removeFarGuess(text: string): string {
  return text.replace(
    /(unknown command '(.)[^']*')\n\(Did you mean (?!\2)[^)]*\)/,
    (_, unknown: string) => unknown,
  );
}

/** All of them take a while to load and to set up, which an editor would wait for: only the one that is named is. */
async function loadCommands(name: string | undefined): Promise<readonly AddCommand[]> {
  if (name === "acp") return [addAcpCommand];
  const { COMMANDS } = await import("./commands.ts");
  const named = COMMANDS.get(name ?? "");
  return named === undefined ? [...COMMANDS.values()] : [named];
}

/** `help policy check` as `policy check --help`: what the library makes of it looks no deeper than one command. */
function moveHelpLast(args: readonly string[]): string[] {
  const [first, ...names] = args;
  const isPath = names.length > 1 && names.every((name) => /^[a-z]/.test(name));
  return first === "help" && isPath ? [...names, "--help"] : [...args];
}
