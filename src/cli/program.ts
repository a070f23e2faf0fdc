import { Command, CommanderError } from "commander";
import { packageVersion } from "../platform/package-version.ts";
import { addAcp } from "./acp-options.ts";
import { addChat } from "./chat-options.ts";
import { addEmulate } from "./emulate-options.ts";
import { addHarness } from "./harness-options.ts";
import { addInfer } from "./infer-options.ts";
import { addInspect } from "./inspect-options.ts";
import { addInvoke } from "./invoke-options.ts";
import { addKeys } from "./keys-options.ts";
import { addPolicy } from "./policy-options.ts";
import { addRun } from "./run-options.ts";
import { addServe } from "./serve-options.ts";
import { addSessions } from "./sessions-options.ts";
import { addTestAgent } from "./test-agent-options.ts";
import { addTrust } from "./trust-options.ts";
import { addUp } from "./up-options.ts";

/** Exit codes: 0 done, 1 something failed, 2 the input or the command line cannot be used, 130 interrupted. */
export async function program(argv: readonly string[]): Promise<number> {
  let exitCode = 0;
  const spanline = new Command("spanline")
    .description("The bridge between managed agents and the places where people use them")
    .version(packageVersion(), "-V, --version", "print the version")
    .helpOption("-h, --help", "show help")
    .showHelpAfterError("(add --help to see what there is)")
    .exitOverride();

  const done = (code: number): void => void (exitCode = code);
  // All of them take 8 ms to set up, which an editor would wait for.
  const named = COMMANDS.find(([name]) => name === argv[2]);
  for (const [, add] of named === undefined ? COMMANDS : [named]) add(spanline, done);

  // Whoever reads the help may leave before its end; commands look after themselves.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
  try {
    await spanline.parseAsync(withHelpLast(argv));
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    throw error;
  }
}

type AddCommand = (spanline: Command, done: (exitCode: number) => void) => void;

/** In the order of the help. */
const COMMANDS: readonly (readonly [name: string, add: AddCommand])[] = [
  ["up", addUp],
  ["serve", addServe],
  ["acp", addAcp],
  ["chat", addChat],
  ["run", addRun],
  ["test", addTestAgent],
  ["infer", addInfer],
  ["sessions", addSessions],
  ["policy", addPolicy],
  ["trust", addTrust],
  ["keys", addKeys],
  ["inspect", addInspect],
  ["invoke", addInvoke],
  ["emulate", addEmulate],
  ["harness", addHarness],
];

/** `help policy check` as `policy check --help`: what the library makes of it looks no deeper than one command. */
function withHelpLast(argv: readonly string[]): string[] {
  const [node = "", program = "", first, ...names] = argv;
  const isPath = names.length > 1 && names.every((name) => /^[a-z]/.test(name));
  return first === "help" && isPath ? [node, program, ...names, "--help"] : [...argv];
}
