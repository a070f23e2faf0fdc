import type { ClientMcpServer } from "../../../domain/client-tools.ts";
import type { ArgumentsRequest } from "./approval-arguments.ts";
import type { LiveClientRequest } from "./live-client-messages.ts";
import type { ConfigureRequest } from "./session-mode-messages.ts";
import type { SessionCommand } from "../../../domain/session-command.ts";
import type { UpdateCursor } from "../encode/update-cursor.ts";
import type { ClientProfile } from "./client-profile.ts";

/** What a client can ask, in our words. */
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
      /** The client's own name for it: sent again, it has the answer that it had, or will have. */
      readonly commandId?: string;
    } & SessionReference)
  | ConfigureRequest
  | ArgumentsRequest
  | LiveClientRequest;

interface SessionReference {
  readonly sessionId: string;
}

export type PromptCommand = Extract<SessionCommand, { type: "prompt" }>;

export interface SessionSetup {
  readonly workingDirectory: string;
  /** Folders that belong to the workspace beside it; none where nothing is said. */
  readonly folders: readonly string[];
  /** MCP servers that the client wants connected for this session. */
  readonly servers: readonly ClientMcpServer[];
  /** What the client was told on another connection. */
  readonly from?: UpdateCursor;
  /** The agent of a new session. */
  readonly agent?: string;
}
