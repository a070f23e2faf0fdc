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
    if (!(faults.reuseIndex === true && kind === "call" && calls === 2)) index += 1;
    return closed;
  };
  const startBlock = (kind: BlockKind, start: object): StreamEvent[] => [
    ...begin(kind),
    { name: "contentBlockStart", payload: { contentBlockIndex: index, start } },
  ];
  const continueBlock = (kind: BlockKind, delta: object): StreamEvent[] => [
    ...(open === kind ? [] : begin(kind)),
    { name: "contentBlockDelta", payload: { contentBlockIndex: index, delta } },
  ];

  const events = (step: Step): StreamEvent[] => {
    switch (step.type) {
      case "start": {
        const closed = close();
        index = -1;
        calls = 0;
        return [...closed, { name: "messageStart", payload: { role: step.role } }];
      }
      case "text":
        return continueBlock("text", { text: step.text });
      case "reasoning":
        return continueBlock("reasoning", { reasoningContent: { text: step.text } });
      case "signature":
        return continueBlock("reasoning", { reasoningContent: { signature: step.signature } });
      case "redacted":
        return continueBlock("reasoning", { reasoningContent: { redactedContent: step.base64 } });
      case "call":
        return startBlock("call", {
          toolUse: {
            toolUseId: step.id,
            name: step.name,
            ...(step.kind === null ? {} : { type: step.kind }),
            ...omitUndefined({ serverName: step.serverName }),
          },
        });
      case "input":
        return continueBlock("call", { toolUse: { input: step.fragment } });
      case "result":
        return startBlock("result", { toolResult: { toolUseId: step.id, status: step.status } });
      case "output":
        return continueBlock("result", { toolResult: step.parts });
      case "output-metadata":
        return continueBlock("result", { toolResultMetadata: { metadata: step.fragment } });
      case "close":
        return close();
      case "stop":
        return [...close(), { name: "messageStop", payload: { stopReason: step.reason } }];
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
  };
  const omitted = new Set(faults.omit);
  return (step) => events(step).filter(({ name }) => !omitted.has(name));
}

type BlockKind = "text" | "reasoning" | "call" | "result";

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
