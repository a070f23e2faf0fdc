import type { Actor, Right } from "../domain/actor.ts";
import type { AgentSpec, QuiescePolicy } from "../domain/agent-spec.ts";
import type { SessionMetadata } from "../domain/events/lifecycle-events.ts";
import type {
  ProcessGroup,
  ProgressAmount,
  ToolEnding,
  ToolCallPathsResolved,
} from "../domain/events/tool-events.ts";
import type { PromptPart } from "../domain/prompt.ts";
import type { ToolAttachments } from "../domain/tools/tool-output.ts";
import type { Failure } from "../domain/errors.ts";
import type { JsonObject } from "../data/json.ts";
import type { ModelMessage } from "../domain/model/model-request.ts";
import type { PlanEntry } from "../domain/plan.ts";
import type { ProviderEvent } from "../domain/provider/provider-event.ts";
import type { SessionMode } from "../domain/session-mode.ts";
import type { SessionCommand } from "../domain/session-command.ts";
import type { ToolResult } from "../domain/tools/tool-call.ts";

/** Everything that can happen to a session. Time and chance come with it, so that deciding needs neither. */
export type TimedInput = SessionInput & {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly seed: string;
};

export type SessionInput =
  | {
      readonly type: "open-requested";
      readonly agent: ConfiguredAgent;
      readonly principal: string;
      readonly title?: string;
      readonly metadata?: SessionMetadata;
      readonly workingDirectory?: string;
      readonly folders?: readonly string[];
      readonly label?: string;
      /** Where the first conversation is to be on the provider's side. */
      readonly upstreamId?: string;
      readonly history?: readonly ModelMessage[];
      /** Of the session that it is a copy of. */
      readonly mode?: SessionMode;
      /** What it is opened for. Where that is refused, the session is open all the same. */
      readonly firstCommand?: CommandInput;
    }
  | CommandInput
  | {
      readonly type: "provider-events";
      readonly invocationId: string;
      readonly outputs: readonly ProviderOutput[];
    }
  /** There is no stream, and there will be none. `isMade` when nobody can say that the call was not made. */
  | {
      readonly type: "invocation-failed";
      readonly invocationId: string;
      readonly failure: Failure;
      readonly mayHaveBeenSent: boolean;
    }
  /** `agent`: by whose definition it was looked at. */
  | (Omit<ToolCallPathsResolved, "type"> & {
      readonly type: "paths-resolved";
      readonly agent: string;
    })
  | {
      readonly type: "process-started";
      readonly toolCallId: string;
      readonly attempt: number;
      readonly group: ProcessGroup;
    }
  /** Nothing of the program runs any more. */
  | { readonly type: "process-exited"; readonly toolCallId: string; readonly group: ProcessGroup }
  | {
      readonly type: "tool-progress";
      readonly toolCallId: string;
      readonly attempt: number;
      readonly text: string;
      readonly amount?: ProgressAmount;
    }
  | {
      readonly type: "tool-finished";
      readonly toolCallId: string;
      readonly attempt: number;
      readonly ending: ToolEnding;
      readonly result: ToolResult;
      readonly durationMs: number;
      readonly blobId?: string;
      readonly blobDigest?: string;
      readonly attachments?: ToolAttachments;
      readonly plan?: readonly PlanEntry[];
    }
  | {
      readonly type: "upstream-settled";
      readonly upstreamId: string;
      readonly policy: QuiescePolicy;
    }
  | {
      readonly type: "host-requested";
      readonly requestId: string;
      readonly clientId: string;
      readonly kind: string;
      readonly payload: JsonObject;
      readonly deadline: number;
    }
  /** What the agent can do here has changed; `starting` names a tool that was about to begin, and waits for the answer. */
  | {
      readonly type: "agent-changed";
      readonly agent: ConfiguredAgent;
      readonly startingTool?: { readonly toolCallId: string; readonly attempt: number };
    }
  /** Of what a client brought, this cannot be used. */
  | { readonly type: "client-tools-failed"; readonly problems: readonly Failure[] }
  /** Some deadline may have come. */
  | { readonly type: "time-passed" }
  /**
   * Another process had the session; whatever it was doing, nobody does any more. `agent` where its definition is another
   * one than the log has: nothing is done by the old one in between. `isHere` when this same process had it, and its
   * clients are still there. `doubt` is the place of a receipt that proves nothing.
   */
  | {
      readonly type: "recovery-started";
      readonly epoch: number;
      readonly agent?: ConfiguredAgent;
      readonly isSameProcess?: boolean;
      readonly invalidReceiptSeq?: number;
    };

export interface CommandInput {
  readonly type: "command-received";
  /** With its pictures kept as blobs. */
  readonly command: SessionCommand<PromptPart>;
  readonly actor: Actor;
  readonly rights: readonly Right[];
  /** The stay of the client that it speaks for, where it is one. */
  readonly attachmentId?: string;
  /** The sender's own name for it. */
  readonly commandId?: string;
  /** How many follow the session at the moment, the sender not among them. */
  readonly readerCount?: number;
}

export interface ConfiguredAgent {
  readonly digest: string;
  readonly spec: AgentSpec;
}

/** An event of the provider, with what checking a call's arguments found. */
export interface ProviderOutput {
  readonly event: ProviderEvent;
  readonly problem?: string;
}
