import type { BroughtServer } from "../../domain/equipment.ts";
import type { LiveRequest } from "./live-clients.ts";
import type { SessionCommand } from "../../domain/session-command.ts";

/** What a client can ask, in our words. */
export type ClientRequest =
  | { readonly type: "initialize"; readonly clientName: string; readonly hasTools: boolean }
  | { readonly type: "authenticate" }
  | { readonly type: "list"; readonly workingDirectory?: string; readonly page?: string }
  | ({ readonly type: "new" } & SessionSetup)
  | ({ readonly type: "load" | "resume" | "fork" } & Named & SessionSetup)
  | ({ readonly type: "close" | "delete" } & Named)
  | ({ readonly type: "prompt"; readonly command: PromptCommand } & Named)
  | LiveRequest;

interface Named {
  readonly sessionId: string;
}

export type PromptCommand = Extract<SessionCommand, { type: "prompt" }>;

export interface SessionSetup {
  readonly workingDirectory: string;
  /** MCP servers that the client wants connected for this session. */
  readonly servers: readonly BroughtServer[];
}
