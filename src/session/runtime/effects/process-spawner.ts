import type { ProcessGroup } from "../../../domain/events/tool-events.ts";
import { SpanlineError } from "../../../domain/errors.ts";
import { startGatedProcess, type GatedProcess } from "../../../platform/process/gated-process.ts";
import type { ToolContext } from "../../../tools/tool.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";

export interface SpawnContext {
  readonly signal: AbortSignal;
  readonly workingDirectory?: string;
  /** Resolves when the group is in the log: not before that does the program begin. */
  onStarted(group: ProcessGroup): Promise<void>;
  /** Nothing of the group runs any more. Not told of what ends with its tool, unless that was stopped. */
  onExited(group: ProcessGroup): Promise<void>;
}

/** Programs of one run of a tool: `end` ends those that are left. */
export function createProcessSpawner(context: SpawnContext): {
  readonly spawn: ToolContext["spawn"];
  readonly end: () => Promise<void>;
} {
  const processes = new Set<GatedProcess>();
  let isOver = false;
  const check = (): void => {
    context.signal.throwIfAborted();
    if (isOver) throw new SpanlineError("aborted", "The tool has ended; it starts nothing more");
  };
  return {
    async end() {
      isOver = true;
      const remaining = [...processes];
      await Promise.all(remaining.map((entry) => entry.stop()));
      if (context.signal.aborted)
        await Promise.all(remaining.map(({ group }) => context.onExited(group)));
    },
    async spawn(command, args, options = {}) {
      check();
      const workingDirectory = options.workingDirectory ?? context.workingDirectory;
      const process = await startGatedProcess(command, args, {
        environment: options.environment ?? {},
        ...omitUndefined({ workingDirectory }),
      });
      processes.add(process);
      context.signal.addEventListener("abort", () => void process.stop(), { once: true });
      try {
        check();
        await context.onStarted(process.group);
        check();
      } catch (error) {
        await process.stop();
        throw error;
      }
      process.openGate(options.input);
      const forget = async (): Promise<void> => {
        // What it started in the background may go on until the tool ends.
        if (isOver || !process.isGone()) return;
        processes.delete(process);
        await context.onExited(process.group);
      };
      process.close.then(forget).catch(() => undefined);
      const { output, errors, exit, close } = process;
      return { output, errors, exited: exit, ended: close };
    },
  };
}
