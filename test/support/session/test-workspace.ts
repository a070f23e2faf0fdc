import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import type { JsonObject } from "../../../src/data/json.ts";
import type { PathFact } from "../../../src/domain/policy/policy-decision.ts";
import { isToolOutput, type ToolOutput } from "../../../src/domain/tools/tool-output.ts";
import { createProcessSpawner } from "../../../src/session/runtime/effects/process-spawner.ts";
import type { ClientEditor, Tool, ToolContext } from "../../../src/tools/tool.ts";
import {
  workspaceTools,
  type WorkspaceToolsOptions,
} from "../../../src/tools/workspace/workspace-tools.ts";

/** A workspace with a folder outside of it, and its tools as run by a session. */
export interface TestWorkspace {
  /** The folder that contains everything. */
  readonly base: string;
  readonly root: string;
  /** The data directory, inside the workspace like by default. */
  readonly data: string;
  readonly outside: string;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly run: (name: string, input: JsonObject, options?: RunOptions) => Promise<ToolOutput>;
  readonly write: (path: string, content: string | Uint8Array) => string;
}

export interface RunOptions {
  readonly paths?: readonly PathFact[];
  readonly signal?: AbortSignal;
  readonly progress?: (text: string) => void;
  /** Called with the ids of started process groups. */
  readonly spawned?: (group: number) => void;
  readonly folders?: readonly string[];
  readonly editor?: ClientEditor;
  readonly host?: ToolContext["host"];
}

export function createTestWorkspace(options: Partial<WorkspaceToolsOptions> = {}): TestWorkspace {
  const base = createTemporaryFolder();
  const [root, outside] = [join(base, "workspace"), join(base, "outside")];
  const data = join(root, ".spanline");
  for (const folder of [root, outside, data]) mkdirSync(folder);
  writeFileSync(join(data, "log.db"), "secret log");
  writeFileSync(join(outside, "secret.txt"), "secret outside");
  const tools = new Map(
    workspaceTools({ root, protectedFolders: [data], ...options }).map((tool) => [
      tool.spec.name,
      tool,
    ]),
  );
  return {
    base,
    root,
    data,
    outside,
    tools,
    run: (name, input, run) => runTool(tools.get(name), input, run),
    write(path, content) {
      const file = join(root, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, content);
      return file;
    },
  };
}

export function createTemporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "spanline-workspace-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Runs a tool like the driver does: checks the arguments first, and ends its processes afterwards. */
export async function runTool(
  tool: Tool | undefined,
  input: JsonObject,
  { paths, signal, progress, spawned, folders, editor, host }: RunOptions = {},
): Promise<ToolOutput> {
  if (tool === undefined) throw new Error("The tool does not exist");
  const problem = tool.check(input);
  if (problem !== undefined) throw new Error(`The arguments are wrong: ${problem}`);
  const ends = signal ?? new AbortController().signal;
  const programs = createProcessSpawner({
    signal: ends,
    onStarted: async ({ id }) => spawned?.(id),
    onExited: async () => undefined,
  });
  const context: ToolContext = {
    sessionId: "ses_1",
    toolCallId: "tool_1",
    idempotencyKey: "tool_1",
    attempt: 1,
    ...(paths !== undefined && { paths }),
    signal: ends,
    progress: progress ?? (() => undefined),
    spawn: programs.spawn,
    host: host ?? (async () => ({})),
    ...(folders !== undefined && { folders }),
    ...(editor !== undefined && { editor }),
  };
  try {
    const output: unknown = await tool.run(input, context);
    if (!isToolOutput(output)) throw new Error("The tool did not return a tool output");
    return output;
  } finally {
    await programs.end();
  }
}
