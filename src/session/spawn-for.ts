import type { ProcessGroup } from "../domain/agent-event.ts";
import { SpanlineError } from "../domain/errors.ts";
import { holdProcess, type HeldProcess } from "../platform/held-process.ts";
import type { ToolContext } from "../tools/tool.ts";

export interface SpawnWork {
  readonly signal: AbortSignal;
  readonly workingDirectory?: string;
  /** Resolves when the group is in the log: not before that does the program begin. */
  started(group: ProcessGroup): Promise<void>;
  /** Nothing of the group runs any more. Not told of what ends with its tool, unless that was stopped. */
  ended(group: ProcessGroup): Promise<void>;
}

/** Programs of one run of a tool: `end` ends those that are left. */
export function spawnFor(work: SpawnWork): {
  readonly spawn: ToolContext["spawn"];
  readonly end: () => Promise<void>;
} {
  const held = new Set<HeldProcess>();
  let isOver = false;
  const check = (): void => {
    work.signal.throwIfAborted();
    if (isOver) throw new SpanlineError("aborted", "The tool has ended; it starts nothing more");
  };
  return {
    async end() {
      isOver = true;
      const left = [...held];
      await Promise.all(left.map((one) => one.end()));
      if (work.signal.aborted) await Promise.all(left.map(({ group }) => work.ended(group)));
    },
    async spawn(command, args, options = {}) {
      check();
      const workingDirectory = options.workingDirectory ?? work.workingDirectory;
      const process = await holdProcess(command, args, {
        environment: options.environment ?? {},
        ...(workingDirectory !== undefined && { workingDirectory }),
      });
      held.add(process);
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
      const forget = async (): Promise<void> => {
        // What it started in the background may go on until the tool ends.
        if (isOver || !process.isGone()) return;
        held.delete(process);
        await work.ended(process.group);
      };
      process.ended.then(forget).catch(() => undefined);
      const { output, errors, exited, ended } = process;
      return { output, errors, exited, ended };
    },
  };
}
