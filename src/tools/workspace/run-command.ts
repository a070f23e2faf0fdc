import { counted } from "../../domain/counted.ts";
import type { JsonObject } from "../../domain/json.ts";
import { toolOutput, type ToolOutput } from "../../domain/tool-output.ts";
import type { KnownShells } from "../../domain/shell.ts";
import type { Spawned, Tool } from "../tool.ts";
import { listArgument, numberArgument, textArgument } from "./arguments.ts";
import { runInTerminal, type TerminalProgram } from "./editor/editor-terminal.ts";
import { lineProgram, type LineProgram } from "./line-shell.ts";
import { refusal } from "./refusal.ts";
import { bubblewrapArguments } from "./sandbox/bubblewrap-arguments.ts";
import { hiddenPlaces } from "./sandbox/hidden-places.ts";
import type { Sandbox } from "./sandbox/sandbox.ts";
import { watchProgram, type WatchedProgram } from "./watch-program.ts";
import { folderAt, locate, type Located, type Workspace } from "./workspace.ts";
import { workspaceTool, type ToolGround, type WorkspaceCall } from "./workspace-tool.ts";

export interface CommandOptions {
  readonly environment: { readonly [name: string]: string };
  readonly sandbox: Sandbox | undefined;
  readonly commandMs: number;
  /** Of this machine, for sessions whose editor says nothing of its own. */
  readonly shells: () => Promise<KnownShells>;
  /** Whether commands run in a terminal of the editor, where it has some. */
  readonly editorTerminals: boolean;
}

