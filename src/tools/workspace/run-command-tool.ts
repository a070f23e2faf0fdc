import { pluralize } from "../../text/pluralize.ts";
import type { JsonObject } from "../../data/json.ts";
import { createToolOutput, type ToolOutput } from "../../domain/tools/tool-output.ts";
import { type ShellList, chooseShell } from "../../domain/tools/shell.ts";
import type { SpawnedProcess, Tool } from "../tool.ts";
import { readListArgument, readNumberArgument, readStringArgument } from "./tool-arguments.ts";
import { runInTerminal, type TerminalProgram } from "./editor/editor-terminal.ts";
import { createRefusal } from "./tool-refusal.ts";
import { createBubblewrapArguments } from "./sandbox/bubblewrap-arguments.ts";
import { findHiddenPaths } from "./sandbox/hidden-paths.ts";
import type { Sandbox } from "./sandbox/find-sandbox.ts";
import { watchProcess, type WatchedProcess } from "./watch-process.ts";
import { openWorkspaceFolder, locatePath, type LocatedPath, type Workspace } from "./workspace.ts";
import {
  createWorkspaceTool,
  type WorkspaceToolContext,
  type WorkspaceToolCall,
} from "./create-workspace-tool.ts";
import { createShellInvocation } from "../../domain/tools/shell-invocation.ts";
import { formatUnknownName } from "../../text/unknown-name.ts";

export interface CommandOptions {
  readonly environment: { readonly [name: string]: string };
  readonly sandbox: Sandbox | undefined;
  readonly commandMs: number;
  /** The shells of this machine, used if the session's editor reports none. */
  readonly shells: () => Promise<ShellList>;
  /** Whether commands run in the editor's terminal, if it has terminals. */
  readonly editorTerminals: boolean;
}

/** Creates `run_command`. Editor accesses are blocked while a command runs (see `EditorGate`). */
export function createRunCommandTool(context: WorkspaceToolContext, options: CommandOptions): Tool {
  return createWorkspaceTool(
    {
      name: "run_command",
      description: `Runs a command in the workspace and returns its exit code and output; the middle of a long output is omitted. Prefer argv (a program with its arguments); use command (a line for a POSIX shell) only if a shell is needed. Background processes end with the call. ${describeRights(options.sandbox)}`,
      properties: {
        command: { type: "string", description: "A command line for a shell" },
        argv: {
          type: "array",
          items: { type: "string" },
          description: "A program and its arguments",
        },
        shell: {
          type: "string",
          description: "For command, such as bash; default: the user's shell",
        },
        working_directory: {
          type: "string",
          description: "Relative to the workspace; default: the workspace",
        },
        timeout_seconds: { type: "number", exclusiveMinimum: 0 },
      },
      required: [],
      traits: {
        kind: "execute",
        sideEffect: "process_exec",
        paths: ["working_directory"],
        capabilities: ["process.exec"],
        confined: options.sandbox !== undefined,
      },
      idempotent: false,
      // The command's own time limit fires first, so that its output is still returned.
      timeoutMs: options.commandMs + TIMEOUT_MARGIN_MS,
      run: (call) => context.gate.runCommand(() => runCommand(call, options)),
    },
    context,
  );
}

const TIMEOUT_MARGIN_MS = 10_000;

function describeRights(sandbox: Sandbox | undefined): string {
  if (sandbox === undefined) {
    return "It is not confined: it runs with the user's rights on the whole machine.";
  }
  const network = sandbox.network ? "it reaches the network" : "it has no network";
  return `It is confined: it writes only in the workspace and in a private /tmp, and ${network}.`;
}

async function runCommand(call: WorkspaceToolCall, options: CommandOptions): Promise<ToolOutput> {
  const { input, workspace, context, clock } = call;
  const { argv, note } = await resolveProgram(input, context.editor?.shells, options);
  const folderArgument = readStringArgument(input, "working_directory");
  const pathInput = { argument: "working_directory", input: folderArgument ?? "." };
  const located = await locatePath(
    workspace,
    pathInput,
    folderArgument === undefined ? undefined : context,
  );
  const requestedMs = (readNumberArgument(input, "timeout_seconds") ?? Infinity) * 1000;
  const watch = {
    clock,
    signal: context.signal,
    milliseconds: Math.min(requestedMs, options.commandMs),
    outputBytes: workspace.limits.outputBytes,
    floodBytes: workspace.limits.floodBytes,
    progress: (line: string) => context.progress(line),
  };
  const terminalResult = options.editorTerminals
    ? await runInEditorTerminal({ argv, located, milliseconds: watch.milliseconds }, call, options)
    : undefined;
  const watched =
    terminalResult ?? (await watchProcess(await startProcess(argv, located, call, options), watch));
  return formatOutput(watched, {
    path: located.path,
    confined: options.sandbox !== undefined,
    note,
  });
}

async function resolveProgram(
  input: JsonObject,
  editorShells: ShellList | undefined,
  { shells }: CommandOptions,
): Promise<ShellCommand> {
  const command = readStringArgument(input, "command");
  const shellId = readStringArgument(input, "shell");
  const argv = readListArgument(input, "argv");
  if ((command === undefined) === (argv === undefined)) {
    throw createRefusal("invalid", "Pass either command or argv, not both");
  }
  if (command?.trim() === "") throw createRefusal("invalid", "The command is empty");
  if (argv !== undefined && shellId !== undefined) {
    throw createRefusal("invalid", "argv runs without a shell. Fix: pass command, or omit shell");
  }
  const shellCommand =
    argv === undefined
      ? resolveShellCommand(command ?? "", editorShells ?? (await shells()), shellId)
      : { argv };
  const [program = ""] = shellCommand.argv;
  if (program === "") throw createRefusal("invalid", "The command is empty");
  // The launching shell would parse a leading dash as an option.
  if (program.startsWith("-")) throw createRefusal("invalid", `${program} is not a program name`);
  if (shellCommand.argv.some((part) => part.includes("\0"))) {
    throw createRefusal("invalid", "The command has a NUL character");
  }
  return shellCommand;
}

