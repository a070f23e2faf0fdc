import type { Step } from "../../brains/step.ts";
import type { Faults } from "../../faults.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";

/** An event of the Harness stream. The name is a frame header, the payload is the frame body. */
export interface StreamEvent {
  readonly name: string;
  readonly payload: { readonly [name: string]: unknown };
}

/** Creates an encoder from steps to events for a single stream. Numbers the blocks and closes the open block. */
export function createStreamEventEncoder(faults: Faults = {}): (step: Step) => StreamEvent[] {
  const blocks = createBlocks(faults.reuseIndex === true);
  const omitted = new Set(faults.omit);
  return (step) => encodeStep(step, blocks).filter(({ name }) => !omitted.has(name));
}

function encodeStep(step: Step, blocks: Blocks): StreamEvent[] {
  switch (step.type) {
    case "start": {
      const closed = blocks.close();
      blocks.restart();
      return [...closed, { name: "messageStart", payload: { role: step.role } }];
    }
    case "text":
      return blocks.continue("text", { text: step.text });
    case "reasoning":
      return blocks.continue("reasoning", { reasoningContent: { text: step.text } });
    case "signature":
      return blocks.continue("reasoning", { reasoningContent: { signature: step.signature } });
    case "redacted":
      return blocks.continue("reasoning", { reasoningContent: { redactedContent: step.base64 } });
    case "call":
      return blocks.start("call", {
        toolUse: {
          toolUseId: step.id,
          name: step.name,
          ...(step.kind === null ? {} : { type: step.kind }),
          ...omitUndefined({ serverName: step.serverName }),
        },
      });
    case "input":
      return blocks.continue("call", { toolUse: { input: step.fragment } });
    case "result":
      return blocks.start("result", { toolResult: { toolUseId: step.id, status: step.status } });
    case "output":
      return blocks.continue("result", { toolResult: step.parts });
    case "output-metadata":
      return blocks.continue("result", { toolResultMetadata: { metadata: step.fragment } });
    case "close":
      return blocks.close();
    case "stop":
      return [...blocks.close(), { name: "messageStop", payload: { stopReason: step.reason } }];
    case "usage":
      return [{ name: "metadata", payload: encodeUsage(step) }];
    case "hook":
      return [{ name: "hookEvent", payload: encodeHook(step) }];
    case "event":
      return [{ name: step.name, payload: step.payload as StreamEvent["payload"] }];
    case "pause":
    case "bytes":
    case "fail":
      return [];
    default:
      return step satisfies never;
  }
}

type BlockKind = "text" | "reasoning" | "call" | "result";

/** The numbered content blocks of the current message. Each operation returns its events. */
interface Blocks {
  /** Starts a block with its own start event. */
  start(kind: BlockKind, start: object): StreamEvent[];
  /** Adds to the open block. Begins another block if the open block is of another kind. */
  continue(kind: BlockKind, delta: object): StreamEvent[];
  close(): StreamEvent[];
  /** Numbers the blocks from 0 again, for the next message. */
  restart(): void;
}

/** `reusesIndex`: the second tool call of a message gets the index of the block before it. */
function createBlocks(reusesIndex: boolean): Blocks {
  let index = -1;
  let open: BlockKind | null = null;
  let calls = 0;

  const close = (): StreamEvent[] => {
    if (open === null) return [];
    open = null;
    return [{ name: "contentBlockStop", payload: { contentBlockIndex: index } }];
  };
  const begin = (kind: BlockKind): StreamEvent[] => {
    const closed = close();
    open = kind;
    calls += kind === "call" ? 1 : 0;
    if (!(reusesIndex && kind === "call" && calls === 2)) index += 1;
    return closed;
  };

  return {
    start: (kind, start) => [
      ...begin(kind),
      { name: "contentBlockStart", payload: { contentBlockIndex: index, start } },
    ],
    continue: (kind, delta) => [
      ...(open === kind ? [] : begin(kind)),
      { name: "contentBlockDelta", payload: { contentBlockIndex: index, delta } },
    ],
    close,
    restart() {
      index = -1;
      calls = 0;
    },
  };
}

function encodeUsage(step: Extract<Step, { type: "usage" }>): StreamEvent["payload"] {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = step;
  return {
    usage: {
      inputTokens,
      outputTokens,
      totalTokens: inputTokens + outputTokens + (cacheReadTokens ?? 0) + (cacheWriteTokens ?? 0),
      ...omitUndefined({
        cacheReadInputTokens: cacheReadTokens,
        cacheWriteInputTokens: cacheWriteTokens,
      }),
    },
    metrics: { latencyMs: step.latencyMilliseconds },
  };
}

function encodeHook(step: Extract<Step, { type: "hook" }>): StreamEvent["payload"] {
  return {
    hookEventId: step.id,
    name: step.name,
    type: step.point,
    ...omitUndefined({ decision: step.decision, reason: step.reason }),
  };
}