export function runCommandTool(ground: ToolGround, options: CommandOptions): Tool {
  return workspaceTool(
    {
      name: "run_command",
      description: `Runs a command in the workspace and gives its exit code and output, of which the middle is left out when it is long. Give argv, a program with its arguments, where that is enough, and else command, a line for a POSIX shell. What it leaves running in the background ends with the call. ${rightsOf(options.sandbox)}`,
      properties: {
        command: { type: "string", description: "A line for a shell" },
        argv: {
          type: "array",
          items: { type: "string" },
          description: "A program and its arguments",
        },
        shell: { type: "string", description: "For command: bash, say; the user's own if absent" },
        working_directory: { type: "string", description: "From the workspace; itself if absent" },
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
      // The limit of the call itself comes first, and then there is output to tell of.
      timeoutMs: options.commandMs + MARGIN_MS,
      run: (call) => ground.gate.command(() => runCommand(call, options)),
    },
    ground,
  );
}

const MARGIN_MS = 10_000;

function rightsOf(sandbox: Sandbox | undefined): string {
  if (sandbox === undefined) {
    return "It is not confined: it runs with the rights of the user, on the whole machine.";
  }
  const network = sandbox.network ? "it reaches the network" : "it has no network";
  return `It is confined: it writes only in the workspace and in a /tmp of its own, and ${network}.`;
}

async function runCommand(call: WorkspaceCall, options: CommandOptions): Promise<ToolOutput> {
  const { input, workspace, context, clock } = call;
  const { argv, note } = await programOf(input, context.editor?.shells, options);
  const given = textArgument(input, "working_directory");
  const place = { argument: "working_directory", input: given ?? "." };
  const located = await locate(workspace, place, given === undefined ? undefined : context);
  const wanted = (numberArgument(input, "timeout_seconds") ?? Infinity) * 1000;
  const watch = {
    clock,
    signal: context.signal,
    milliseconds: Math.min(wanted, options.commandMs),
    outputBytes: workspace.limits.outputBytes,
    floodBytes: workspace.limits.floodBytes,
    progress: (line: string) => context.progress(line),
  };
  const shown = options.editorTerminals
    ? await inTerminal({ argv, located, milliseconds: watch.milliseconds }, call, options)
    : undefined;
  const watched = shown ?? (await watchProgram(await started(argv, located, call, options), watch));
  return output(watched, { path: located.path, confined: options.sandbox !== undefined, note });
}

async function programOf(
  input: JsonObject,
  editorShells: KnownShells | undefined,
  { shells }: CommandOptions,
): Promise<LineProgram> {
  const command = textArgument(input, "command");
  const shellId = textArgument(input, "shell");
  const argv = listArgument(input, "argv");
  if ((command === undefined) === (argv === undefined)) {
    throw refusal("invalid", "Give command or argv, and not both");
  }
  if (command?.trim() === "") throw refusal("invalid", "The command is empty");
  if (argv !== undefined && shellId !== undefined) {
    throw refusal("invalid", "argv is run by no shell; give command, or leave shell out");
  }
  const made =
    argv === undefined
      ? lineProgram(command ?? "", editorShells ?? (await shells()), shellId)
      : { argv };
  const [program = ""] = made.argv;
  if (program === "") throw refusal("invalid", "The command is empty");
  // The shell that starts it would take it for an option of its own.
  if (program.startsWith("-")) throw refusal("invalid", `${program} is no program`);
  if (made.argv.some((part) => part.includes("\0"))) {
    throw refusal("invalid", "It has a NUL character");
  }
  return made;
}

interface Wanted {
  readonly argv: readonly string[];
  readonly located: Located;
  readonly milliseconds: number;
}

/** In the editor's terminal, as confined as here. It is looked up by its path there, as it is in a sandbox here. */
async function inTerminal(
  { argv, located, milliseconds }: Wanted,
  { workspace, context, clock }: WorkspaceCall,
  options: CommandOptions,
): Promise<WatchedProgram | undefined> {
  const folder = await folderAt(workspace, located.names, located);
  await folder.close();
  const confined = await confinedArgv(argv, located, workspace, options);
  const { outputBytes } = workspace.limits;
  const place = { workingDirectory: located.hostPath, milliseconds, outputBytes };
  return runInTerminal({ ...confined, ...place }, context, clock);
}

/** In the very folder that was judged: the program finds itself there whatever its path leads to by now. */
async function started(
  argv: readonly string[],
  located: Located,
  { workspace, context }: WorkspaceCall,
  options: CommandOptions,
): Promise<Spawned> {
  const folder = await folderAt(workspace, located.names, located);
  try {
    const workingDirectory = folder.self;
    const { argv: made, environment } = await confinedArgv(argv, located, workspace, options);
    const [program = "", ...args] = made;
    return await context.spawn(program, args, { workingDirectory, environment });
  } finally {
    await folder.close();
  }
}

/** The same in the sandbox, where there is one. */
async function confinedArgv(
  argv: readonly string[],
  { hostPath: workingDirectory }: Located,
  { root, folders, places }: Workspace,
  { sandbox, environment }: CommandOptions,
): Promise<Pick<TerminalProgram, "argv" | "environment">> {
  if (sandbox === undefined) return { argv, environment };
  const { program, network } = sandbox;
  const hidden = await hiddenPlaces([root, ...folders], places.paths, environment["HOME"]);
  const confinement = { root, folders, workingDirectory, hidden, network };
  return {
    argv: [program, ...bubblewrapArguments(confinement, argv)],
    environment: { ...environment, TMPDIR: "/tmp" },
  };
}

interface Ran {
  readonly path: string;
  readonly confined: boolean;
  readonly note: string | undefined;
}

function output(watched: WatchedProgram, { path, confined, note }: Ran): ToolOutput {
  const { end, output: stdout, errors: stderr, outputBytes, errorBytes } = watched;
  const text = [
    `${endText(watched)}${confined ? ", confined" : ", not confined"}${note === undefined ? "" : `, ${note}`}`,
    ...(stdout === "" ? [] : ["stdout:", stdout.trimEnd()]),
    ...(stderr === "" ? [] : ["stderr:", stderr.trimEnd()]),
    ...(stdout === "" && stderr === "" ? ["It wrote nothing."] : []),
  ].join("\n");
  const { code: exitCode, signal } = end ?? { code: null, signal: null };
  const data = { exitCode, signal, stopped: watched.stopped, confined, outputBytes, errorBytes };
  return toolOutput({ text, data, locations: [{ path }] });
}

function endText({ end, stopped, milliseconds }: WatchedProgram): string {
  const time = counted(Math.round(milliseconds / 100) / 10, "second");
  if (stopped === "time") return `Stopped at its time limit, after ${time}`;
  if (stopped === "flood") return `Stopped after ${time}, for writing too much`;
  const how =
    end?.code === null || end === null
      ? `Ended by ${end?.signal ?? "something unknown"}`
      : `Exit code ${end.code}`;
  const left = stopped === "left" ? "; what it left in the background was ended" : "";
  return `${how} after ${time}${left}`;
}