interface CommandRun {
  readonly argv: readonly string[];
  readonly located: LocatedPath;
  readonly milliseconds: number;
}

/**
 * Runs the program in the editor's terminal, with the same confinement. The editor resolves the working directory by
 * path, as the sandbox does.
 */
async function runInEditorTerminal(
  { argv, located, milliseconds }: CommandRun,
  { workspace, context, clock }: WorkspaceToolCall,
  options: CommandOptions,
): Promise<WatchedProcess | undefined> {
  const folder = await openWorkspaceFolder(workspace, located.names, located);
  await folder.close();
  const confined = await confineCommand(argv, located, workspace, options);
  const { outputBytes } = workspace.limits;
  const place = { workingDirectory: located.hostPath, milliseconds, outputBytes };
  return runInTerminal({ ...confined, ...place }, context, clock);
}

/**
 * Starts the program in the open folder which was checked. The program stays there even if its path now leads
 * elsewhere.
 */
async function startProcess(
  argv: readonly string[],
  located: LocatedPath,
  { workspace, context }: WorkspaceToolCall,
  options: CommandOptions,
): Promise<SpawnedProcess> {
  const folder = await openWorkspaceFolder(workspace, located.names, located);
  try {
    const workingDirectory = folder.self;
    const { argv: made, environment } = await confineCommand(argv, located, workspace, options);
    const [program = "", ...args] = made;
    return await context.spawn(program, args, { workingDirectory, environment });
  } finally {
    await folder.close();
  }
}

/** Wraps the command in the sandbox, if there is one. */
async function confineCommand(
  argv: readonly string[],
  { hostPath: workingDirectory }: LocatedPath,
  { root, folders, places }: Workspace,
  { sandbox, environment }: CommandOptions,
): Promise<Pick<TerminalProgram, "argv" | "environment">> {
  if (sandbox === undefined) return { argv, environment };
  const { program, network } = sandbox;
  const hidden = await findHiddenPaths([root, ...folders], places.paths, environment["HOME"]);
  const confinement = { root, folders, workingDirectory, hidden, network };
  return {
    argv: [program, ...createBubblewrapArguments(confinement, argv)],
    environment: { ...environment, TMPDIR: "/tmp" },
  };
}

interface RunInfo {
  readonly path: string;
  readonly confined: boolean;
  readonly note: string | undefined;
}

function formatOutput(watched: WatchedProcess, { path, confined, note }: RunInfo): ToolOutput {
  const { end, output: stdout, errors: stderr, outputBytes, errorBytes } = watched;
  const text = [
    `${formatEnd(watched)}${confined ? ", confined" : ", not confined"}${note === undefined ? "" : `, ${note}`}`,
    ...(stdout === "" ? [] : ["stdout:", stdout.trimEnd()]),
    ...(stderr === "" ? [] : ["stderr:", stderr.trimEnd()]),
    ...(stdout === "" && stderr === "" ? ["The command produced no output."] : []),
  ].join("\n");
  const { code: exitCode, signal } = end ?? { code: null, signal: null };
  const data = { exitCode, signal, stopped: watched.stopped, confined, outputBytes, errorBytes };
  return createToolOutput({ text, data, locations: [{ path }] });
}

function formatEnd({ end, stopped, milliseconds }: WatchedProcess): string {
  const time = pluralize(Math.round(milliseconds / 100) / 10, "second");
  if (stopped === "time") return `Stopped at its time limit, after ${time}`;
  if (stopped === "flood") return `Stopped after ${time}, because it wrote too much output`;
  const how =
    end?.code === null || end === null
      ? `Ended by ${end?.signal ?? "an unknown cause"}`
      : `Exit code ${end.code}`;
  const backgroundNote = stopped === "left" ? "; its background processes were ended" : "";
  return `${how} after ${time}${backgroundNote}`;
}

interface ShellCommand {
  readonly argv: readonly string[];
  /** Why a shell other than the default runs the command. */
  readonly note?: string;
}

/**
 * Selects the shell for a command line: the shell named in the call, which the policy has evaluated, or the default.
 * The policy analyzes commands with the grammar of `sh`, so a shell with another grammar is never used by default: its
 * commands would be misread.
 */
function resolveShellCommand(
  command: string,
  shells: ShellList,
  shellId: string | undefined,
): ShellCommand {
  const shell = chooseShell(shells, shellId === undefined ? {} : { shellId });
  if (shell === undefined && shellId !== undefined) {
    const ids = shells.shells.flatMap(({ id, isAvailable }) => (isAvailable ? [id] : []));
    throw createRefusal("invalid", formatUnknownName("Shell", shellId, { names: ids }));
  }
  const isRead = shell !== undefined && POSIX_SHELLS.has(shell.id);
  if (shell !== undefined && (isRead || shellId !== undefined)) {
    const { program, args } = createShellInvocation(shell, { command });
    return { argv: [program, ...args] };
  }
  const argv = ["/bin/sh", "-c", command];
  return shell === undefined
    ? { argv }
    : { argv, note: `by /bin/sh, since policy rules cannot analyze commands for ${shell.id}` };
}

/** Must match `SHELLS` in `src/policy/command`. */
export const POSIX_SHELLS: ReadonlySet<string> = new Set(["sh", "bash", "dash"]);
