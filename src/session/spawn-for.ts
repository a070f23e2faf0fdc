import type { ProcessGroup } from "../domain/agent-event.ts";
import { SpanlineError } from "../domain/errors.ts";
import { holdProcess, type HeldProcess } from "../platform/process-group.ts";
import type { ToolContext } from "../tools/tool.ts";

export interface SpawnWork {
  readonly signal: AbortSignal;
  readonly workingDirectory?: string;
  /** Resolves when the group is in the log: not before that does the program begin. */
  started(group: ProcessGroup): Promise<void>;
}

/** Programs of one run of a tool: `end` ends those that are left. */
export function spawnFor(work: SpawnWork): {
  readonly spawn: ToolContext["spawn"];
  readonly end: () => Promise<void>;
} {
  const held: HeldProcess[] = [];
  let isOver = false;
  const check = (): void => {
    work.signal.throwIfAborted();
    if (isOver) throw new SpanlineError("aborted", "The tool has ended; it starts nothing more");
  };
  return {
    async end() {
      isOver = true;
      await Promise.all(held.map((one) => one.end()));
    },
    async spawn(command, args, options = {}) {
      check();
      const workingDirectory = options.workingDirectory ?? work.workingDirectory;
      const process = await holdProcess(command, args, {
        environment: options.environment ?? {},
        ...(workingDirectory !== undefined && { workingDirectory }),
      });
      held.push(process);
      work.signal.addEventListener("abort", () => void process.end(), { once: true });
      try {
        check();
        await work.started(process.group);
        check();
      } catch (error) {
        await process.end();
        throw error;
      }
      process.release(options.input);
      return { output: process.output, errors: process.errors, ended: process.ended };
    },
  };
}
