import type { ClientMcpServer } from "../../../domain/client-tools.ts";
import type { ArgumentsRequest } from "./approval-arguments.ts";
import type { HitlRespondRequest } from "./hitl-messages.ts";
import type { LiveClientRequest } from "./live-client-messages.ts";
import type { SteeringRequest } from "./steering-messages.ts";
import type { WorkerRequest } from "./worker-messages.ts";
import type { ConfigureRequest } from "./session-mode-messages.ts";
import type { SessionCommand } from "../../../domain/session-command.ts";
import type { UpdateCursor } from "../encode/update-cursor.ts";
import type { ClientProfile } from "./client-profile.ts";

/** A decoded request of an ACP client. */
export type ClientRequest =
  | {
      readonly type: "initialize";
      readonly clientName: string;
      readonly profile: ClientProfile;
    }
  | { readonly type: "authenticate" }
  | {
      readonly type: "list";
      readonly workingDirectory?: string;
      readonly folders?: readonly string[];
      readonly page?: string;
    }
  | ({ readonly type: "new" } & SessionSetup)
  | ({ readonly type: "load" | "resume" | "fork" } & SessionReference & SessionSetup)
  | ({ readonly type: "close" | "delete" | "cancel" } & SessionReference)
  | ({
      readonly type: "prompt";
      readonly command: PromptCommand;
      /**
       * The client's id for the prompt. A repeated prompt with the same id gets the response of the first, even if the
       * first is still running.
       */
      readonly commandId?: string;
    } & SessionReference)
  | ConfigureRequest
  | ArgumentsRequest
  | LiveClientRequest
  | HitlRespondRequest
  | SteeringRequest
  | WorkerRequest;

interface SessionReference {
  readonly sessionId: string;
}

export type PromptCommand = Extract<SessionCommand, { type: "prompt" }>;

export interface SessionSetup {
  readonly workingDirectory: string;
  /** Additional workspace folders, as absolute paths. Empty if the client names none. */
  readonly folders: readonly string[];
  /** MCP servers to connect for this session. */
  readonly servers: readonly ClientMcpServer[];
  /** The last update that the client received on another connection. Undefined if the client sent no cursor. */
  readonly from?: UpdateCursor;
  /** The agent of a new session. Default: the first configured agent. */
  readonly agent?: string;
}
