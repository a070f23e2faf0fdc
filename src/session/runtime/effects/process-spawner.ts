import type { ProcessGroup } from "../../../domain/events/tool-events.ts";
import { SpanlineError } from "../../../domain/errors.ts";
import { startGatedProcess, type GatedProcess } from "../../../platform/process/gated-process.ts";
import type { ToolContext } from "../../../tools/tool.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";

export interface SpawnContext {
  readonly signal: AbortSignal;
  readonly workingDirectory?: string;
  /** Resolves when the process group is logged. The program starts only then. */
  onStarted(group: ProcessGroup): Promise<void>;
  /**
   * All processes of the group have exited. Not called for groups which end with their tool, unless the tool was
   * aborted.
   */
  onExited(group: ProcessGroup): Promise<void>;
}

/** Spawns the processes of one attempt; `end` terminates the remaining ones. */
export function createProcessSpawner(context: SpawnContext): {
  readonly spawn: ToolContext["spawn"];
  readonly end: () => Promise<void>;
} {
  const processes = new Set<GatedProcess>();
  let isOver = false;
  const check = (): void => {
    context.signal.throwIfAborted();
    if (isOver)
      throw new SpanlineError("aborted", "The tool has ended and cannot start further processes");
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
        // Background children may run until the tool ends.
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
